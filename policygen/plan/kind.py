"""A kind that can be rendered, and an object of it."""

from typing import Any

from msgspec import Struct


class Release(Struct, frozen=True):
    """The form of a kind since one version of its component."""

    since: tuple[int, int]
    """First minor version of the component (kueue, volcano, kubernetes) that accepts it."""
    api_version: str
    template: str
    """Path below templates/."""


class Kind(Struct, frozen=True):
    """A kind that can be rendered, with one Release per API version, oldest first."""

    name: str
    component: str
    """The component whose version selects the release: `kubernetes`, `kueue` or `volcano`."""
    releases: tuple[Release, ...]
    extra: str = ""
    """The name that `--with` needs to render it; empty if it is always rendered."""
    plural: str = ""
    """Its name in paths of the API, if `schemas/cluster` has no schema of an API version of it.

    Without a schema, no check finds invalid rendered fields, and the kind must have a namespace.
    """


class Meta(Struct, frozen=True):
    """The identity of an object."""

    name: str
    set: str
    """Name of the Platform: the identity of the rendered set on a cluster."""
    namespace: str | None = None


class Item(Struct, frozen=True):
    """One object to render: its kind, the selected release, and its fields.

    `fields` is a frozen struct of the kind's own type with a `meta: Meta`; its template
    sees it as `it` and this Item's kind as `kind` (`kind.name`, `kind.api_version`).
    """

    kind: Kind
    release: Release
    fields: Any

    @property
    def meta(self) -> Meta:
        """The object's identity."""
        meta: Meta = self.fields.meta
        return meta
