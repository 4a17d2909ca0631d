"""No workload in the namespace of a PodGroup names this PodGroup."""

from collections.abc import Iterator
from itertools import chain

from policygen.core.names import POD_GROUP
from policygen.kubernetes.cluster import Cluster
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """Only if the input has workloads of the namespace, and all of them have pods.

    Skips groups of controllers, and those that pods of another namespace or an object of an unknown kind name.
    Source: pkg/controllers/podgroup/pg_controller.go: pods join by annotation only.
    """
    members = facts.cluster.derive(queues.groups)
    with_workloads = {workload.namespace for workload in facts.cluster.workloads}
    # These could not be read, and may name the group too.
    with_workloads -= {it.namespace for it in facts.cluster.workloads if not it.templates}
    named = {name for _, name in members} if "pod-group-missing" in facts.run else set()
    for group in facts.cluster.pod_groups:
        if (
            group.object.is_made
            or not group.name
            or group.namespace not in with_workloads
            or (group.namespace, group.name) in members
            or group.name in named  # pod-group-missing reports it
            or group.name in facts.cluster.derive(_named_elsewhere)
        ):
            continue
        yield Hit(
            RULE,
            f"no workload names {group}, so the PodGroup waits forever for {group.fields.min_member} pods; "
            f"write the annotation {POD_GROUP}: {group.name} and schedulerName: "
            "volcano in the pod template",
            group.at.to("metadata", "name"),
        )


def _named_elsewhere(cluster: Cluster) -> frozenset[str]:
    """The PodGroups that objects other than workloads name; for `derive`."""
    known = {it.at for it in cluster.workloads}
    others = [it.data for it in cluster.objects if it.at not in known]
    return frozenset(chain.from_iterable(map(_names, others)))


def _names(data: object) -> Iterator[str]:
    """The values of the annotation at any depth."""
    if isinstance(data, dict):
        name = data.get(POD_GROUP)
        if isinstance(name, str):
            yield name
        yield from chain.from_iterable(map(_names, data.values()))
    elif isinstance(data, list):
        yield from chain.from_iterable(map(_names, data))


RULE = ObjectRule(
    "pod-group-without-pods",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the annotation scheduling.k8s.io/group-name into the pod template.",
    judges=("PodGroup",),
    check=check,
    needs=frozenset({Need.WORKLOADS, Need.WHOLE}),
)
