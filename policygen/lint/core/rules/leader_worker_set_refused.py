"""A LeaderWorkerSet has a number of groups or pods that its webhook refuses."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core.finding import Path
from policygen.kubernetes.untyped import integer, mapping
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_TEMPLATE = "leaderWorkerTemplate"
_SUB_GROUP = "subGroupPolicy"
_MAX = 2**31 - 1


def check(facts: Facts) -> Hits:
    """Source: pkg/webhooks/leaderworkerset_webhook.go of LWS 0.9.0, generalValidate."""
    for obj in facts.cluster.of("leaderworkerset.x-k8s.io", "LeaderWorkerSet"):
        for path, message in _faults(mapping(obj.data, "spec")):
            yield Hit(RULE, f"{obj} {message}", obj.at.to("spec", *path))


def _faults(spec: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    template = mapping(spec, _TEMPLATE)
    replicas, size = integer(spec.get("replicas", 1)), integer(template.get("size", 1))
    if replicas is not None and replicas < 0:
        yield ("replicas",), f"has replicas {replicas}, which is refused; write 0 or more"
    if size is None:
        return
    if size < 1:
        yield (
            (_TEMPLATE, "size"),
            f"has size {size}, which is refused, because each group has at least a leader; write 1 or more",
        )
        return
    if replicas is not None and replicas * size > _MAX:
        most = _MAX // size
        message = (
            f"has {replicas} groups of {size} pods, which is refused; write at most {most} replicas"
        )
        yield ("replicas",), message
    policy = mapping(template, _SUB_GROUP)
    part = integer(policy.get("subGroupSize"))
    if part is None:
        return
    at = (_TEMPLATE, _SUB_GROUP, "subGroupSize")
    if part < 1:
        yield at, f"has subGroupSize {part}, which is refused; write 1 or more"
    elif part > size:
        yield (
            at,
            f"has subGroupSize {part}, which is refused, because size is {size}; write at most {size}",
        )
    elif (size - 1) % part and policy.get("subGroupPolicyType") == "LeaderExcluded":
        why = "LeaderExcluded requires that it divides size - 1"
        yield (
            at,
            f"has subGroupSize {part}, which is refused, because {why}; write a divisor of {size - 1}",
        )
    elif (size - 1) % part and size % part:
        why = f"it must divide size or size - 1; write a divisor of {size} or {size - 1}"
        yield at, f"has subGroupSize {part}, which is refused, because {why}"


RULE = ObjectRule(
    "leader-worker-set-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write a size of 1 or more, and a subGroupSize that divides it.",
    judges=("LeaderWorkerSet",),
    check=check,
)
