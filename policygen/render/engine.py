"""Items to manifests: each kind's template lays out what the plan decided."""

from collections.abc import Sequence
from pathlib import Path

from policygen.plan.kind import Item
from policygen.render.environment import Shipped, documents, environment
from policygen.render.manifest import Manifest
from policygen.spec.types import Target


def render(
    items: Sequence[Item], *, templates: Sequence[Path] = (), target: Target | None = None
) -> list[Manifest]:
    """One manifest an item, in the same order.

    `templates` are folders of a user's own templates, the first to be asked first; with any
    of them everything is rendered in the sandbox, see `sandbox.render` for what it promises.

    Raises UsageError, naming template, line, kind and object, where a template fails.
    """
    if templates:
        from policygen.render import sandbox  # noqa: PLC0415 - rarely needed

        texts = sandbox.render(items, templates, target)
    else:
        texts = list(documents(environment(Shipped()), items))
    return [Manifest(item, text) for item, text in zip(items, texts, strict=True)]
