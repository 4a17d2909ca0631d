"""The words of kube-scheduler for the reasons why a node does not take a pod."""

from typing import assert_never

from policygen.kubernetes.node_filters import (
    Cordoned,
    Differs,
    Miss,
    NoDomain,
    NoTerm,
    NotTolerated,
    OtherName,
    OtherVolume,
    TooLittle,
)

INSUFFICIENT = "Insufficient "
"""The beginning of the reason of a node that has too little of a resource."""


def first_reasons(found: tuple[Miss, ...]) -> tuple[str, ...]:
    """The reasons that kube-scheduler counts for a node: all of the first filter that refuses it."""
    same = [it for it in found if type(it) is type(found[0])]
    return tuple(map(reason, same if found and isinstance(found[0], TooLittle) else same[:1]))


def reason(miss: Miss) -> str:
    """The words for one reason. Source: pkg/scheduler/framework/plugins of Kubernetes 1.36.3."""
    match miss:
        case Cordoned():
            return "node(s) were unschedulable"
        case OtherName():
            return "node(s) didn't match the requested node name"
        case NotTolerated():
            return "node(s) had untolerated taint(s)"
        case Differs() | NoTerm():
            return "node(s) didn't match Pod's node affinity/selector"
        case TooLittle(resource="pods"):
            return "Too many pods"
        case TooLittle(resource=resource):
            return f"{INSUFFICIENT}{resource}"
        case OtherVolume(volume):
            return volume.filter.value
        case NoDomain(domain):
            if domain.path[0] == "topologySpreadConstraints":
                return (
                    "node(s) didn't match pod topology spread constraints (missing required label)"
                )
            return "node(s) didn't match pod affinity rules"
        case _:
            assert_never(miss)
