"""Notes about a spec, short enough for one screen: grouped by rule, and the fields that pods need."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from policygen.core.finding import Finding
from policygen.core.rule import Rule
from policygen.documents import scalars
from policygen.plan.pods import LABELS, TOLERATIONS, PodField, PodFields
from policygen.plan.rules import (
    AVAILABLE_BELOW_TOTAL,
    MODEL_PLACED,
    OVERCOMMIT_IS_NOT_SHARING,
    PACKING_MARGIN,
    PODS_MUST_CARRY,
)
from policygen.report.phrases import where
from policygen.spec.types import Taint

BACKGROUND: Final = frozenset((AVAILABLE_BELOW_TOTAL, OVERCOMMIT_IS_NOT_SHARING, PACKING_MARGIN))
"""Rules about the spec whose notes need no action."""
SHOWN: Final = 2
"""Notes of one rule that a group shows."""
SHOWN_MODELS: Final = 20
"""Models whose pool a group shows."""

_PLACES: Final = {LABELS: "set these labels on the Job, Deployment or other workload:"}
"""Comments for mappings of another object: Kueue ignores these labels in the template of a Job."""

_SAFE = re.compile(r"[A-Za-z0-9_./-]+")
"""Text without a character that has a meaning in YAML."""


def grouped(notes: Iterable[Finding]) -> Iterator[Finding | str]:
    """Notes for a person: single ones as they are, several of one rule as lines of a group.

    Notes that need no action, and the rest of a group, are only counted. The notes on the fields
    of pods are not included: `pod_fields` returns these.
    """
    by_rule: dict[Rule, list[Finding]] = {}
    hidden = 0
    for note in notes:
        if note.rule in BACKGROUND:
            hidden += 1
        elif note.rule is not PODS_MUST_CARRY:
            by_rule.setdefault(note.rule, []).append(note)
    for rule, group in by_rule.items():
        if len(group) == 1:
            yield group[0]
            continue
        shown = SHOWN_MODELS if rule is MODEL_PLACED else SHOWN
        more = len(group) - shown
        yield f"{group[0].severity}: {rule.summary} ({len(group)} times) [{rule.name}]"
        for note in group[:shown]:
            # A line of this group names its model, and has more room without the place.
            at = "" if rule is MODEL_PLACED else where(note.place)
            yield f"  {f'{at}: ' if at else ''}{note.message}"
        if more > 0:
            yield f"  and {more} more; --all shows them"
    if hidden:
        yield (
            "1 more note needs no action; --all shows it"
            if hidden == 1
            else f"{hidden} more notes need no action; --all shows them"
        )


def pod_fields(pods: Sequence[PodFields]) -> Iterator[str]:
    """Lines with the fields that pods need, in YAML. Models with equal fields share one block."""
    blocks: dict[tuple[str, ...], list[PodFields]] = {}
    for pod in pods:
        blocks.setdefault(tuple(_yaml(pod.fields)), []).append(pod)
    if blocks:
        yield (
            "Add these fields to your pods. Without them, the policy does not apply to the pods "
            f"[{PODS_MUST_CARRY.name}]:"
        )
    for lines, models in blocks.items():
        for pod in models:
            namespace = f" in namespace {pod.namespace}" if pod.namespace else ""
            yield f"# model {pod.model}{namespace}, {pod.resource}: {pod.units}"
        yield from (f"  {line}" for line in lines)


def _yaml(fields: Sequence[PodField]) -> Iterator[str]:
    """A line of YAML for each field of a pod's spec and for each mapping."""
    # A mapping is written once, even if other fields are between its entries.
    ordered = sorted(fields, key=lambda it: [each.owner for each in fields].index(it.owner))
    for owner, group in groupby(ordered, key=lambda it: it.owner):
        entries = list(group)
        if not owner:
            yield from (f"{it.name}: {_scalar(it.value)}" for it in entries)
            continue
        if owner in _PLACES:
            yield f"# {_PLACES[owner]}"
        comment = next((it.comment for it in entries if it.comment), "")
        comment = f"  # {comment}" if comment else ""
        if owner == TOLERATIONS:
            taints = [it.value for it in entries if isinstance(it.value, Taint)]
            yield f"{owner}: [{', '.join(_flow(_toleration(taint)) for taint in taints)}]"
        else:
            yield f"{owner}: {_flow({it.name: it.value for it in entries})}{comment}"


def _toleration(taint: Taint) -> dict[str, str]:
    """The toleration of exactly one taint."""
    if taint.value is None:
        return {"key": taint.key, "operator": "Exists", "effect": taint.effect}
    return {"key": taint.key, "value": taint.value, "effect": taint.effect}


def _flow(mapping: Mapping[str, object]) -> str:
    return f"{{{', '.join(f'{key}: {_scalar(value)}' for key, value in mapping.items())}}}"


def _scalar(value: object) -> str:
    """A value of a label, name or number in YAML; in quotes if another type could be read."""
    if not isinstance(value, str):
        return str(value)
    return value if _SAFE.fullmatch(value) and scalars.read(value) == value else f'"{value}"'
