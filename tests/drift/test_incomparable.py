"""Parts of two snapshots that cannot be compared."""

from datetime import UTC, datetime

from policygen.drift.changes import POLICY
from policygen.drift.drift import GROUP_KINDS
from policygen.drift.incomparable import Incomparable, config_maps, rules, unread
from policygen.kubernetes.snapshot import CONFIG_MAP, Gap, GroupKind, Seen, Snapshot
from tests.objects import objects

ALL = POLICY | GROUP_KINDS
COHORT = GroupKind("kueue.x-k8s.io", "Cohort")


def look(text="", **seen):
    fields = {
        "context": "x",
        "taken": datetime(2026, 11, 21, tzinfo=UTC),
        "server": "",
        "read": ALL,
    }
    return Snapshot(Seen(**fields | seen), tuple(objects(text)) if text else ())


def test_a_kind_that_one_lacks():
    gap = Gap(*COHORT, "", "forbidden")
    lacking = look(read=ALL - {COHORT}, gaps=(gap,))
    name = "Cohort.kueue.x-k8s.io"
    assert list(unread([lacking, look()], [(), ()])) == [
        Incomparable(name, "not read for the first snapshot", "forbidden")
    ]
    assert list(unread([look(), lacking], [(), ()])) == [
        Incomparable(name, "not read for the second snapshot", "forbidden")
    ]
    assert list(unread([lacking, lacking], [(), ()])) == [
        Incomparable(name, "not read for both snapshots", "forbidden")
    ]
    assert list(unread([look(), look()], [(), ()])) == []


def test_a_config_map_that_one_did_not_request():
    text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: mine, namespace: n}}"
    asking, other = look(text, config_maps=frozenset({"mine"})), look(config_maps=frozenset())
    assert CONFIG_MAP in asking.seen.read
    (found,) = config_maps([asking, other])
    assert (found.name, found.reason[:28]) == ("ConfigMap n/mine", "not requested for the second")
    assert list(config_maps([asking, look(config_maps=frozenset({"mine"}))])) == []


def test_a_rule_that_ran_for_one_only():
    both, one = {"a": "no Nodes"}, {"a": "no Nodes", "b": "no pods"}
    assert list(rules([both, one])) == [
        Incomparable("b", "not evaluated for the second snapshot", "no pods")
    ]
    assert str(Incomparable("b", "r", "d")) == "b: r: d"
    assert str(Incomparable("b", "r")) == "b: r"
