"""The toleration that was probably meant for some taints, and how to change it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from policygen.core.finding import Path
from policygen.core.quoting import as_yaml
from policygen.core.suggest import is_near
from policygen.core.tolerations import tolerates
from policygen.kubernetes.core import TaintView, TolerationView
from policygen.kubernetes.node_filters import HARD

BOTH = "value and effect"
"""If a toleration that matches no taint differs in both, it was meant for another taint."""


class NearToleration(NamedTuple):
    """A toleration that does not match all of some taints with one key."""

    path: Path
    """The field that differs, or the entry, below the object with `tolerations`."""
    field: str
    """What differs from the taints: `key`, `value`, `effect`, or BOTH."""
    written: str
    """The wrong value of the field; empty if it is missing, or if both differ."""
    advice: str


def near_toleration(
    tolerations: Sequence[TolerationView], missed: Sequence[TaintView], every: Iterable[TaintView]
) -> NearToleration | None:
    """The first such toleration. `missed` have one key; its remedy keeps what it tolerates of `every` now."""
    key = missed[0].key
    hard = {it for it in every if it.effect in HARD}
    keys = {it.key for it in hard}
    for number, toleration in enumerate(tolerations):
        kept = {it for it in hard if it.key == key and tolerates(toleration, it)}
        for field, advice, change in _changes(missed) if toleration.key == key else ():
            changed = replace(toleration, **change)
            if (kept or field != BOTH) and all(tolerates(changed, it) for it in kept.union(missed)):
                written = getattr(toleration, field) if field in change else ""
                return _near(number, field, written, advice)
    for number, it in enumerate(tolerations):
        misspelt = it.key and it.key not in keys and is_near(it.key, key)
        if misspelt and all(tolerates(replace(it, key=key), taint) for taint in missed):
            return _near(number, "key", it.key, f"write key: {key}")
    return None


def _near(number: int, field: str, written: str, advice: str) -> NearToleration:
    at: Path = ("tolerations", number)
    return NearToleration((*at, field) if written else at, field, written, advice)


def _changes(missed: Sequence[TaintView]) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Changes of a toleration: the field that differs, the remedy, and the new values; small ones first."""
    if len(missed) == 1:
        [taint] = missed
        if taint.value:
            yield "value", f"write value: {as_yaml(taint.value)}", {"value": taint.value}
        yield "effect", f"write effect: {taint.effect}", {"effect": taint.effect}
    exists = {"operator": "Exists", "value": ""}
    yield "effect", "remove effect, so that it matches every effect", {"effect": ""}
    yield "value", "write operator: Exists, and remove value", exists
    advice = "write operator: Exists, and remove value and effect"
    yield BOTH, advice, {**exists, "effect": ""}
