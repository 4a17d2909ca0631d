"""The pods of a pod group name different queues, or pod-group-total-count is wrong."""

from collections.abc import Sequence

from msgspec import Struct

from policygen.core import go_values
from policygen.core.finding import At
from policygen.core.names import LOCAL_QUEUE
from policygen.core.quoting import counted
from policygen.kubernetes.kueue_jobs import GROUP_COUNT
from policygen.lint.core.webhook_objects import WebhookObject, webhook_object
from policygen.lint.kueue import configuration
from policygen.lint.kueue.job_metadata import group
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


class _Member(Struct, frozen=True, eq=False):
    pod: WebhookObject
    count: int

    @property
    def count_at(self) -> At:
        return self.pod.at.to("metadata", "annotations", GROUP_COUNT)

    @property
    def queue(self) -> str:
        return self.pod.labels.get(LOCAL_QUEUE, "")


def check(facts: Facts) -> Hits:
    """Kueue admits a complete group whose pods agree, and deletes pods above the group's size.

    Source: pkg/controller/jobs/pod/pod_controller.go, validatePodGroupMetadata, ConstructComposableWorkload.
    """
    settings = configuration.settings(facts)
    groups: dict[tuple[str, str], dict[str | At, _Member]] = {}
    for workload in facts.cluster.workloads:
        if workload.kind != "Pod" or workload.object.group:
            continue
        pod = webhook_object(workload)
        name, count = group(pod, settings), go_values.integer(pod.annotations.get(GROUP_COUNT, ""))
        if name and count is not None and count > 0:
            # Of two pods with one name, only one can exist.
            members = groups.setdefault((workload.namespace, name), {})
            members[workload.name or workload.at] = _Member(pod, count)
    complete = _knows_all_pods(facts)
    for (_, name), members in groups.items():
        found = list(_of_group(name, tuple(members.values())))
        yield from found or (_incomplete(name, tuple(members.values())) if complete else ())


def _knows_all_pods(facts: Facts) -> bool:
    """Whether no group can have other pods. On a cluster, other pods of a group may have ended."""
    if facts.cluster.seen is not None or Need.WHOLE not in facts.given:
        return False
    written = sum(it.kind == "Pod" for it in facts.cluster.objects)
    return written == sum(it.kind == "Pod" for it in facts.cluster.workloads)


def _of_group(name: str, members: Sequence[_Member]) -> Hits:
    first = members[0]
    for member in members:
        if member.count != first.count:
            yield Hit(
                RULE,
                f'pods of group "{name}" have different values of pod-group-total-count '
                f"({first.pod.workload}: {first.count}; {member.pod.workload}: {member.count}), so "
                "Kueue never admits the group; write the same count in all pods",
                member.count_at,
                (first.count_at,),
            )
            return
        if member.queue != first.queue:
            yield Hit(
                RULE,
                f'pods of group "{name}" name different queues ({first.pod.workload}: '
                f"{_queue(first)}; {member.pod.workload}: {_queue(member)}), so Kueue never admits "
                "the group; write the same queue in all pods",
                _queue_at(member),
                (_queue_at(first),),
            )
            return
    if len(members) > first.count:
        yield Hit(
            RULE,
            f'pod group "{name}" has {len(members)} pods, but its pod-group-total-count is '
            f"{first.count}, so Kueue deletes the extra pods; write {len(members)} in all pods",
            first.count_at,
            tuple(each.count_at for each in members[1:]),
        )


def _incomplete(name: str, members: Sequence[_Member]) -> Hits:
    first, count = members[0], len(members)
    if count < first.count:
        yield Hit(
            RULE,
            f'pod group "{name}" has {counted(count, "pod")}, but its pod-group-total-count is '
            f"{first.count}, so Kueue waits for the other pods; add them, or write {count} in all pods",
            first.count_at,
        )


def _queue(member: _Member) -> str:
    return f'LocalQueue "{member.queue}"' if member.queue else "no queue"


def _queue_at(member: _Member) -> At:
    at = member.pod.at / "metadata"
    return at.to("labels", LOCAL_QUEUE) if member.queue else at


RULE = ObjectRule(
    "pod-group-inconsistent",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the same queue and the correct pod-group-total-count in every pod.",
    judges=("Pod",),
    check=check,
    reads=("Configuration", "Deployment"),
    aliases=("pod-group-disagrees",),
)
