"""The pods of one Kueue group say different sizes or queues, or are more than they say."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from policygen.core.finding import At, Hit
from policygen.core.names import LOCAL_QUEUE
from policygen.core.rule import Severity
from policygen.lint.core import go_values
from policygen.lint.kueue import configuration
from policygen.lint.kueue.job_metadata import GROUP_COUNT, Judged, group, judged
from policygen.lint.rule import Facts, Family, ObjectRule


class _Member(Struct, frozen=True, eq=False):
    pod: Judged
    count: int

    @property
    def count_at(self) -> At:
        return self.pod.at.to("metadata", "annotations", GROUP_COUNT)

    @property
    def queue(self) -> str:
        return self.pod.labels.get(LOCAL_QUEUE, "")


def check(facts: Facts) -> Iterator[Hit]:
    """A group is admitted when all of it is there and agrees; pods above its size are deleted.

    Source: pkg/controller/jobs/pod/pod_controller.go, validatePodGroupMetadata, ConstructComposableWorkload.
    """
    settings = configuration.settings(facts)
    groups: dict[tuple[str, str], list[_Member]] = {}
    for workload in facts.cluster.workloads:
        if workload.kind != "Pod" or workload.object.group:
            continue
        pod = judged(workload)
        name, count = group(pod, settings), go_values.integer(pod.annotations.get(GROUP_COUNT, ""))
        if name and count is not None and count > 0:
            groups.setdefault((workload.namespace, name), []).append(_Member(pod, count))
    for (_, name), members in groups.items():
        yield from _of_group(name, members)


def _of_group(name: str, members: Sequence[_Member]) -> Iterator[Hit]:
    first = members[0]
    for each in members:
        if each.count != first.count:
            yield Hit(
                RULE,
                f'{each.pod.workload} says that group "{name}" has {each.count} pods, and '
                f"{first.pod.workload} says {first.count}, so it is never admitted; write the same "
                "number in all of them",
                each.count_at,
                (first.count_at,),
            )
            return
        if each.queue != first.queue:
            yield Hit(
                RULE,
                f'{each.pod.workload} of group "{name}" goes to {_queue(each)}, and '
                f"{first.pod.workload} to {_queue(first)}, so the group is never admitted; write "
                "the same queue in all of them",
                _queue_at(each),
                (_queue_at(first),),
            )
            return
    if len(members) > first.count:
        yield Hit(
            RULE,
            f'group "{name}" has {len(members)} pods and says {first.count}, so Kueue deletes '
            f"{len(members) - first.count}; write {len(members)} in all of them",
            first.count_at,
            tuple(each.count_at for each in members[1:]),
        )


def _queue(member: _Member) -> str:
    return f'LocalQueue "{member.queue}"' if member.queue else "no queue"


def _queue_at(member: _Member) -> At:
    at = member.pod.at / "metadata"
    return at.to("labels", LOCAL_QUEUE) if member.queue else at


RULE = ObjectRule(
    "pod-group-disagrees",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("Pod",),
    check=check,
    reads=("Configuration", "Deployment"),
)
