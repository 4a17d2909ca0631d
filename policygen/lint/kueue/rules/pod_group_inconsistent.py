"""The pods of a pod group name different queues, or pod-group-total-count is wrong."""

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from policygen.core import go_values
from policygen.core.finding import At
from policygen.core.names import LOCAL_QUEUE
from policygen.core.quoting import counted
from policygen.core.suggest import Names
from policygen.kubernetes.kueue_jobs import GROUP, GROUP_COUNT
from policygen.lint.core.webhook_objects import WebhookObject, webhook_object
from policygen.lint.kueue import configuration
from policygen.lint.kueue.job_metadata import group
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_NUMBER = re.compile("[0-9]+")


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
    incomplete: dict[tuple[str, str], Sequence[_Member]] = {}
    for key, by_name in groups.items():
        pods = tuple(by_name.values())
        found = list(_of_group(key[1], pods))
        yield from found
        if not found and len(pods) < pods[0].count:
            incomplete[key] = pods
    if _knows_all_pods(facts):
        yield from _incomplete(incomplete)


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


def _incomplete(groups: Mapping[tuple[str, str], Sequence[_Member]]) -> Hits:
    """Groups with too few pods; two with similar names that make one complete group are one hit."""
    reported: set[tuple[str, str]] = set()
    for key, members in groups.items():
        if key in reported:
            continue
        others = (it for it in groups if it not in reported)
        other = next((it for it in others if _are_one(it, key, groups)), None)
        (namespace, name), first, count = key, members[0], len(members)
        if other is not None:
            reported |= {key, other}
            few, many = sorted((key, other), key=lambda it: len(groups[it]))
            yield Hit(
                RULE,
                f'pod groups "{few[1]}" ({counted(len(groups[few]), "pod")}) and "{many[1]}" '
                f"({counted(len(groups[many]), 'pod')}) of namespace {namespace} each have pod-group-total-count "
                f"{first.count}, so Kueue waits for the other pods; write one name in all {first.count} pods",
                _name_at(groups[few][0]),
                tuple(_name_at(it) for it in (*groups[few][1:], *groups[many])),
            )
            continue
        yield Hit(
            RULE,
            f'pod group "{name}" has {counted(count, "pod")}, but its pod-group-total-count is '
            f"{first.count}, so Kueue waits for the other pods; add them, or write {count} in all pods",
            first.count_at,
        )


def _are_one(
    one: tuple[str, str],
    other: tuple[str, str],
    groups: Mapping[tuple[str, str], Sequence[_Member]],
) -> bool:
    """Whether the pods of two groups are probably one, because a name has a typo. Numbers in names are meant."""
    first, second = groups[one], groups[other]
    return (
        one != other
        and one[0] == other[0]
        and first[0].count == second[0].count == len(first) + len(second)
        and first[0].queue == second[0].queue
        and _NUMBER.findall(one[1]) == _NUMBER.findall(other[1])
        and bool(Names([one[1]]).meant(other[1]))
    )


def _name_at(member: _Member) -> At:
    return member.pod.at.to("metadata", "labels", GROUP)


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
