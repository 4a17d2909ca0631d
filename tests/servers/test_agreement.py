"""What `policygen lint` calls refused is what the servers refuse: changed objects and files.

Asked by a create and by server-side apply, dry, strict, with every webhook on; of a file, by a start of
kube-scheduler. The draws are the same each time. `python -m tests.servers.agreement --count 5000 --seed
7`, the same with `--families`, and `python -m tests.servers.configurations` ask others.
"""

from tests.servers import configurations
from tests.servers.agreement import COUNT, EXCEPTIONS, SERVED, Judges, draw, hard, seeds, summary
from tests.servers.families import FAMILIES

ENOUGH = 0.96
"""Of all cases, without the exceptions."""
OF_A_FAMILY, FILES = 8, 68
"""Draws of each family of objects, and of all families of files."""
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


def test_lint_refuses_the_files_that_a_kube_scheduler_refuses(bench, tmp_path):
    found = configurations.drawn(FILES, 0)
    verdicts = list(configurations.compared(bench, found, tmp_path))
    unknown = [str(each) for each in verdicts if not each.agree and not each.exception]
    assert unknown == [], "\n".join(unknown)
    refused = 100 * sum(bool(each.server) for each in verdicts) / len(verdicts)
    assert NEITHER <= refused <= 100 - NEITHER


def test_every_exception_has_a_reason():
    assert all(each.why.endswith(".") for each in EXCEPTIONS.values())
    assert all(why.endswith(".") for why in configurations.EXCEPTIONS)
