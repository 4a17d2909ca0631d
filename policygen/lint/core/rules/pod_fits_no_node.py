"""A pod requests more GPUs than any node has."""

from collections.abc import Mapping
from fractions import Fraction

from policygen.core.amounts import amount_of, readable
from policygen.core.names import LOCAL_QUEUE
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core import accelerators
from policygen.lint.kueue.queue_names import labels
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Queues and quotas count all nodes together, but a pod needs one node.

    For workloads that Kueue admits, see queued-pod-fits-no-node.
    Source: pkg/scheduler/plugins/predicates; kube-scheduler's noderesources/fit.go;
    volcano-sh/volcano#2814, #5006.
    """
    if not facts.cluster.nodes.any:
        return  # requesting less would not help
    largest = facts.cluster.derive(_largest)
    for workload in facts.cluster.workloads:
        if LOCAL_QUEUE in labels(workload)[1]:
            continue
        for template in workload.templates:
            for name, amount in accelerators.requested(facts.cluster, template).items():
                most = largest.get(name, Fraction(0))
                if amount > most:
                    yield Hit(
                        RULE,
                        f"{workload} has pods that request {amount_of(name, amount, most)}, but the largest node has "
                        f"{readable(name, most, amount)}, so the pods stay Pending; use more pods with fewer GPUs each",
                        template.at / "spec",
                    )


def _largest(cluster: Cluster) -> Mapping[str, Fraction]:
    most: dict[str, Fraction] = {}
    for node in cluster.nodes:
        for name, amount in node.fields.status.allocatable.items():
            most[name] = max(most.get(name, amount), amount)
    return most


RULE = ObjectRule(
    "pod-fits-no-node",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Split the pod into smaller pods that each fit on a node.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.NODES}),
)
