"""What kube-scheduler refuses of the arguments of its plugins, but for those of NodeResourcesFit.

Source: pkg/scheduler/apis/config/validation/validation_pluginargs.go of Kubernetes 1.36.3.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policygen.core import durations
from policygen.core.finding import Path
from policygen.core.label_grammar import key_fault
from policygen.core.quoting import listed, quoted, shown
from policygen.kubernetes.untyped import mapping, mappings, numbered
from policygen.lint.core.typed_fields import Fault, Type, right

_OPERATORS: Mapping[str, bool | None] = {
    "In": True,
    "NotIn": True,
    "Exists": False,
    "DoesNotExist": False,
    "Gt": None,
    "Lt": None,
}
"""Operators of a node's labels, and whether they take values; None: exactly one."""
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def faults(plugin: str, args: Mapping[str, Any]) -> Iterator[Fault]:
    """Everything that would be named, below `args`."""
    kind = args.get("kind")
    if plugin in (*_CHECKS, "NodeResourcesFit") and kind not in (None, f"{plugin}Args"):
        yield ("kind",), f"kind {shown(kind)} is refused; write {plugin}Args, or leave it out"
    check = _CHECKS.get(plugin)
    if check:
        yield from check(args)


def _preemption(args: Mapping[str, Any]) -> Iterator[Fault]:
    share, count = (
        right(args, f"minCandidateNodes{it}", Type.INTEGER) for it in ("Percentage", "Absolute")
    )
    if share is not None and not 0 <= share <= 100:
        name = "minCandidateNodesPercentage"
        yield (name,), f"{name} {share} is refused; write 0 to 100"
    if count is not None and count < 0:
        name = "minCandidateNodesAbsolute"
        yield (name,), f"{name} {count} is refused; write 0 or more"
    if share == count == 0:
        yield (
            ("minCandidateNodesPercentage",),
            (
                "minCandidateNodesPercentage and minCandidateNodesAbsolute of 0 are refused; "
                "write 1 or more in one of them"
            ),
        )


def _inter_pod(args: Mapping[str, Any]) -> Iterator[Fault]:
    weight = right(args, "hardPodAffinityWeight", Type.INTEGER)
    if weight is not None and not 0 <= weight <= 100:
        name = "hardPodAffinityWeight"
        yield (name,), f"{name} {weight} is refused; write 0 to 100"


def _binding(args: Mapping[str, Any]) -> Iterator[Fault]:
    limit = right(args, "bindTimeoutSeconds", Type.INTEGER)
    if limit is not None and limit < 0:
        yield ("bindTimeoutSeconds",), f"bindTimeoutSeconds {limit} is refused; write 0 or more"


def _dynamic(args: Mapping[str, Any]) -> Iterator[Fault]:
    for name, least in (("filterTimeout", 0), ("bindingTimeout", 1)):
        limit = durations.seconds(right(args, name, Type.DURATION))
        if limit is not None and limit < least:
            yield (name,), f"{name} {args[name]} is refused; write {least}s or more"


def _balanced(args: Mapping[str, Any]) -> Iterator[Fault]:
    plugin = "NodeResourcesBalancedAllocation"
    seen = set()
    for i, each in enumerate(mappings(args.get("resources"))):
        name, weight = each.get("name"), each.get("weight")
        if weight not in (None, 0, 1):
            yield (
                ("resources", i, "weight"),
                f"weight {weight} is refused: {plugin} takes 1 only; leave it out",
            )
        if isinstance(name, str):
            if name in seen:
                yield ("resources", i, "name"), f"{name} stands here twice, which is refused"
            seen.add(name)


def _spread(args: Mapping[str, Any]) -> Iterator[Fault]:
    constraints = args.get("defaultConstraints")
    kind = args.get("defaultingType") or "System"
    if kind not in ("System", "List"):
        yield ("defaultingType",), f"defaultingType {shown(kind)} is refused; write System or List"
    elif constraints and kind != "List":
        yield (
            ("defaultConstraints",),
            "defaultConstraints without defaultingType: List is refused; write it",
        )
    seen: set[tuple[Any, Any]] = set()
    for i, each in numbered(constraints):
        yield from _constraint(each, ("defaultConstraints", i), seen)


def _constraint(each: Mapping[str, Any], way: Path, seen: set[tuple[Any, Any]]) -> Iterator[Fault]:
    if each.get("labelSelector") is not None:
        yield (
            (*way, "labelSelector"),
            (
                "a labelSelector in a default constraint is refused; remove it, since each pod's "
                "own is taken"
            ),
        )
    skew, key = each.get("maxSkew", 0), each.get("topologyKey", "")
    action = each.get("whenUnsatisfiable", "")
    if isinstance(skew, int) and skew <= 0:
        yield (*way, "maxSkew"), f"maxSkew {skew} is refused; write 1 or more"
    if isinstance(key, str) and (fault := key_fault(key)):
        yield (*way, "topologyKey"), f"topologyKey: {fault}" if key else "topologyKey is missing"
    if action not in _ACTIONS:
        said = f"whenUnsatisfiable {shown(action)} is refused" if action else "it is missing"
        yield (*way, "whenUnsatisfiable"), f"{said}; write {listed(list(_ACTIONS))}"
    elif isinstance(key, str):
        if (key, action) in seen:
            yield way, f"{key} with {action} stands here twice, which is refused; take one out"
        seen.add((key, action))


def _affinity(args: Mapping[str, Any]) -> Iterator[Fault]:
    added = mapping(args, "addedAffinity")
    way: Path = ("addedAffinity", _REQUIRED, "nodeSelectorTerms")
    for i, term in enumerate(mappings(added, _REQUIRED, "nodeSelectorTerms")):
        yield from _term(term, (*way, i))
    for i, each in enumerate(mappings(added, _PREFERRED)):
        yield from _term(
            mapping(each, "preference"), ("addedAffinity", _PREFERRED, i, "preference")
        )


def _term(term: Mapping[str, Any], way: Path) -> Iterator[Fault]:
    for i, each in enumerate(mappings(term.get("matchExpressions"))):
        at: Path = (*way, "matchExpressions", i)
        operator, values = each.get("operator"), each.get("values") or []
        if not isinstance(operator, str) or operator not in _OPERATORS:
            known = listed(list(_OPERATORS))
            yield (*at, "operator"), f"operator {shown(operator)} is refused; write {known}"
            continue
        wants, key = _OPERATORS[operator], each.get("key")
        if wants is None and len(values) != 1:
            yield (*at, "values"), f"operator {operator} takes one value; write it"
        elif wants is not None and wants is not bool(values):
            what = "needs values; write them" if wants else "takes no values; take them out"
            yield (*at, "values") if values else at, f"operator {operator} {what}"
        if isinstance(key, str) and key_fault(key):
            yield (*at, "key"), f"{quoted(key)} is no label key, which is refused"


_CHECKS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Fault]]] = {
    "DefaultPreemption": _preemption,
    "DynamicResources": _dynamic,
    "InterPodAffinity": _inter_pod,
    "NodeAffinity": _affinity,
    "NodeResourcesBalancedAllocation": _balanced,
    "PodTopologySpread": _spread,
    "VolumeBinding": _binding,
}
