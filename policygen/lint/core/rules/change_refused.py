"""The server refuses to change the object on the cluster to what the manifest has."""

import json
from typing import Any

from policygen.api_validation.updates.refused import refused_changes
from policygen.api_validation.updates.states import Data, applied
from policygen.api_validation.updates.update import RefusedChange
from policygen.core.finding import at_path, dotted
from policygen.core.names import DEFAULT_NAMESPACE
from policygen.core.quoting import counted, short
from policygen.drift.kept import kept
from policygen.kubernetes.object import Object
from policygen.kubernetes.renames import written
from policygen.lint.rule import ClusterState, Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Compares each manifest with the object of the same name on the cluster, as an apply does.

    An object that a spec renders counts as applied before.
    Source: `api_validation.updates.refused`.
    """
    from policygen.drift.drift import deleted_at

    state = facts.state
    if state is None:
        return
    for obj in facts.cluster.objects:
        if obj.at in facts.cluster.context:
            continue
        held = state.objects.get(obj.identity)
        if held is None and not obj.namespace:
            held = state.objects.get((obj.group, obj.kind, DEFAULT_NAMESPACE, obj.name))
        if held is not None and not deleted_at(held):
            yield from _hits(obj, held, state)


def _hits(obj: Object, held: Object, state: ClusterState) -> Hits:
    from policygen.drift.drift import alike

    if obj.data == held.data:
        return
    mine, theirs = alike(obj, held)
    stated = kept(mine.data, theirs)
    new = applied(theirs.data, stated)
    where = f"on {state.shown}" if state.seen else "as the spec renders it"
    refusal = "the server refuses this change"
    if not state.seen:
        refusal = "if both are applied, the server refuses the second one"
    if held.namespace != obj.namespace:
        where = f"in namespace {held.namespace} {where}"

    def storage_class(name: str) -> Data | None:
        found = state.objects.get(("storage.k8s.io", "StorageClass", "", name))
        return found.data if found else None

    for refused in refused_changes(theirs.data, new, state.kubernetes, storage_class):
        values = _values(theirs.data, new, refused)
        yield Hit(
            RULE,
            f"{obj} {where} {values}; {refusal}, because {refused.why}; {refused.remedy}",
            obj.at.to(*written(obj, refused.path)),
        )


def _values(old: Any, new: Any, refused: RefusedChange) -> str:
    there, here = at_path(old, refused.path), at_path(new, refused.path)
    name = dotted(refused.path)
    first = f"does not set {name}" if there is None else f"has {name} {_shown(there)}"
    second = "removes it" if here is None else f"has {_shown(here)}"
    others = refused.fields - 1
    more = f" ({counted(others, 'other field')} changed too)" if others else ""
    return f"{first}, but the manifest {second}{more}"


def _shown(value: Any) -> str:
    return short(json.dumps(value, ensure_ascii=False, default=str))


RULE = ObjectRule(
    "change-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Delete the object and create it again, or keep the old value.",
    judges=(),
    check=check,
    needs=frozenset({Need.STATE}),
)
