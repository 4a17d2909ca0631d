"""Two schedulers place GPU pods on the same nodes."""

from policygen.core.names import DEFAULT_SCHEDULER
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import KINDS, PodTemplate, Workload
from policygen.lint.core import accelerators
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano.queues import SCHEDULER

Place = tuple[str, frozenset[tuple[str, str]]]
"""A resource, and the node selector of the pods that request it."""


def check(facts: Facts) -> Hits:
    """Each scheduler sees the other's pods only once they are bound, so both can use the same GPU.

    Pods compete for nodes if they request the same resource with the same selector.
    Skips schedulers that the input does not distinguish.
    Source: the kubelet's admission, UnexpectedAdmissionError; kube-scheduler's cache.
    """
    process = facts.cluster.derive(_processes)
    first: dict[Place, tuple[str, Workload, PodTemplate]] = {}
    reported: set[Place] = set()
    for workload in facts.cluster.workloads:
        for template in workload.templates:
            name, place_of_name = workload.scheduler_of(template)
            own = process.get(name or DEFAULT_SCHEDULER)
            if own is None:
                continue
            selector = frozenset(template.spec.node_selector.items())
            for resource in accelerators.requested(facts.cluster, template):
                place = (resource, selector)
                other, owner, at = first.setdefault(place, (own, workload, template))
                if other == own or place in reported:
                    continue
                reported.add(place)
                yield Hit(
                    RULE,
                    f"{workload} and {owner} request {resource} on the same nodes, but use different "
                    "schedulers, which can assign one GPU to both; give each scheduler its own "
                    "nodes with a taint and a nodeSelector",
                    place_of_name,
                    (at.at / "spec",),
                )


def _processes(cluster: Cluster) -> dict[str, str]:
    """The process behind each scheduler name: profiles of one file are one process."""
    found = {SCHEDULER: SCHEDULER, DEFAULT_SCHEDULER: DEFAULT_SCHEDULER}
    for i, configuration in enumerate(cluster.scheduler_configurations):
        names = [profile.scheduler_name for profile in configuration.fields.profiles]
        found.update(
            dict.fromkeys(names, DEFAULT_SCHEDULER if DEFAULT_SCHEDULER in names else f"file {i}")
        )
    return found


RULE = ObjectRule(
    "two-schedulers-one-pool",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Give each scheduler its own nodes, with a taint and a nodeSelector.",
    judges=tuple(it for it in KINDS if it != "DaemonSet"),
    check=check,
    needs=frozenset({Need.WORKLOADS}),
    reads=("KubeSchedulerConfiguration",),
)
