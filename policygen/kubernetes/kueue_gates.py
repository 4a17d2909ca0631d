"""Kueue's feature gates by release: which gates exist, and whether they are on."""

import json
from functools import cache

from policygen.core import shipped
from policygen.core.versions import Minor, Version, release


@cache
def _table() -> dict[str, list[tuple[Minor, str | None]]]:
    data = json.loads((shipped.PACKAGE / "kubernetes" / "kueue_gates.json").read_text("utf-8"))
    return {
        gate: [(release(since), state) for since, state in states.items()]
        for gate, states in data["gates"].items()
    }


def names(version: Version) -> list[str]:
    """The gates that a release has."""
    return [gate for gate in _table() if known(gate, version)]


def known(gate: str, version: Version) -> bool:
    """Whether a release has the gate."""
    return _state(gate, version) is not None


def on(gate: str, version: Version) -> bool:
    """Whether a gate is on by default; False if the release does not have it."""
    return (_state(gate, version) or "").endswith("on")


def beta(gate: str, version: Version) -> bool:
    """Whether `AllBeta` switches a gate, and not `AllAlpha`; gates that are on by default are beta."""
    return (_state(gate, version) or "") in ("on", "beta-off")


def locked(gate: str, version: Version) -> bool:
    """Whether a gate can no longer be switched."""
    return (_state(gate, version) or "").startswith("locked")


@cache
def _state(gate: str, version: Version) -> str | None:
    found = None
    for since, state in _table().get(gate, ()):
        if since <= version.release:
            found = state
    return found
