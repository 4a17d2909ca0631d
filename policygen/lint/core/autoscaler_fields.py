"""Fields of a HorizontalPodAutoscaler that API servers refuse: its target, metrics and behavior.

Source: pkg/apis/autoscaling/validation/validation.go of Kubernetes 1.36.3.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.api_validation.metadata import is_namespace
from policygen.core.finding import Fault, Path
from policygen.core.quoting import listed, quoted
from policygen.kubernetes.untyped import mapping, numbered, read_amount
from policygen.lint.core.resource_names import refused

_UTILIZATION, _VALUE, _AVERAGE = "averageUtilization", "value", "averageValue"
_VALUES: Mapping[str, tuple[tuple[str, ...], bool]] = {
    "resource": ((_AVERAGE, _UTILIZATION), True),
    "containerResource": ((_AVERAGE, _UTILIZATION), True),
    "pods": ((_AVERAGE,), True),
    "object": ((_VALUE, _AVERAGE), False),
    "external": ((_VALUE, _AVERAGE), True),
}
"""The values that a target of each source may have, and whether only one of them is allowed."""
_TYPES = ("Utilization", "Value", "AverageValue")
_OF_RESOURCES = ("resource", "containerResource")
_SELECTS, _POLICIES = ("Max", "Min", "Disabled"), ("Pods", "Percent")
_LONGEST_WINDOW_S, _LONGEST_PERIOD_S = 3600, 1800


def faults(who: object, spec: Mapping[str, Any]) -> Iterator[Fault]:
    """The faults of a spec besides its bounds; each message begins with `who`."""
    if target := mapping(spec, "scaleTargetRef"):
        yield from _reference(who, target, ("scaleTargetRef",))
    yield from _share(who, spec, "targetCPUUtilizationPercentage")  # of autoscaling/v1
    for i, metric in numbered(spec, "metrics"):
        for path, message in _metric(who, metric):
            yield ("metrics", i, *path), message
    for name in ("scaleUp", "scaleDown"):
        for path, message in _scaling(who, name, mapping(spec, "behavior", name)):
            yield ("behavior", name, *path), message


def _reference(who: object, target: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    field, version = path[-1], target.get("apiVersion")
    version = "" if version is None else version
    may_be_core = field == "describedObject" or target.get("kind") == "ReplicationController"
    if not isinstance(version, str):
        pass
    elif version.count("/") > 1:
        yield (
            (*path, "apiVersion"),
            f"{who} has a {field} with apiVersion {quoted(version)}, which is refused; write a group and a version, such as apps/v1",
        )
    elif not version.rpartition("/")[0] and not may_be_core:
        yield (
            path,
            f"{who} has a {field} with apiVersion {quoted(version)}, which has no API group and is refused; write a group and a version, such as apps/v1",
        )
    for key in ("kind", "name"):
        yield from _segment(who, target, key, path)


def _segment(who: object, holder: Mapping[str, Any], key: str, path: Path) -> Iterator[Fault]:
    """A name that is a part of a URL."""
    name = holder.get(key, ".")
    name = "" if name is None else name
    if key in holder and isinstance(name, str) and not _is_segment(name):
        yield (
            (*path, key),
            f'{who} has {path[-1]}.{key} {quoted(name)}, which is refused; write a name without "/" and "%"',
        )


def _is_segment(name: str) -> bool:
    return name not in ("", ".", "..") and "/" not in name and "%" not in name


def _metric(who: object, metric: Mapping[str, Any]) -> Iterator[Fault]:
    by_type = {f"{source[:1].upper()}{source[1:]}": source for source in _VALUES}
    kind = metric.get("type")
    used = [source for source in _VALUES if metric.get(source) is not None]
    if isinstance(kind, str) and kind not in by_type:
        yield (
            ("type",),
            f"{who} has a metric of type {quoted(kind)}, which is refused; write {listed([*by_type])}",
        )
    elif isinstance(kind, str) and used != [by_type[kind]]:
        has = f"with {listed(used, 'and')}" if used else f"without {by_type[kind]}"
        yield (
            (),
            f"{who} has a metric of type {kind} {has}, which is refused; write only {by_type[kind]}",
        )
    for source in used:
        part = mapping(metric, source)
        for path, message in _source(who, source, part):
            yield (source, *path), message
        for path, message in _target(who, source, mapping(part, "target")):
            yield (source, "target", *path), message


def _source(who: object, source: str, part: Mapping[str, Any]) -> Iterator[Fault]:
    if source in _OF_RESOURCES:
        name = part.get("name")
        of_container = source == "containerResource"
        if isinstance(name, str) and (not name or (of_container and refused(name))):
            yield (
                ("name",),
                f"{who} has a metric of resource {quoted(name)}, which is refused; write the name of a resource",
            )
    else:
        yield from _segment(who, mapping(part, "metric"), "name", ("metric",))
    container = part.get("container")
    if source == "containerResource" and isinstance(container, str) and not is_namespace(container):
        yield (
            ("container",),
            f"{who} has a metric of container {quoted(container)}, which is refused; write the name of a container",
        )
    if described := mapping(part, "describedObject"):
        yield from _reference(who, described, ("describedObject",))


def _share(who: object, data: Mapping[str, Any], field: str) -> Iterator[Fault]:
    share = data.get(field)
    if isinstance(share, int) and share < 1:
        yield (field,), f"{who} has {field} {share}, which is refused; write 1 or more"


def _target(who: object, source: str, target: Mapping[str, Any]) -> Iterator[Fault]:
    known, one = _VALUES[source]
    of = target.get("type")
    if isinstance(of, str) and of not in _TYPES:
        yield (
            ("type",),
            f"{who} has a metric target of type {quoted(of)}, which is refused; write {listed([*_TYPES])}",
        )
    yield from _share(who, target, _UTILIZATION)
    for name in (_VALUE, _AVERAGE):
        amount = read_amount(target.get(name))
        if amount is not None and amount <= 0:
            yield (
                (name,),
                f"{who} has a metric target with {name} {target[name]}, which is refused; write more than 0",
            )
    has = [name for name in known if target.get(name) is not None]
    if target and (not has or (one and len(has) > 1)):
        values = f"with {listed(has, 'and')}" if has else f"without {listed([*known])}"
        yield (
            (),
            f"{who} has a metric target {values}, which is refused; write exactly one value in the target",
        )


def _scaling(who: object, name: str, rules: Mapping[str, Any]) -> Iterator[Fault]:
    yield from _bounded(
        who, rules, f"{name}.stabilizationWindowSeconds", range(_LONGEST_WINDOW_S + 1)
    )
    yield from _word(who, rules, f"{name}.selectPolicy", _SELECTS)
    if rules.get("policies") == []:
        yield (
            ("policies",),
            f"{who} has {name} with an empty list of policies, which is refused; remove policies",
        )
    tolerance = read_amount(rules.get("tolerance"))
    if tolerance is not None and tolerance < 0:
        yield (
            ("tolerance",),
            f"{who} has {name}.tolerance {rules['tolerance']}, which is refused; write 0 or more",
        )
    for i, policy in numbered(rules, "policies"):
        found = [
            *_word(who, policy, f"{name}.policies[{i}].type", _POLICIES),
            *_bounded(who, policy, f"{name}.policies[{i}].value", range(1, 1 << 31)),
            *_bounded(
                who, policy, f"{name}.policies[{i}].periodSeconds", range(1, _LONGEST_PERIOD_S + 1)
            ),
        ]
        found += [
            (
                (),
                f"{who} has {name}.policies[{i}] without {key}, which is refused; write {key}",
            )
            for key in ("value", "periodSeconds")
            if policy.get(key) is None
        ]
        for path, message in found:
            yield ("policies", i, *path), message


def _bounded(who: object, holder: Mapping[str, Any], field: str, valid: range) -> Iterator[Fault]:
    """A number out of bounds; `field` ends with its key."""
    key = field.rpartition(".")[2]
    number = holder.get(key)
    if isinstance(number, int) and number not in valid:
        yield (
            (key,),
            f"{who} has {field} {number}, which is refused; write {valid[0]} to {valid[-1]}",
        )


def _word(
    who: object, holder: Mapping[str, Any], field: str, valid: tuple[str, ...]
) -> Iterator[Fault]:
    """A string that is none of the valid ones; `field` ends with its key."""
    key = field.rpartition(".")[2]
    word = holder.get(key)
    if isinstance(word, str) and word not in valid:
        yield (
            (key,),
            f"{who} has {field} {quoted(word)}, which is refused; write {listed([*valid])}",
        )
