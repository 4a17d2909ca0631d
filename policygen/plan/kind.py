"""A kind that can be rendered, an object of it, and a file of a controller."""

from typing import Any

from msgspec import Struct

from policygen.core.names import MANAGED_BY, SET, TOOL


class Release(Struct, frozen=True):
    """The form of a kind since one version of its component."""

    since: tuple[int, int]
    """First minor version of the component (kueue, volcano, kubernetes) that accepts it."""
    api_version: str
    template: str
    """Path below templates/."""


class Kind(Struct, frozen=True):
    """A kind that can be rendered, with one Release per API version, oldest first.

    Several families can have a kind of the same name, each with its own template and generator.
    """

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

    @property
    def api_versions(self) -> tuple[str, ...]:
        """The API versions of its releases, oldest first."""
        return tuple(it.api_version for it in self.releases)

    @property
    def family(self) -> tuple[str, str]:
        """The part of the plan that decides its objects: `--with` name and component."""
        return self.extra, self.component


class Meta(Struct, frozen=True):
    """The identity of an object."""

    name: str
    set: str
    """Name of the Platform: the identity of the rendered set on a cluster."""
    namespace: str | None = None
    own_labels: dict[str, str] = {}
    """Labels in addition to those of all rendered objects."""
    annotations: dict[str, str] = {}

    @property
    def labels(self) -> dict[str, str]:
        """All labels."""
        return {MANAGED_BY: TOOL, SET: self.set, **self.own_labels}


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


class File(Struct, frozen=True):
    """A file inside a ConfigMap. It is rendered from its own template first."""

    item: Item
    """Its fields. Their `meta` is that of the ConfigMap."""
    key: str
    """The key of the ConfigMap that contains it."""
    extra: str = ""
    """The `--with` name of the family of the ConfigMap."""
