"""The schemas of kinds that real API servers serve, read from `schemas/cluster` when needed."""

from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from policygen.core import shipped, versions
from policygen.core.decoding import decode

CORE = "core"
"""The folder of the core group, whose apiVersion has no group."""


class ServedKind(msgspec.Struct, frozen=True, rename="camel"):
    """One kind in one version, as a server serves it."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    custom: bool
    """Whether a CRD with a schema defines it. Otherwise Go types read it, and OpenAPI describes them."""
    status_dropped: bool
    """Whether only controllers write status, so a status from a user has no effect."""
    schema: dict[str, Any]

    @property
    def api_version(self) -> str:
        """The apiVersion as in a manifest."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def name(self) -> str:
        """The apiVersion and the kind: `apps/v1 Deployment`."""
        return f"{self.api_version} {self.kind}"


class Index(msgspec.Struct, frozen=True):
    """The servers and kinds that were recorded."""

    versions: dict[str, str]
    """Exact version by component: `kubernetes`, `kueue`, `volcano`."""
    kinds: dict[str, list[str]]
    """Kinds by group and version, `core/v1` for the core group."""


def folder() -> Path:
    """The folder of the schemas."""
    return shipped.root() / "schemas" / "cluster"


@cache
def index() -> Index:
    """The index of the schemas; do not change it."""
    return decode((folder() / "index.json").read_bytes(), Index)


@cache
def served(api_version: str, kind: str) -> ServedKind | None:
    """A kind's schema; None if no recorded server serves it."""
    at = api_version if "/" in api_version else f"{CORE}/{api_version}"
    if kind not in index().kinds.get(at, ()):
        return None
    return decode((folder() / at / f"{kind}.json").read_bytes(), ServedKind)


@cache
def object_meta() -> dict[str, Any]:
    """The schema of every kind's metadata; do not change it."""
    text = (folder() / "meta" / "v1" / "ObjectMeta.json").read_bytes()
    return decode(text, dict[str, Any])


def covers(component: str, target: versions.Version) -> bool:
    """Whether the recorded server has this target's release or a later one.

    A later target may have fields that the schema does not list.
    """
    return versions.parse(component, index().versions[component]).release >= target.release
