"""What `policygen lint` calls refused is what the servers refuse: changed objects and files.

Asked by a create and by server-side apply, dry, strict, with every webhook on; of a file, by a start of
kube-scheduler. The draws are the same each time. `python -m tests.servers.agreement --count 5000 --seed
7`, the same with `--families`, and `python -m tests.servers.configurations` ask others.
"""

import pytest

from tests.servers import configurations, scheduler_files
from tests.servers.agreement import (
    EXCEPTIONS,
    FAMILIES,
    SERVED,
    Judges,
    draw,
    hard,
    seeds,
    summary,
)
from tests.servers.build import located
from tests.servers.configurations import FILES
from tests.servers.loaders import refusals

ENOUGH = 0.96
"""Of all cases, without the exceptions."""
COUNT, OF_A_FAMILY, STARTED, READ = 300, 8, 68, 220
"""Draws: changes, each family of objects, and files with which a server starts, or that its code reads."""
NEITHER = 25
"""Percent of cases that at least are refused, and that at least are accepted."""


def test_lint_refuses_what_the_servers_refuse(cluster, tmp_path):
    judges = Judges(cluster, tmp_path)
    good = judges.good()
    assert {each.kind for each in good} == {f"{group} {kind}" for group, kind in SERVED}
    assert len(good) > 0.9 * len(seeds())
    verdicts = judges.ask(draw(good, COUNT, 0))
    assert len(verdicts) == COUNT
    print(summary(verdicts))
    unknown = [str(each) for each in verdicts if not each.agree and not each.exception]
    print(*unknown, sep="\n")
    assert unknown == [], "\n".join([summary(verdicts), *unknown])
    assert sum(each.agree for each in verdicts) >= ENOUGH * COUNT, summary(verdicts)
    refused = 100 * sum(bool(each.server) for each in verdicts) / COUNT
    assert NEITHER <= refused <= 100 - NEITHER


def test_lint_refuses_the_hard_values_that_the_servers_refuse(cluster, tmp_path):
    judges = Judges(cluster, tmp_path)
    cases = [case for family in FAMILIES for case in hard(family, OF_A_FAMILY, 0)]
    verdicts = judges.ask(cases)
    print(summary(verdicts))
    unknown = [str(each) for each in verdicts if not each.agree and not each.exception]
    assert unknown == [], "\n".join([summary(verdicts), *unknown])
    refused = 100 * sum(bool(each.server) for each in verdicts) / len(verdicts)
    assert NEITHER <= refused <= 100 - NEITHER


def assert_agreement(verdicts):
    unknown = [str(each) for each in verdicts if not each.agree and not each.exception]
    assert unknown == [], "\n".join(unknown)
    refused = 100 * sum(bool(each.server) for each in verdicts) / len(verdicts)
    assert NEITHER <= refused <= 100 - NEITHER


def test_lint_refuses_the_files_that_a_kube_scheduler_refuses(bench, tmp_path):
    files = FILES["kube-scheduler"]
    found = configurations.drawn(files, STARTED, 0)
    answers = scheduler_files.started(bench, [it.text for it in found], tmp_path)
    assert_agreement(list(configurations.compared(files, found, answers)))


@pytest.mark.parametrize("name", FILES)
def test_lint_refuses_the_files_that_the_code_of_a_server_refuses(name):
    files = FILES[name]
    if located(files.loader).missing:
        pytest.skip("the loader is not built: python -m tests.servers build")
    found = configurations.drawn(files, READ, 0)
    answers = refusals(files.loader, [it.text for it in found])
    assert_agreement(list(configurations.compared(files, found, answers)))


def test_every_exception_has_a_reason():
    assert all(each.why.endswith(".") for each in EXCEPTIONS.values())
    assert all(why.endswith(".") for files in FILES.values() for why in files.exceptions)
