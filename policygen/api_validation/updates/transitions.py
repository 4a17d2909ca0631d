"""Changes that the rules of CRDs about `oldSelf` refuse (`cel.TRANSITIONS`)."""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from policygen.api_validation import schemas
from policygen.api_validation.cel import TRANSITIONS, Frozen
from policygen.api_validation.structural import Schema
from policygen.api_validation.updates.update import ObjectUpdate, RefusedChange
from policygen.core.finding import Path, at_path


class _Transition(NamedTuple):
    """A CEL rule about `oldSelf`."""

    path: Path
    """The value that has the rule."""
    rule: Frozen
    why: str


@cache
def _transitions(api_version: str, kind: str) -> tuple[_Transition, ...]:
    served = schemas.served(api_version, kind)
    return tuple(_of_schema(served.schema, ())) if served else ()


def _of_schema(schema: Schema, path: Path) -> Iterator[_Transition]:
    for rule in schema.get("x-kubernetes-validations", ()):
        found = TRANSITIONS.get(rule["rule"])
        if found is not None:
            name = (*path, *found.field)[-1]
            _, when, condition = rule["message"].partition(" immutable ")
            yield _Transition(path, found, f"{name} is immutable{when and ' '}{condition}")
    for key, inside in schema.get("properties", {}).items():
        yield from _of_schema(inside, (*path, key))


def by_cel(update: ObjectUpdate) -> Iterator[RefusedChange]:
    """The refusals by CEL rules. Such a rule only runs if both states have the value."""
    api_version, kind = (str(update.old.get(it, "")) for it in ("apiVersion", "kind"))
    for path, rule, why in _transitions(api_version, kind):
        old, new = (at_path(it, path) for it in (update.old, update.new))
        if old is None or new is None:
            continue
        try:
            frozen = rule.when(new, old)
        except (AttributeError, KeyError, TypeError):  # a field has a wrong type
            frozen = False
        if not frozen:
            continue
        if rule.presence and (at_path(old, rule.field) is None) == (
            at_path(new, rule.field) is None
        ):
            continue
        yield from update.refused((*path, *rule.field), why)
