"""The plugin arguments that kube-scheduler refuses, except those of NodeResourcesFit.

Source: pkg/scheduler/apis/config/validation/validation_pluginargs.go of Kubernetes 1.36.3.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policygen.core import durations
from policygen.core.finding import Fault, Path
from policygen.core.label_grammar import key_fault
from policygen.core.quoting import listed, quoted, shown
from policygen.kubernetes.untyped import mapping, mappings, numbered
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
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

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
    known = (*_RANGES, *_CHECKS, "NodeResourcesFit")
    if plugin in known and kind not in (None, f"{plugin}Args"):
        yield ("kind",), f"kind {shown(kind)} is refused; write {plugin}Args, or remove kind"
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
        name, weight = resource.get("name"), resource.get("weight")
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
    for i, constraint in numbered(constraints):
        yield from _constraint(constraint, ("defaultConstraints", i), seen)


def _constraint(
    constraint: Mapping[str, Any], path: Path, seen: set[tuple[Any, Any]]
) -> Iterator[Fault]:
    if constraint.get("labelSelector") is not None:
        yield (
            (*path, "labelSelector"),
            "labelSelector in a default constraint is refused, because kube-scheduler uses the labels of each pod; remove labelSelector",
        )
    skew, key = constraint.get("maxSkew", 0), constraint.get("topologyKey", "")
    action = constraint.get("whenUnsatisfiable", "")
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


def _affinity(args: Mapping[str, Any]) -> Iterator[Fault]:
    added = mapping(args, "addedAffinity")
    path: Path = ("addedAffinity", _REQUIRED, "nodeSelectorTerms")
    for i, term in enumerate(mappings(added, _REQUIRED, "nodeSelectorTerms")):
        yield from _term(term, (*path, i))
    for i, preferred in enumerate(mappings(added, _PREFERRED)):
        yield from _term(
            mapping(preferred, "preference"), ("addedAffinity", _PREFERRED, i, "preference")
        )


def _term(term: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    for i, expression in enumerate(mappings(term.get("matchExpressions"))):
        at: Path = (*path, "matchExpressions", i)
        operator, values = expression.get("operator"), expression.get("values") or []
        if not isinstance(operator, str) or operator not in _OPERATORS:
            known = listed(list(_OPERATORS))
            yield (*at, "operator"), f"operator {shown(operator)} is refused; write {known}"
            continue
        takes_values, key = _OPERATORS[operator], expression.get("key")
        if takes_values is None and len(values) != 1:
            yield (*at, "values"), f"operator {operator} needs exactly one value; write one value"
        elif takes_values is not None and takes_values is not bool(values):
            message = (
                f"operator {operator} needs values; write at least one value"
                if takes_values
                else f"operator {operator} accepts no values; remove the values"
            )
            yield (*at, "values") if values else at, message
        if isinstance(key, str) and key_fault(key):
            yield (*at, "key"), f"{quoted(key)} is not a valid label key; write a valid label key"


_CHECKS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Fault]]] = {
    "DefaultPreemption": _preemption,
    "DynamicResources": _dynamic,
    "NodeAffinity": _affinity,
    "NodeResourcesBalancedAllocation": _balanced,
    "PodTopologySpread": _spread,
}
