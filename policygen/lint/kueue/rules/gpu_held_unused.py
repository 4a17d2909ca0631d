"""A pod holds GPUs but does not use them."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from policygen.kubernetes.conditions import condition, long
from policygen.kubernetes.snapshot import Pod
from policygen.lint.core.running_pods import Holder, families, held, holders, maker, named
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

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
"""Reasons why a container waits and will not start by itself.

Source: pkg/kubelet/images/types.go and pkg/kubelet/kuberuntime/kuberuntime_container.go of
Kubernetes 1.36.3.
"""


def check(facts: Facts) -> Hits:
    """A pod keeps its GPUs until it is gone, whatever its containers do.

    Source: issue 328 of NVIDIA/k8s-device-plugin for pods that crash.
    """
    found: dict[str, list[Holder]] = {}
    bound = facts.bound(RULE)
    for family in families(facts.cluster.derive(holders)):
        ended = _ended(facts, family[0].pod, bound)
        for holder in family:
            reason = _reason(holder.pod, ended, facts.now, bound)
            if reason:
                found.setdefault(reason, []).append(holder)
    for reason, pods in found.items():
        for family in families(pods):
            yield Hit(
                RULE,
                f"the GPUs of {named(family)} are unused ({held(family)} on {_nodes(family)}): "
                f"{reason}",
                family[0].pod.at,
            )


def _ended(facts: Facts, pod: Pod, bound: timedelta) -> str:
    """The kind of the pod's owner if that ended long ago, else empty.

    Pods are listed before their owner, and end with it.
    """
    owner = maker(facts.cluster, pod)
    if owner is None:
        return ""
    for name in ("Complete", "Failed"):
        found = condition(owner, name)
        if found and found.holds and found.since and facts.now - found.since > bound:
            return owner.kind
    return ""


def _reason(pod: Pod, ended: str, now: datetime, bound: timedelta) -> str:
    """Why a pod does not use its GPUs, with the remedy; empty if it may use them."""
    if pod.deleted is not None:
        age = now - pod.deleted
        if age <= bound:
            return ""
        return (
            f"the pod was deleted {long(age)} ago but still exists; remove its finalizer, or bring "
            "its node back"
        )
    if ended:
        return f"the pod's {ended} has ended; delete the pod"
    if pod.waiting in _WAITS and pod.created is not None and now - pod.created > bound:
        return f"the container waits with reason {pod.waiting}; fix the container, or scale the workload to 0"
    return ""


def _nodes(family: Sequence[Holder]) -> str:
    """The first node of the pods by name, and how many more there are."""
    names = sorted({holder.pod.node for holder in family})
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"node {names[0]}{more}"


RULE = ObjectRule(
    "gpu-held-unused",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Fix the container, or delete the pod.",
    judges=("Pod",),
    check=check,
    needs=frozenset({Need.SEEN}),
    reads=("Job",),
    bound=timedelta(hours=1),
    aliases=("gpu-held-in-vain",),
)
