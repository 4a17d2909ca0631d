"""The plugin arguments that kube-scheduler refuses, except those of NodeResourcesFit.

Source: pkg/scheduler/apis/config/validation/validation_pluginargs.go of Kubernetes 1.36.3.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policygen.core import durations, go_values
from policygen.core.finding import Fault, Path
from policygen.core.label_grammar import key_fault, value_fault
from policygen.core.quoting import listed, quoted, shown
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.pod_terms import PREFERRED
from policygen.kubernetes.untyped import mapping, mappings
from policygen.lint.core.typed_fields import Type, right

_OPERATORS: Mapping[str, bool | None] = {
    "In": True,
    "NotIn": True,
    "Exists": False,
    "DoesNotExist": False,
    "Gt": None,
    "Lt": None,
}
"""Operators on node labels, and whether they take values; None: exactly one value."""
_VERSION = "kubescheduler.config.k8s.io/v1"
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")

_RANGES: Mapping[str, tuple[tuple[str, int, int | None], ...]] = {
    "DefaultPreemption": (
        ("minCandidateNodesPercentage", 0, 100),
        ("minCandidateNodesAbsolute", 0, None),
    ),
    "InterPodAffinity": (("hardPodAffinityWeight", 0, 100),),
    "VolumeBinding": (("bindTimeoutSeconds", 0, None),),
}
"""The integer arguments of plugins, each with its lowest and its highest value, if it has one."""


def faults(plugin: str, args: Mapping[str, Any]) -> Iterator[Fault]:
    """Every fault that kube-scheduler would report, with paths below `args`."""
    kind = args.get("kind")
    known = (*_RANGES, *_CHECKS)
    if plugin in known and kind not in (None, "", f"{plugin}Args"):
        yield ("kind",), f"kind {shown(kind)} is refused; write {plugin}Args, or remove kind"
    version = args.get("apiVersion")
    if plugin in known and version not in (None, "", _VERSION):
        yield ("apiVersion",), f"apiVersion {shown(version)} is refused; write {_VERSION}"
    for name, low, high in _RANGES.get(plugin, ()):
        value = right(args, name, Type.INTEGER)
        if value is not None and (value < low or (high is not None and value > high)):
            message = f"{name} {value} is refused; write {low} to {high}"
            if high is None:
                message = f"{name} {value} is refused; write {low} or more"
            yield (name,), message
    check = _CHECKS.get(plugin)
    if check:
        yield from check(args)


def _preemption(args: Mapping[str, Any]) -> Iterator[Fault]:
    share, count = (
        right(args, f"minCandidateNodes{it}", Type.INTEGER) for it in ("Percentage", "Absolute")
    )
    if share == count == 0:
        yield (
            ("minCandidateNodesPercentage",),
            "minCandidateNodesPercentage and minCandidateNodesAbsolute are both 0, which is refused; write 1 or more in one of them",
        )


def _dynamic(args: Mapping[str, Any]) -> Iterator[Fault]:
    for name, least in (("filterTimeout", 0), ("bindingTimeout", 1)):
        limit = durations.seconds(right(args, name, Type.DURATION))
        if limit is not None and limit < least:
            yield (name,), f"{name} {args[name]} is refused; write {least}s or more"


def _balanced(args: Mapping[str, Any]) -> Iterator[Fault]:
    plugin = "NodeResourcesBalancedAllocation"
    seen = set()
    for i, resource in enumerate(mappings(args.get("resources"))):
        name, weight = resource.get("name") or "", resource.get("weight")
        if weight not in (None, 0, 1):
            yield (
                ("resources", i, "weight"),
                f"weight {weight} is refused, because {plugin} accepts only 1; remove the weight",
            )
        if isinstance(name, str):
            if name in seen:
                yield (
                    ("resources", i, "name"),
                    f"{name} is listed twice, which is refused; remove one of the entries",
                )
            seen.add(name)


def _spread(args: Mapping[str, Any]) -> Iterator[Fault]:
    constraints = args.get("defaultConstraints")
    kind = args.get("defaultingType") or "System"
    if kind not in ("System", "List"):
        yield ("defaultingType",), f"defaultingType {shown(kind)} is refused; write System or List"
    elif constraints and kind != "List":
        yield (
            ("defaultConstraints",),
            "defaultConstraints without defaultingType: List are refused; write defaultingType: List",
        )
    seen: set[tuple[Any, Any]] = set()
    for i, constraint in enumerate(constraints if isinstance(constraints, list) else ()):
        if isinstance(constraint, dict | None):
            yield from _constraint(constraint or {}, ("defaultConstraints", i), seen)


def _constraint(
    constraint: Mapping[str, Any], path: Path, seen: set[tuple[Any, Any]]
) -> Iterator[Fault]:
    if constraint.get("labelSelector") is not None:
        yield (
            (*path, "labelSelector"),
            "labelSelector in a default constraint is refused, because kube-scheduler uses the labels of each pod; remove labelSelector",
        )
    skew, key = constraint.get("maxSkew") or 0, constraint.get("topologyKey") or ""
    action = constraint.get("whenUnsatisfiable") or ""
    if isinstance(skew, int) and skew <= 0:
        yield (*path, "maxSkew"), f"maxSkew {skew} is refused; write 1 or more"
    if isinstance(key, str) and (fault := key_fault(key)):
        yield (
            (*path, "topologyKey"),
            f"topologyKey: {fault}" if key else "topologyKey is missing; write topologyKey",
        )
    if action not in _ACTIONS:
        fault = "whenUnsatisfiable is missing"
        if action:
            fault = f"whenUnsatisfiable {shown(action)} is refused"
        yield (*path, "whenUnsatisfiable"), f"{fault}; write {listed(list(_ACTIONS))}"
    elif isinstance(key, str):
        if (key, action) in seen:
            yield (
                path,
                f"{key} with {action} is listed twice, which is refused; remove one of the entries",
            )
        seen.add((key, action))


def _fit(args: Mapping[str, Any]) -> Iterator[Fault]:
    for field in ("ignoredResources", "ignoredResourceGroups"):
        for i, name in enumerate(right(args, field, Type.TEXTS) or ()):
            if key_fault(name or ""):
                yield (field, i), f"{quoted(name or '')} is not a valid name; write a valid name"
            elif field == "ignoredResourceGroups" and "/" in name:
                message = f"{quoted(name)} is the name of a resource; write only the part before /"
                yield (field, i), message


def _binding(args: Mapping[str, Any]) -> Iterator[Fault]:
    if args.get("shape") is not None:
        yield (
            ("shape",),
            "shape is refused unless the feature gate StorageCapacityScoring is enabled, which it is not by default; remove shape",
        )


def _affinity(args: Mapping[str, Any]) -> Iterator[Fault]:
    added = mapping(args, "addedAffinity")
    path: Path = ("addedAffinity", REQUIRED, "nodeSelectorTerms")
    for i, term in enumerate(mappings(added, REQUIRED, "nodeSelectorTerms")):
        yield from _term(term, (*path, i))
    for i, preferred in enumerate(mappings(added, PREFERRED)):
        if not preferred.get("weight"):
            continue  # kube-scheduler does not read it
        yield from _term(
            mapping(preferred, "preference"), ("addedAffinity", PREFERRED, i, "preference")
        )


def _term(term: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    """Source: k8s.io/component-helpers scheduling/corev1/nodeaffinity, newNodeSelectorTerm."""
    for i, expression in enumerate(mappings(term.get("matchExpressions"))):
        yield from _expression(expression, (*path, "matchExpressions", i))
    for i, expression in enumerate(mappings(term.get("matchFields"))):
        at: Path = (*path, "matchFields", i)
        operator, values = expression.get("operator"), expression.get("values") or []
        if operator not in ("In", "NotIn"):
            yield (*at, "operator"), f"operator {shown(operator)} is refused; write In or NotIn"
        elif len(values) != 1:
            yield (*at, "values"), f"operator {operator} needs exactly one value; write one value"


def _expression(expression: Mapping[str, Any], at: Path) -> Iterator[Fault]:
    operator, values = expression.get("operator"), expression.get("values") or []
    if not isinstance(operator, str) or operator not in _OPERATORS:
        known = listed(list(_OPERATORS))
        yield (*at, "operator"), f"operator {shown(operator)} is refused; write {known}"
        return
    takes_values, key = _OPERATORS[operator], expression.get("key") or ""
    if takes_values is None and len(values) != 1:
        yield (*at, "values"), f"operator {operator} needs exactly one value; write one value"
    elif takes_values is not None and takes_values is not bool(values):
        message = (
            f"operator {operator} needs values; write at least one value"
            if takes_values
            else f"operator {operator} accepts no values; remove the values"
        )
        yield (*at, "values") if values else at, message
    for i, value in enumerate(values):
        fault = value_fault(value) if isinstance(value, str) else None
        is_number = isinstance(value, str) and go_values.integer(value) is not None
        if fault is None and takes_values is None and not is_number:
            fault = f"operator {operator} needs an integer, not {shown(value)}; write an integer"
        if fault is not None:
            yield (*at, "values", i), fault
    if isinstance(key, str) and key_fault(key):
        yield (*at, "key"), f"{quoted(key)} is not a valid label key; write a valid label key"


_CHECKS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Fault]]] = {
    "DefaultPreemption": _preemption,
    "DynamicResources": _dynamic,
    "NodeAffinity": _affinity,
    "NodeResourcesBalancedAllocation": _balanced,
    "NodeResourcesFit": _fit,
    "PodTopologySpread": _spread,
    "VolumeBinding": _binding,
}
