"""Pods that must run beside others on nodes that they cannot use."""

import pytest

from policygen.lint.core.partner_nodes import separated
from tests.objects import facts

NODE = """
apiVersion: v1
kind: Node
metadata: {name: %s, labels: {pool: %s, kubernetes.io/hostname: %s, zone: %s}}
status: {allocatable: {cpu: 8, memory: 8Gi, pods: 9}}
---
"""
NODES = NODE % ("a-0", "a", "a-0", "one") + NODE % ("b-0", "b", "b-0", "one")
FAR = NODE % ("c-0", "c", "c-0", "two")
WORK = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: %s, namespace: n}
spec:
  template:
    metadata: {labels: {app: %s}}
    spec: {nodeSelector: {%s}, affinity: {%s}, containers: [{name: c, image: i}]}
---
"""
TERM = "podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [%s]}"


def term(app="cache", key="kubernetes.io/hostname"):
    return TERM % f"{{topologyKey: {key}, labelSelector: {{matchLabels: {{app: {app}}}}}}}"


def found(*parts):
    text = "".join((NODES, FAR, *parts)).removesuffix("---\n")
    return [(it.pods.workload.name, it.own, it.others) for it in separated(facts(text))]


def server(pool, **options):
    return WORK % ("server", "server", f"pool: {pool}" if pool else "", term(**options))


def cache(pool, name="cache"):
    return WORK % (name, "cache", f"pool: {pool}" if pool else "", "")


@pytest.mark.parametrize(
    ("own", "other", "key", "expected"),
    [
        ("a", "b", "kubernetes.io/hostname", True),
        ("a", "a", "kubernetes.io/hostname", False),
        ("a", "", "kubernetes.io/hostname", False),
        ("a", "b", "zone", False),
        ("a", "c", "zone", True),
        # no node takes the partner, which another rule reports
        ("a", "d", "zone", False),
    ],
)
def test_one_domain_must_have_nodes_for_both(own, other, key, expected):
    seen = found(server(own, key=key), cache(other))
    assert seen == ([("server", (f"{own}-0",), (f"{other}-0",))] if expected else [])


def test_one_of_several_partners_is_enough():
    assert found(server("a"), cache("b"), cache("a", "more")) == []
    assert len(found(server("a"), cache("b"), cache("c", "more"))) == 1


def test_pods_that_match_their_own_term_may_be_the_first():
    assert found(server("a", app="server"), cache("b")) == []
