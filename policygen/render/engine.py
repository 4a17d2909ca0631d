"""Renders items to manifests: the template of each kind lays out the values of the plan."""

from collections.abc import Sequence
from pathlib import Path

from policygen.plan.kind import Item
from policygen.render.environment import documents, of_shipped
from policygen.render.manifest import Manifest
from policygen.spec.types import Target


def render(
    items: Sequence[Item], *, templates: Sequence[Path] = (), target: Target | None = None
) -> list[Manifest]:
    """One manifest per item, in the same order.

    `templates` are folders of the user's templates; the first folder has precedence. If there is
    any, everything is rendered in the sandbox (`sandbox.render` lists its guarantees).

    Raises UsageError with template, line, kind and object if a template fails.
    """
    if templates:
        from policygen.render import sandbox  # noqa: PLC0415 - rarely needed

        texts = sandbox.render(items, templates, target)
    else:
        texts = list(documents(of_shipped(), items))
    return [Manifest(item, text) for item, text in zip(items, texts, strict=True)]
