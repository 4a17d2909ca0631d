"""Misspelled fields of kinds that create pods but whose CRD is not recorded: JobSet, Ray, Kubeflow and others.

Their pod templates have the fields of Kubernetes. Of their own fields, only those are known that rules read.
A field is reported only if it resembles a missing one: others may be fields of a newer operator.
"""

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from policygen.api_validation import schemas
from policygen.api_validation.prevalidate import acceptor
from policygen.api_validation.refusal import Reason, Refusal
from policygen.api_validation.refusals import refusals
from policygen.core.finding import Path
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import TEMPLATES, TemplateLocation, pod_templates

_JOB = "batch/v1", "Job"
_TEMPLATE = "spec", "template"
"""The pod template of a Job, whose schema is that of all pod templates."""
_KEYS = 1000
"""The comparisons of keys that are kept: objects of a kind mostly have the same keys."""
_ALIKE = 0.9
"""How close a field must be to a missing one: minReplicas is no misspelled replicas."""


def misspelt(obj: Object, *, many: bool = False) -> Iterator[Refusal]:
    """The unknown fields that resemble a missing one, of an object without a recorded schema.

    `many`: there are enough objects of the kind for prevalidation.
    """
    locations = TEMPLATES.get((obj.group, obj.kind))
    if locations is None:
        return
    seen: set[Path] = set()
    for location in locations:
        for refusal in _of_location(obj.data, location):
            if refusal.path not in seen:
                seen.add(refusal.path)
                yield refusal
    for path, template in pod_templates(obj):
        yield from _of_template(path, template, many=many)


def _of_template(path: Path, template: Mapping[str, Any], *, many: bool) -> Iterator[Refusal]:
    served = schemas.served(*_JOB)
    job: dict[str, Any] = {"apiVersion": _JOB[0], "kind": _JOB[1], "metadata": {"name": "a"}}
    job["spec"] = {"template": template}
    if served is None or (many and acceptor(*_JOB).accepts(job)):
        return
    for refusal in refusals(job, served):
        is_inside = refusal.path[: len(_TEMPLATE)] == _TEMPLATE
        if refusal.reason is Reason.UNKNOWN_FIELD and refusal.meant and is_inside:
            yield refusal._replace(path=(*path, *refusal.path[len(_TEMPLATE) :]))


def _of_location(data: Any, location: TemplateLocation) -> Iterator[Refusal]:
    yield from _along(data, (), location.templates)
    if "*" not in location.templates:
        return
    ahead = location.templates[: location.templates.index("*")]
    for path, item in _items(data, ahead):
        for field in (location.replicas, location.times, location.at_most):
            yield from _along(item, path, field)


def _items(data: Any, ahead: Path) -> Iterator[tuple[Path, Any]]:
    for step in ahead:
        data = data.get(step) if isinstance(data, dict) else None
    if isinstance(data, list):
        yield from (((*ahead, i), item) for i, item in enumerate(data))
    elif isinstance(data, dict):
        yield from (((*ahead, str(key)), item) for key, item in data.items())


def _along(data: Any, above: Path, steps: Path) -> Iterator[Refusal]:
    """The keys that are written instead of one of the steps."""
    if not steps:
        return
    step, *rest = steps
    if step == "*":
        for path, item in _items(data, ()):
            yield from _along(item, (*above, *path), tuple(rest))
    elif isinstance(data, dict) and step in data:
        yield from _along(data[step], (*above, step), tuple(rest))
    elif isinstance(data, dict):
        for key in data:
            if isinstance(key, str) and _is_like(key, str(step)):
                where = f" in {above[-1]}" if above and isinstance(above[-1], str) else ""
                message = f'field "{key}" is unknown{where}; did you mean "{step}"?'
                yield Refusal(
                    (*above, key), Reason.UNKNOWN_FIELD, message, key=True, meant=str(step)
                )


@lru_cache(_KEYS)
def _is_like(key: str, field: str) -> bool:
    return SequenceMatcher(None, key.lower(), field.lower()).ratio() >= _ALIKE
