"""A pod holds GPUs and does nothing with them."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.snapshot import Pod
from policygen.lint.core.conditions import condition, long
from policygen.lint.core.running_pods import Holder, families, held, holders, maker, named
from policygen.lint.rule import Facts, Family, Need, ObjectRule

_WAITS = {
    "CrashLoopBackOff",
    "CreateContainerConfigError",
    "CreateContainerError",
    "ErrImageNeverPull",
    "ErrImagePull",
    "ImageInspectError",
    "ImagePullBackOff",
    "InvalidImageName",
    "RunContainerError",
}
"""Reasons for which a container waits and is not on its way. Source: pkg/kubelet/images/types.go and
pkg/kubelet/kuberuntime/kuberuntime_container.go of Kubernetes 1.36.3."""


def check(facts: Facts) -> Iterator[Hit]:
    """The node's GPUs are its own until it is gone, whatever its containers do.

    Source: issue 328 of NVIDIA/k8s-device-plugin for pods that crash.
    """
    found: dict[str, list[Holder]] = {}
    bound = facts.bound(RULE)
    for family in families(facts.cluster.derive(holders)):
        ended = _ended(facts, family[0].pod, bound)
        for each in family:
            why = _why(each.pod, ended, facts.now, bound)
            if why:
                found.setdefault(why, []).append(each)
    for why, pods in found.items():
        for family in families(pods):
            verb = "holds" if len(family) == 1 else "hold"
            yield Hit(
                RULE,
                f"{named(family)} {verb} {held(family)} of {_nodes(family)} in vain: {why}",
                family[0].pod.at,
            )


def _ended(facts: Facts, pod: Pod, bound: timedelta) -> str:
    """The kind of what made it, if that has ended long ago: pods are listed before it, and end with it."""
    owner = maker(facts.cluster, pod)
    if owner is None:
        return ""
    for name in ("Complete", "Failed"):
        found = condition(owner, name)
        if found and found.holds and found.since and facts.now - found.since > bound:
            return owner.kind
    return ""


def _why(pod: Pod, ended: str, now: datetime, bound: timedelta) -> str:
    if pod.deleted is not None:
        age = now - pod.deleted
        if age <= bound:
            return ""
        return (
            f"deleted {long(age)} ago and still there; remove the finalizer that keeps it, or bring "
            "its node back"
        )
    if ended:
        return f"its {ended} has ended; delete the pod"
    if pod.waiting in _WAITS and pod.created is not None and now - pod.created > bound:
        return f"its container waits, {pod.waiting}; mend the container, or scale it to 0"
    return ""


def _nodes(family: Sequence[Holder]) -> str:
    names = sorted({each.pod.node for each in family})
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"node {names[0]}{more}"


RULE = ObjectRule(
    "gpu-held-unused",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("Pod",),
    check=check,
    needs=frozenset({Need.SEEN}),
    reads=("Job",),
    bound=timedelta(hours=1),
    aliases=("gpu-held-in-vain",),
)
