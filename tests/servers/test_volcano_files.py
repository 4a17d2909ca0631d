"""If lint refuses a volcano-scheduler.conf, a real scheduler runs with another configuration."""

from __future__ import annotations

from tests.examples_of_rules import examples
from tests.servers.trials import volcano_schedulers

RULE = "volcano-configuration-not-loaded"


def files(*, good):
    """The examples that are files themselves, and no ConfigMap that holds one."""
    return [it.text for it in examples(RULE, good=good) if "kind:" not in it.text]


def test_volcano_drops_what_is_refused(bench):
    bad = files(good=False)
    assert len(bad) >= 3
    assert sorted(set(bad) - volcano_schedulers(bench, bad).keys()) == []


def test_a_switch_without_quotes_is_taken(bench):
    [quoted] = [text for text in files(good=False) if '"false"' in text]
    assert volcano_schedulers(bench, [quoted.replace('"false"', "false")]) == {}
