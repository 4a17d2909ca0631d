"""The steps that change a cluster to match the spec, and the kubectl command of each."""

import json
import shlex
from collections.abc import Callable, Sequence
from enum import Enum

from msgspec import UNSET, Struct
from msgspec.structs import replace

from policygen.api_validation import schemas
from policygen.core.finding import Path
from policygen.core.quantity import parse
from policygen.drift.compare import FieldDifference
from policygen.drift.drift import KEPT, Changed, Drift, RenderedObject
from policygen.drift.immutable import refusal
from policygen.drift.patch_forms import Operation, alone, operations
from policygen.drift.rule_names import CHANGED, MANAGED_BY_ANOTHER, MISSING, ORPHANED
from policygen.kubernetes.cluster import VOLCANO
from policygen.kubernetes.object import Object
from policygen.plan.catalog import KINDS

Keep = Callable[[str, Object, Path], bool]
"""Whether to fix the finding of a rule at a field of an object."""


_PLURALS = {(it, kind.name): kind.plural for kind in KINDS for it in kind.api_versions}

_AMOUNTS = (("spec", "deserved"), ("spec", "capability"), ("spec", "guarantee"))
"""The fields with the amounts of a Volcano Queue."""

_IN_USE = "kueue.x-k8s.io/resource-in-use"


class Act(Enum):
    """How an object is changed."""

    PATCH = "patch"
    CREATE = "create"
    RECREATE = "recreate"
    """Delete and create, since the server refuses a change."""
    DELETE = "delete"


class PatchStep(Struct, frozen=True, eq=False):
    """One change of one object."""

    act: Act
    object: Object
    patch: tuple[Operation, ...] = ()
    text: str = ""
    """The manifest to create."""
    held: bool = False
    """Kueue's finalizer keeps it while other objects refer to it, so a delete needs more commands."""
    foreign: bool = False
    """Whether another tool, spec or controller manages the object."""


def steps(drift: Drift, keep: Keep) -> list[PatchStep]:
    """The steps for the findings in `keep`, in apply order; orphans are last.

    An orphan is deleted before the objects that it refers to. Too large amounts of Volcano's queues
    are reduced first, from the leaves up, since its webhook always refuses children that exceed
    their parent.
    """
    missing = {id(it.item): it for it in drift.missing if keep(MISSING, it.object, ())}
    changed = {id(it.expected.item): it for it in drift.changed}
    leaving = {
        id(expected.item): _anew(expected, found)
        for expected, found in drift.leaving
        if keep(MISSING, found, ()) and found.kind != KEPT
    }
    made: list[PatchStep] = []
    lowered: list[PatchStep] = []
    for item in drift.order:
        if id(item) in missing:
            expected = missing[id(item)]
            made.append(PatchStep(Act.CREATE, expected.object, text=expected.text))
        elif id(item) in leaving:
            made.append(leaving[id(item)])
        elif id(item) in changed:
            less, more = _steps(changed[id(item)], keep)
            lowered += less
            made += more
    rank = {kind.name: index for index, kind in enumerate(KINDS)}
    orphans = [it for it in drift.orphans if keep(ORPHANED, it, ())]
    orphans.sort(key=lambda it: -rank[it.kind])
    return [*reversed(lowered), *made, *(PatchStep(Act.DELETE, it) for it in orphans)]


def _steps(changed: Changed, keep: Keep) -> tuple[list[PatchStep], list[PatchStep]]:
    """The steps that reduce amounts of a queue, and all other steps."""
    expected, found = changed.expected, changed.found
    if changed.older:
        return [], []
    kept = [it for it in changed.fields if keep(CHANGED, found, it.path)]
    kept += [it for it in changed.labels if keep(MANAGED_BY_ANOTHER, found, it.path)]
    foreign = bool(changed.labels or changed.controllers)
    if any(refusal(found.data, it) for it in kept):
        return [], [replace(_anew(expected, found), foreign=foreign)]
    queue = (found.group, found.kind) == (VOLCANO, "Queue")
    less = [it for it in kept if queue and _exceeds(it)]
    parts = less, [it for it in kept if it not in less]
    patches = [tuple(operations(expected.data, found.data, part)) for part in parts]
    lowered, others = (
        [PatchStep(Act.PATCH, found, it, foreign=foreign)] if it else [] for it in patches
    )
    return lowered, others


def _anew(expected: RenderedObject, found: Object) -> PatchStep:
    held = found.data.get("metadata", {}).get("finalizers") == [_IN_USE]
    return PatchStep(Act.RECREATE, expected.object, text=expected.text, held=held)


def _exceeds(difference: FieldDifference) -> bool:
    """Whether a queue has more of a resource than the spec renders."""
    if difference.path[:2] not in _AMOUNTS or isinstance(difference.found, dict):
        return False
    try:
        values = (difference.expected, difference.found)
        amounts = [0 if it is UNSET else parse(it).value for it in values]
    except ValueError:
        return False
    return amounts[0] < amounts[1]


def resource(target: Object) -> str:
    """The resource name of the kind for kubectl, in the API version that was read."""
    served = schemas.served(target.api_version, target.kind)
    plural = served.plural if served else _PLURALS[target.api_version, target.kind]
    return f"{plural}.{target.version}.{target.group}" if target.group else plural


def patch_command(
    expected: Object, found: Object, difference: FieldDifference, begin: Sequence[str]
) -> str:
    """The shell command that fixes one difference; `begin` is the result of `kubectl`."""
    form, patch = alone(expected.data, found.data, difference)
    text = json.dumps(patch, ensure_ascii=False, separators=(",", ":"))
    return shlex.join([*begin, "patch", *named(found), f"--type={form}", "-p", text])


def kubectl(context: str, kubeconfig: str = "") -> list[str]:
    """The beginning of every command, which names the cluster.

    Without a context, kubectl uses its default cluster; in a pod, the cluster of the pod.
    """
    if not context:
        return ["kubectl"]
    return ["kubectl", *(["--kubeconfig", kubeconfig] if kubeconfig else []), "--context", context]


def named(target: Object) -> list[str]:
    """The arguments of kubectl for an object."""
    where = ["-n", target.namespace] if target.namespace else []
    # A ClusterRole can have such a name; `--all` would be an option.
    if target.name.startswith("-"):
        return [f"{resource(target)}/{target.name}", *where]
    return [resource(target), target.name, *where]
