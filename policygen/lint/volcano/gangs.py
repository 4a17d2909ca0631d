"""The minimum that gangs need at once, and their queues.

Source: pkg/controllers/job/job_controller_actions.go, calcPGMinResources, of Volcano 1.14.1.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.core.finding import At
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import PodGroupView
from policygen.kubernetes.workloads import PodTemplate, Workload, sum_of
from policygen.lint.volcano import queues
from policygen.lint.volcano.jobs import ends_together, min_available, spec_of
from policygen.lint.volcano.terms import ACTIONS

_ZERO = Fraction(0)


class GangNeeds(Struct, frozen=True, eq=False):
    """What pods need that start together or not at all."""

    owner: str
    """The PodGroup or Job."""
    root: At
    """The place of the PodGroup or Job."""
    of_pods: At
    """The place of the workload, if all pods of a PodGroup are of one; else `root`."""
    queue: str
    amounts: Mapping[str, Fraction]
    """The minimum by resource: `minResources`, or what the pods request if this is more.

    Only the action enqueue compares `minResources` with the queue. Without it, what the pods request.
    """
    at: At
    """The place of `minResources`, whose entries are by resource, or of the number of pods."""
    written: bool
    """Whether `at` is the place of minResources."""
    pods: int
    """The minimum of pods."""
    ends_together: bool = False
    """Whether the Job stops all pods if one is evicted."""
    is_whole: bool = False
    """Whether all pods of the Job are in the gang, so that a smaller gang leaves pods without room."""

    declared: frozenset[str] = frozenset()
    """The resources for which `minResources` is above the requests of known pods."""

    def subject(self, resource: str) -> At:
        """The root of the object that decides the amount of a resource."""
        return self.root if resource in self.declared else self.of_pods

    def place(self, resource: str) -> At:
        """The place of the amount of a resource."""
        return self.at / resource if self.written else self.at


def gangs(cluster: Cluster) -> tuple[GangNeeds, ...]:
    """The gangs of PodGroups, and of Jobs in manifests; for `cluster.derive`.

    On a cluster each Job has a PodGroup.
    """
    members, enqueues = cluster.derive(queues.groups), _may_enqueue(cluster)
    groups = (
        _of_group(it, members.get((it.namespace, it.name), ()), enqueues)
        for it in cluster.pod_groups
    )
    jobs = (
        _of_job(it)
        for it in (cluster.workloads_of(VOLCANO_BATCH) if cluster.seen is None else ())
        if it.kind == "Job"
    )
    return (*groups, *jobs)


def _may_enqueue(cluster: Cluster) -> bool:
    """Whether the action enqueue is in a configuration, or may be: the default of Volcano has it.

    Volcano uses the default instead of a file with an unknown action.
    Source: pkg/scheduler/actions/allocate/allocate.go, buildAllocateContext, of Volcano 1.14.1.
    """
    every = [it.fields.action_names for it in cluster.volcano_configurations]
    return not every or any("enqueue" in it or not {*it} <= {*ACTIONS} for it in every)


def _of_group(
    group: Entry[PodGroupView], members: Sequence[tuple[Workload, PodTemplate]], enqueues: bool
) -> GangNeeds:
    queue, spec = group.fields.queue or queues.DEFAULT, group.at / "spec"
    needed = group.fields.min_member or 0
    resources = group.fields.min_resources if enqueues else None
    pods = sum_of(template.replicas for _, template in members)
    if members and pods is not None:
        needed = min(needed, pods)  # gang-larger-than-its-pods reports the others
    amounts = _least([(template, None) for _, template in members], needed)
    above = {it: n for it, n in (resources or {}).items() if n > amounts.get(it, Fraction(-1))}
    amounts |= above
    written = resources is not None
    workloads = {workload.at for workload, _ in members}
    of_pods = next(iter(workloads)) if len(workloads) == 1 else group.at
    at = spec / ("minResources" if written else "minMember")
    return GangNeeds(
        str(group),
        group.at,
        of_pods,
        queue,
        amounts,
        at,
        written=written,
        pods=needed,
        declared=frozenset(above if members else ()),
    )


def _of_job(workload: Workload) -> GangNeeds:
    spec = spec_of(workload)
    queue = str(workload.spec.get("queue") or queues.DEFAULT)
    needed = min_available(spec) or 0
    least = _least([(template, template.replicas) for template in workload.templates], needed)
    written = "minAvailable" in workload.spec
    at = spec.at / "minAvailable" if written else spec.at / "tasks"
    return GangNeeds(
        str(workload),
        workload.at,
        workload.at,
        queue,
        least,
        at,
        written=False,
        pods=needed,
        ends_together=ends_together(spec),
        is_whole=written and needed == sum(it.replicas or 0 for it in workload.templates),
    )


def _least(templates: Sequence[tuple[PodTemplate, int | None]], needed: int) -> dict[str, Fraction]:
    """The requests by resource of the `needed` pods that request least of it.

    `templates` come with their number of pods; None means as many as needed. Returns an empty
    dict if there are fewer pods than needed.
    """
    requests = [(template.spec.requests, needed if n is None else n) for template, n in templates]
    pods = sum(count for _, count in requests)
    if pods < needed:
        return {}
    found: dict[str, Fraction] = {}
    if pods == needed:  # all count, so their order does not matter
        for amounts, count in requests:
            for name, amount in amounts.items():
                every = amount * count
                found[name] = found[name] + every if name in found else every
        return found
    for name in dict.fromkeys(name for amounts, _ in requests for name in amounts):
        rest, total = needed, _ZERO
        for amount, count in sorted(
            (amounts.get(name, _ZERO), count) for amounts, count in requests
        ):
            used = min(rest, count)
            total, rest = total + used * amount, rest - used
        found[name] = total
    return found
