"""What gangs need at once, at the least, and from which queue.

Source: pkg/controllers/job/job_controller_actions.go, calcPGMinResources, of Volcano 1.14.1.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.core.finding import At
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import PodGroup
from policygen.kubernetes.workloads import Template, Workload
from policygen.lint.core.pod_templates import Part
from policygen.lint.volcano import queues
from policygen.lint.volcano.jobs import number, replicas


class Gang(Struct, frozen=True, eq=False):
    """Pods that start together or not at all."""

    what: str
    queue: str
    amounts: Mapping[str, Fraction]
    """By resource, no more than what is asked for in fact."""
    at: At
    """What says it: `minResources`, whose entries are by resource, or the number of pods."""
    written: bool
    """Whether that is minResources."""

    def place(self, resource: str) -> At:
        """What says how much of a resource."""
        return self.at / resource if self.written else self.at


def gangs(cluster: Cluster) -> Iterator[Gang]:
    """Those of PodGroups and of Volcano's jobs; on a cluster a job's PodGroup speaks for it."""
    members = cluster.derive(queues.groups)
    for group in cluster.pod_groups:
        yield _of_group(group, members.get((group.namespace, group.name), ()))
    if cluster.seen is None:
        for workload in cluster.workloads:
            if workload.object.group == VOLCANO_BATCH and workload.kind == "Job":
                yield _of_job(workload)


def _of_group(group: Entry[PodGroup], members: Sequence[tuple[Workload, Template]]) -> Gang:
    queue, spec = group.it.queue or queues.DEFAULT, group.at / "spec"
    if group.it.min_resources is not None:
        return Gang(str(group), queue, group.it.min_resources, spec / "minResources", written=True)
    least = _least([(template, None) for _, template in members], group.it.min_member or 0)
    return Gang(str(group), queue, least, spec / "minMember", written=False)


def _of_job(workload: Workload) -> Gang:
    spec = Part(workload, workload.at / "spec", workload.spec)
    queue = str(workload.spec.get("queue") or queues.DEFAULT)
    wanted = number(spec, "minAvailable")
    if not wanted:  # the webhook writes what the tasks say
        parts = [number(task, "minAvailable") for task in spec.items("tasks")]
        counts = [replicas(task) for task in spec.items("tasks")]
        wanted = sum(
            (part if part is not None else count) or 0
            for part, count in zip(parts, counts, strict=True)
        )
    least = _least([(template, template.replicas) for template in workload.templates], wanted)
    written = "minAvailable" in workload.spec
    at = spec.at / "minAvailable" if written else spec.at / "tasks"
    return Gang(str(workload), queue, least, at, written=False)


def _least(templates: Sequence[tuple[Template, int | None]], wanted: int) -> dict[str, Fraction]:
    """What so many pods ask for, by resource, if they are those that ask for least of it.

    `templates` stand with their number of pods; None: as many as are wanted. Nothing, where there
    are fewer pods than wanted.
    """
    asked = [(template.spec.requests, wanted if n is None else n) for template, n in templates]
    if sum(count for _, count in asked) < wanted:
        return {}
    found = {}
    for name in {name for amounts, _ in asked for name in amounts}:
        rest, total = wanted, Fraction(0)
        for amount, count in sorted(
            (amounts.get(name, Fraction(0)), count) for amounts, count in asked
        ):
            taken = min(rest, count)
            total, rest = total + taken * amount, rest - taken
        found[name] = total
    return found
