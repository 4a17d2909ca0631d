"""The verdicts of a rule: pass, fail, vacuous, not evaluated or crashed."""

import pytest
from msgspec.structs import replace

from policygen.core.finding import Hit, Verdict
from policygen.core.rule import Family, Severity
from policygen.kubernetes.cluster import Cluster
from policygen.lint.engine import run
from policygen.lint.rule import Need, ObjectRule
from tests.client.looks import snapshot
from tests.objects import facts

QUEUE = (
    "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: %s}, spec: {%s}}\n"
)


def made(check=lambda _: iter(()), judges=("ClusterQueue",), **more):
    return ObjectRule(
        "r", Severity.ERROR, Family.INERT, "about", judges=judges, check=check, **more
    )


def failing(facts):
    for queue in facts.cluster.cluster_queues:
        yield Hit(made(), queue.name, queue.at)


def stopped(facts):
    for queue in facts.cluster.cluster_queues:
        if queue.fields.stop_policy == "None":
            yield Hit(made(), queue.name, queue.at)


def crashing(_):
    raise ZeroDivisionError


def ended(rule, it=None, **more):
    (outcome,) = run([rule], replace(it or facts(QUEUE % ("a", "")), **more))
    return outcome


@pytest.mark.parametrize(
    ("rule", "verdict", "reason"),
    [
        (made(), Verdict.PASS, ""),
        (made(failing), Verdict.FAIL, ""),
        (made(failing, judges=("Cohort",)), Verdict.VACUOUS, "the input contains no Cohort"),
        (made(failing, since={"kueue": (9, 0)}), Verdict.VACUOUS, "the rule does not apply to the target versions"),
        (made(failing, until={"kueue": (0, 1)}), Verdict.VACUOUS, "the rule does not apply to the target versions"),
    ],
)  # fmt: skip
def test_how_a_rule_ends(rule, verdict, reason):
    outcome = ended(rule)
    assert (outcome.verdict, outcome.reason) == (verdict, reason)


def test_what_is_not_given():
    rule = made(failing, needs=frozenset({Need.NODES, Need.SPEC}))
    outcome = ended(rule, given=frozenset({Need.WHOLE}))
    assert (outcome.verdict, outcome.reason) == (
        Verdict.NOT_EVALUATED,
        "the input lacks: Nodes; a spec",
    )
    assert ended(rule, given=frozenset({Need.SPEC})).reason == "the input lacks: Nodes"


def test_a_bug_stays_with_its_rule():
    first, second = run([made(crashing), made(failing)], facts(QUEUE % ("a", "")))
    assert (first.verdict, second.verdict) == (Verdict.CRASHED, Verdict.FAIL)
    assert "ZeroDivisionError" in first.reason


TWO = QUEUE % ("a", "stopPolicy: 7") + "---\n" + QUEUE % ("b", "")


def test_a_hit_that_depends_on_an_invalid_field_is_dropped():
    assert [hit.message for hit in ended(made(stopped), facts(TWO)).hits] == ["b"]
    assert [hit.message for hit in ended(made(failing), facts(TWO)).hits] == ["a", "b"]


def test_a_rule_that_argues_from_an_invalid_field_about_others_is_not_evaluated():
    outcome = ended(made(stopped, reads=("ClusterQueue",)), facts(TWO))
    assert outcome.verdict is Verdict.NOT_EVALUATED
    assert outcome.reason == "spec.stopPolicy of ClusterQueue a could not be read"


def test_a_hit_counts_if_it_does_not_depend_on_a_misspelt_field():
    """A field may have been meant as the similar one, or as none."""
    odd = QUEUE % ("a", "stopPolcy: Hold")
    rule = made(stopped)
    assert [
        it.message
        for it in ended(rule, facts(f"{odd}---\n{QUEUE % ('b', 'stopPolicy: None')}")).hits
    ] == ["b"]
    assert ended(made(failing), facts(odd)).verdict is Verdict.FAIL
    (outcome, other) = run([rule, made(failing)], facts(odd))
    reason = "the result depends on the unknown field spec.stopPolcy of ClusterQueue a"
    assert (outcome.verdict, outcome.reason) == (Verdict.NOT_EVALUATED, reason)
    assert (other.verdict, other.reason) == (Verdict.FAIL, "")


def seen(**fields):
    it = snapshot(QUEUE % ("a", ""), **fields)
    return facts(QUEUE % ("a", "")), Cluster(it.objects, it.seen, it.pods)


def test_on_a_cluster_nothing_is_invalid_and_what_was_not_read_is_not_known():
    it, cluster = seen()
    assert ended(made(failing), it, cluster=cluster).verdict is Verdict.FAIL
    invalid = ObjectRule(
        "r", Severity.ERROR, Family.INVALID, "about", judges=("ClusterQueue",), check=failing
    )
    assert (
        ended(invalid, it, cluster=cluster).reason
        == "the rule is not needed: the API server has already checked these objects"
    )
    it, cluster = seen(read=frozenset())
    outcome = ended(made(needs=frozenset({Need.WHOLE})), it, cluster=cluster)
    assert outcome.reason == "ClusterQueue.kueue.x-k8s.io was not read"


def test_a_rule_that_skips_all_its_objects_is_not_evaluated():
    bad, good = QUEUE % ("a", "stopPolicy: [1]"), QUEUE % ("b", "stopPolicy: None")
    held = QUEUE % ("b", "stopPolicy: Hold")
    outcome = ended(made(stopped), facts(bad))
    assert outcome.verdict is Verdict.NOT_EVALUATED
    assert outcome.reason == "spec.stopPolicy of ClusterQueue a could not be read"
    assert ended(made(failing), facts(bad)).verdict is Verdict.FAIL
    assert ended(made(stopped), facts(f"{bad}---\n{held}")).verdict is Verdict.PASS
    assert ended(made(stopped), facts(f"{bad}---\n{good}")).verdict is Verdict.FAIL
