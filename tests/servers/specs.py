"""Specs of tests as plain data, for `rendered([platform(), pool(), team(...)])`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Document = dict[str, Any]

PER_NODE = 8
NODE = {"cpu": 96, "memory": "768Gi"}
"""So a GPU has 12 cores and 96Gi."""


def platform(*priorities: Mapping[str, Any], **spec: Any) -> Document:
    """The Platform of set `default`."""
    return _document("Platform", "default", {"priorities": list(priorities), **spec})


def pool(
    name: str = "a100", gpus: int = 8, *, gpu: Mapping[str, Any] | None = None, **spec: Any
) -> Document:
    """A pool of so many cards, whose nodes of 8 carry the label `pool` with its name."""
    return _document(
        "ResourcePool",
        name,
        {
            "nodeSelector": {"pool": name},
            "gpu": {"perNode": PER_NODE, "memory": "80Gi", **(gpu or {})},
            "capacity": {"totalGPUs": gpus, "nodeAllocatable": NODE},
            "scheduler": "kueue",
            **spec,
        },
    )


def share(pool: str = "a100", **numbers: Any) -> Document:
    """What a team may have of a pool: guarantee, limit, weight."""
    return {"pool": pool, **numbers}


def team(
    name: str,
    *quotas: Mapping[str, Any],
    namespaces: Sequence[str] | None = None,
    **spec: Any,
) -> Document:
    """A team, by default in a namespace of its name."""
    names = [name] if namespaces is None else namespaces
    own = {"namespaces": [{"name": each} for each in names]} if names else {}
    return _document("Team", name, {**own, "quotas": [dict(quota) for quota in quotas], **spec})


def model(name: str, team: str, **spec: Any) -> Document:
    """A model of a team."""
    return _document("Model", name, {"team": team, **spec})


def _document(kind: str, name: str, spec: Mapping[str, Any]) -> Document:
    return {
        "apiVersion": "policygen.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": dict(spec),
    }
