"""Misspelled and mistyped fields of kinds that create pods but whose pods no recorded schema describes.

Their pod templates have the fields of Kubernetes. Of their own fields, only those are known that rules
read, unless their CRD is recorded, as that of JobSet, Ray and Kubeflow. A field is reported only if it
resembles a missing one: others may be fields of a newer operator.
"""

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from functools import cache, lru_cache
from typing import Any

from policygen.api_validation import schemas
from policygen.api_validation.prevalidate import acceptor
from policygen.api_validation.refusal import Reason, Refusal
from policygen.api_validation.refusals import refusals
from policygen.core.finding import Path, at_path
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import TEMPLATES, TemplateLocation, pod_templates

_JOB = "batch/v1", "Job"
_TEMPLATE = "spec", "template"
"""The pod template of a Job, whose schema is that of all pod templates."""
_POD = *_TEMPLATE, "spec"
_KEYS = 1000
"""The comparisons of keys that are kept: objects of a kind mostly have the same keys."""
_ALIKE = 0.9
"""How close a field must be to a missing one: minReplicas is no misspelled replicas."""


def misspelt(obj: Object, *, many: bool = False) -> Iterator[Refusal]:
    """The unknown fields that resemble a missing one, and in pods also values of a wrong type.

    With a recorded schema, only those of the pods that it does not describe. `many`: there are enough
    objects of the kind for prevalidation.
    """
    if schemas.served(obj.api_version, obj.kind) is not None:
        for steps in pod_paths(obj.api_version, obj.kind):
            for path, pod in _follow(obj.data, steps, ()):
                if isinstance(pod, dict):
                    yield from _of_template(path[:-1], {"spec": pod}, _POD, many=many)
        return
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
        yield from _of_template(path, template, _TEMPLATE, many=many)


@cache
def pod_paths(api_version: str, kind: str) -> tuple[Path, ...]:
    """Where objects of a kind have pods that their schema does not describe; "*" is every entry."""
    served = schemas.served(api_version, kind)
    return tuple(_marked(served.schema, ())) if served is not None and served.custom else ()


def _marked(schema: Mapping[str, Any], path: Path) -> Iterator[Path]:
    if "x-policygen-pod" in schema:
        yield path
    for name, part in schema.get("properties", {}).items():
        yield from _marked(part, (*path, name))
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from _marked(schema[key], (*path, "*"))


def _follow(data: Any, steps: Path, path: Path) -> Iterator[tuple[Path, Any]]:
    """The values at a path, each with its own path."""
    if not steps:
        yield path, data
    elif steps[0] == "*":
        for below, item in _items(data, ()):
            yield from _follow(item, steps[1:], (*path, *below))
    elif isinstance(data, dict) and steps[0] in data:
        yield from _follow(data[steps[0]], steps[1:], (*path, steps[0]))


def _of_template(
    path: Path, template: Mapping[str, Any], inside: Path, *, many: bool
) -> Iterator[Refusal]:
    served = schemas.served(*_JOB)
    job: dict[str, Any] = {"apiVersion": _JOB[0], "kind": _JOB[1], "metadata": {"name": "a"}}
    job["spec"] = {"template": template}
    if served is None or (many and acceptor(*_JOB).accepts(job)):
        return
    for refusal in refusals(job, served):
        is_inside = refusal.path[: len(inside)] == inside
        misspelt = refusal.reason is Reason.UNKNOWN_FIELD and refusal.meant
        if is_inside and (misspelt or _is_mistyped(job, refusal)):
            yield refusal._replace(path=(*path, *refusal.path[len(_TEMPLATE) :]))


def _is_mistyped(job: Mapping[str, Any], refusal: Refusal) -> bool:
    """Whether a custom kind cannot have the value either, in which 1.0 is an integer."""
    return refusal.reason is Reason.TYPE and not isinstance(at_path(job, refusal.path), float)


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
