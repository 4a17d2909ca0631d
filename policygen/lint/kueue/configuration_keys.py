"""The keys of Kueue's Configuration, by API version and release."""

import json
from collections.abc import Mapping
from functools import cache

from policygen.core import shipped
from policygen.core.versions import Minor, release

Keys = Mapping[str, Minor | None]
"""Paths such as `multiKueue.externalFrameworks[].name`, and the first release of each."""


@cache
def of(version: str) -> Keys:
    """The keys of an API version; empty for an unknown version."""
    text = (shipped.PACKAGE / "lint" / "kueue" / "configuration_keys.json").read_text("utf-8")
    keys = json.loads(text)["keys"].get(version, {})
    return {path: release(since) if since else None for path, since in keys.items()}


@cache
def parents(version: str) -> frozenset[str]:
    """The paths below which the list of keys is complete."""
    return frozenset(path.rpartition(".")[0] for path in of(version))
