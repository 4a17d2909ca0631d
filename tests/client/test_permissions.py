"""The minimal permissions that a run needs."""

from policygen.app.sources import cluster_query
from policygen.client.live import ClusterQuery
from policygen.client.permissions import Permission, permissions
from policygen.core.versions import DEFAULT
from policygen.kubernetes.snapshot import CONFIG_MAP, NODE, POD, GroupKind


def asked(*kinds, **more):
    return permissions(ClusterQuery(frozenset(kinds), config_maps=frozenset({"b", "a"}), **more))


def test_config_maps_are_allowed_by_name_only():
    assert asked(CONFIG_MAP, POD) == (
        Permission("", "configmaps", ("a", "b")),
        Permission("", "pods"),
    )


def test_namespaced_kinds_are_allowed_in_their_namespaces_only():
    assert asked(POD, NODE, namespaces=("n", "m")) == (
        Permission("", "nodes"),
        Permission("", "pods", (), "m"),
        Permission("", "pods", (), "n"),
    )


def test_a_kind_without_a_schema_has_a_regular_plural():
    assert asked(GroupKind("kubeflow.org", "MPIJob")) == (Permission("kubeflow.org", "mpijobs"),)


def test_a_rendered_kind_without_a_schema_has_the_plural_of_its_kind():
    policy = GroupKind("networking.k8s.io", "NetworkPolicy")
    plurals = {policy: "networkpolicies"}
    assert asked(policy, plurals=plurals) == (Permission(policy.group, "networkpolicies"),)
    wanted = cluster_query((), None, DEFAULT)
    assert wanted.plurals == {
        GroupKind("autoscaling.k8s.io", "VerticalPodAutoscaler"): "verticalpodautoscalers",
        GroupKind("keda.sh", "ScaledObject"): "scaledobjects",
        GroupKind("kueue.x-k8s.io", "Topology"): "topologies",
        GroupKind("monitoring.coreos.com", "PrometheusRule"): "prometheusrules",
    }


def test_a_permission_in_words():
    assert str(Permission("", "configmaps", ("a", "b"), "n")) == (
        "list configmaps named a, b in namespace n"
    )
    assert str(Permission("batch", "jobs")) == "list jobs.batch"
