"""Five hundred changed objects: what `policygen lint` calls refused is what the servers refuse.

Asked by a create and by server-side apply, dry, strict, with every webhook on. The draw is the same
each time; `python -m tests.servers.agreement --count 5000 --seed 7` asks others.
"""

from tests.servers.agreement import COUNT, EXCEPTIONS, SERVED, Judges, draw, seeds, summary

ENOUGH = 0.96
"""Of all cases, without the exceptions."""
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


def test_every_exception_has_a_reason():
    assert all(each.why.endswith(".") for each in EXCEPTIONS.values())
