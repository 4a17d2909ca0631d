"""The API versions that Kubernetes removed, by kind: since which release, and what replaces them.

A server with such a release answers 404, whatever its flags are. Source: `removed_versions.json`.
"""

import json
from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from policygen.core import shipped
from policygen.core.versions import Minor, Version, release
from policygen.kubernetes.object import Object


class Removal(Struct, frozen=True):
    """The removal of a version of a kind."""

    release: Minor
    """The first release of Kubernetes that does not serve it."""
    successor: str | None
    """The apiVersion to write instead; None if Kubernetes removed the kind."""


def find(obj: Object, target: Version) -> Removal | None:
    """The removal of an object's version; None if the target may still serve it."""
    removal = table().get(obj.api_version, {}).get(obj.kind)
    if not removal or target.release < removal.release:
        return None
    return Removal(removal.release, _served(removal.successor, obj.kind, target))


@cache
def table() -> Mapping[str, Mapping[str, Removal]]:
    """All removals by apiVersion and kind."""
    path = shipped.PACKAGE / "lint" / "core" / "removed_versions.json"
    return {
        api_version: {
            kind: Removal(release(since), successor) for kind, (since, successor) in kinds.items()
        }
        for api_version, kinds in json.loads(path.read_text("utf-8"))["kinds"].items()
    }


def _served(api_version: str | None, kind: str, target: Version) -> str | None:
    """A successor that the target serves: itself, or what replaces it in turn."""
    while api_version:
        removal = table().get(api_version, {}).get(kind)
        if not removal or target.release < removal.release:
            break
        api_version = removal.successor
    return api_version
