"""The kinds that a rule needs, which decide what is read of a cluster."""

from policygen.core.rule import Family, Severity
from policygen.kubernetes.snapshot import CONFIG_MAP, NODE, GroupKind
from policygen.lint import kinds
from policygen.lint.rule import Need, ObjectRule

QUEUE = GroupKind("kueue.x-k8s.io", "ClusterQueue")
LOCAL = GroupKind("kueue.x-k8s.io", "LocalQueue")


def made(judges=(), **more):
    return ObjectRule(
        "r", Severity.ERROR, Family.INERT, "about", judges=judges, check=lambda _: iter(()), **more
    )


def test_what_it_is_about_and_what_it_looks_up():
    it = made(("ClusterQueue",), reads=("LocalQueue",), needs=frozenset({Need.NODES}))
    assert kinds.judged(it) == {QUEUE}
    assert kinds.consulted(it) == kinds.looked_up(it) == {LOCAL, NODE}
    assert kinds.to_read([it]) == {QUEUE, LOCAL, NODE}


def test_a_rule_that_needs_the_whole_looks_its_kinds_up():
    it = made(("ClusterQueue",), needs=frozenset({Need.WHOLE}))
    assert kinds.looked_up(it) == {QUEUE}


def test_a_rule_about_any_object_is_about_every_kind():
    assert kinds.judged(made()) == kinds.every()
    assert kinds.judged(made(needs=frozenset({Need.SEEN}))) == frozenset()


def test_files_are_in_config_maps():
    it = made(("Configuration",))
    assert kinds.is_of_files(it)
    assert kinds.judged(it) == {CONFIG_MAP}
    assert not kinds.is_of_files(made(("ClusterQueue",)))


def test_what_a_rule_of_the_cluster_looks_up_in_every_namespace():
    assert kinds.elsewhere(made(("ClusterQueue",), reads=("LocalQueue",))) == {LOCAL}
    assert kinds.elsewhere(made(("LocalQueue",), reads=("ClusterQueue",))) == frozenset()
