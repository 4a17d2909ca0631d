"""Rules in two processes have the outcomes that they have in one."""

from unittest.mock import patch

from policygen.core.finding import Verdict
from policygen.lint import engine, parallel
from policygen.lint.core import server_refusals
from policygen.lint.core.server_refusals import refused
from policygen.lint.registry import RULES
from tests.objects import facts
from tests.own_process import in_own_process

TEXT = """
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {"a b": c}}
spec: {containers: [{name: c, imagee: x}, {name: c, image: x}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: q, namespace: n}
spec: {clusterQueue: missing}
"""


MISSPELT = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: q}
spec: {cohortNam: c, namespaceSelector: {}}
"""


@in_own_process
def test_misspelt_fields_are_found_while_the_other_process_runs_rules():
    given = facts(MISSPELT)
    alone = [(it.rule.name, it.verdict, it.hits) for it in engine.run(RULES, given)]
    assert given.cluster.derive(refused).misspelt
    with patch.object(engine, "MANY", 0):
        assert [(it.rule.name, it.verdict, it.hits) for it in engine.run(RULES, given)] == alone


@in_own_process
def test_outcomes_are_the_same_and_of_the_same_rules():
    given = facts(TEXT)
    alone = engine.run(RULES, given)
    with patch.object(engine, "MANY", 0):
        both = engine.run(RULES, given)
    assert [outcome.rule for outcome in both] == [outcome.rule for outcome in alone]
    for one, other in zip(both, alone, strict=True):
        assert (one.verdict, one.reason, one.hits) == (other.verdict, other.reason, other.hits)
    assert sum(outcome.verdict is Verdict.FAIL for outcome in both) > 2


def test_only_this_process_runs_rules_that_need_the_refusals():
    """The other would compute them again."""

    def needs_refusals(rule):
        with patch.object(server_refusals, "_checked", side_effect=KeyboardInterrupt):
            try:
                list(rule.check(facts(TEXT)))
            except KeyboardInterrupt:
                return True
        return False

    shared, own = parallel.divided(RULES)
    assert [it for it in shared if needs_refusals(it)] == []
    assert len(shared) + len(own) == len(RULES)
    assert any(map(needs_refusals, own))
