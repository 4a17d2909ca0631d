"""The facts that a rule may read, and the releases that it applies to."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from policygen.core.rule import Family, Severity
from policygen.core.versions import DEFAULT, Version
from policygen.lint.rule import ObjectRule, shared
from policygen.spec.programs import LintSettings
from policygen.spec.types import Platform, Spec
from tests.objects import facts
from tests.rules import rule

NOTHING = "{apiVersion: v1, kind: Namespace, metadata: {name: a}}"


def made(**more):
    return ObjectRule(
        "r", Severity.ERROR, Family.INERT, "about", judges=(), check=lambda _: iter(()), **more
    )


@pytest.mark.parametrize(("minor", "holds"), [(13, False), (14, True), (16, True), (17, False)])
def test_the_releases_of_a_rule(minor, holds):
    it = made(since={"kueue": (0, 14)}, until={"kueue": (0, 17)})
    assert it.holds({**DEFAULT, "kueue": Version(0, minor, 9)}) is holds


def test_manifests_have_no_time():
    with pytest.raises(ValueError, match="manifests have no current time"):
        _ = facts(NOTHING).now


def test_a_function_of_the_facts_is_called_once():
    calls = []

    def made(found):
        calls.append(found)
        return "made"

    it = facts(NOTHING)
    assert (it.derive(made), it.derive(made)) == ("made", "made")
    assert calls == [it]


def test_a_bound_is_that_of_the_spec_by_any_name_of_the_rule():
    it = made(bound=timedelta(hours=1), aliases=("former",))
    assert facts(NOTHING).bound(it) == timedelta(hours=1)
    for name in ("r", "former"):
        lint = LintSettings(bounds=((name, "90s"), ("other", "5m")))
        spec = Spec(Platform("set", None, lint=lint), (), ())
        assert replace(facts(NOTHING), spec=spec).bound(it) == timedelta(seconds=90)


def test_a_shared_fault_has_one_rule_but_for_its_family():
    one = rule("a", Severity.WARNING, Family.REPORTED)
    assert shared(one, Family.INVALID)[:4] == ("a", Severity.WARNING, Family.INVALID, one.about)


INVALID = "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: a}, spec: {clusterQueue: 5}}"


def names(it):
    return [entry.name for entry in it.cluster.local_queues]


def test_a_cluster_without_an_object_has_derived_results_of_its_own():
    it = facts(INVALID)
    (object_,) = it.cluster.objects
    assert it.derive(names) == ["a"]
    assert replace(it, cluster=it.cluster.without(frozenset({object_.at}))).derive(names) == []
    assert it.derive(names) == ["a"]
