"""What real API servers serve: schemas of kinds, as `schemas/cluster` holds them, read when needed."""

from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from policygen.core import shipped, versions

CORE = "core"
"""The folder of the group whose apiVersion has no group in it."""


class Served(msgspec.Struct, frozen=True, rename="camel"):
    """One kind in one version, as a server serves it."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    custom: bool
    """Defined by a CRD: its schema judges. Otherwise Go types read it, and OpenAPI tells of them."""
    status_dropped: bool
    """Status is written by controllers only; what a user sends of it has no effect."""
    schema: dict[str, Any]

    @property
    def api_version(self) -> str:
        """As a manifest writes it."""
        return f"{self.group}/{self.version}" if self.group else self.version


class Index(msgspec.Struct, frozen=True):
    """Which servers were asked, and for what."""

    versions: dict[str, str]
    """Exact version by component: `kubernetes`, `kueue`, `volcano`."""
    kinds: dict[str, list[str]]
    """By group and version, `core/v1` for those without a group."""


def folder() -> Path:
    """Where the schemas are."""
    return shipped.root() / "schemas" / "cluster"


@cache
def index() -> Index:
    """What there is; not to be changed."""
    return msgspec.json.decode((folder() / "index.json").read_bytes(), type=Index)


@cache
def served(api_version: str, kind: str) -> Served | None:
    """A kind's schema; None where no server that was asked serves it."""
    at = api_version if "/" in api_version else f"{CORE}/{api_version}"
    if kind not in index().kinds.get(at, ()):
        return None
    return msgspec.json.decode((folder() / at / f"{kind}.json").read_bytes(), type=Served)


@cache
def object_meta() -> dict[str, Any]:
    """The schema of every kind's metadata; not to be changed."""
    text = (folder() / "meta" / "v1" / "ObjectMeta.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, Any])


def covers(component: str, target: versions.Version) -> bool:
    """Whether the server that was asked is of this target's release or a later one.

    A later target may know fields that here look unknown.
    """
    return versions.parse(component, index().versions[component]).release >= target.release
