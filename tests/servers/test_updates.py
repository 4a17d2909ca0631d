"""Hundreds of drawn changes of stored objects: `refused_changes` names what real servers refuse.

The draw is the same each time; `python -m tests.servers.updates --count 3000 --seed 7` asks others.
"""

import json

from policygen.api_validation.updates.refused import refused_changes
from policygen.api_validation.updates.states import applied
from policygen.drift.kept import kept
from tests.client.looks import snapshot
from tests.servers.updates import COUNT, KINDS, Judges, summary

ENOUGH = 0.98
"""Of all cases agree; the others are removals in an apply."""
NEITHER = 10
"""Percent of cases that at least are refused, and that at least are accepted."""


def test_what_servers_refuse_to_change(cluster):
    judges = Judges(cluster)
    assert {stored["kind"] for _, stored in judges.seeds} == set(KINDS)
    for sent, stored in judges.seeds:
        assert [*refused_changes(stored, applied(stored, sent))] == [], sent
        (held,) = snapshot(json.dumps(stored)).objects
        assert [*refused_changes(held.data, applied(held.data, kept(sent, held)))] == [], sent
    verdicts = judges.ask(COUNT, 0)
    print(summary(verdicts))
    unknown = [str(each) for each in verdicts if not each.agree and not each.is_known]
    assert unknown == [], "\n".join([summary(verdicts), *unknown])
    assert sum(each.agree for each in verdicts) >= ENOUGH * COUNT, summary(verdicts)
    refused = 100 * sum(bool(each.server) for each in verdicts) / COUNT
    assert NEITHER <= refused <= 100 - NEITHER
