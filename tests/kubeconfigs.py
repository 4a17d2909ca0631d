"""A kubeconfig with one context, as tests write it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


def write(
    path: Path, server: str, user: dict[str, Any], context: str = "x", **cluster: Any
) -> Path:
    """Writes a kubeconfig with one user, one server and one current context; returns its path.

    `cluster` has more fields of the cluster entry: `certificate_authority_data` sets that key.
    """
    fields = {name.replace("_", "-"): value for name, value in cluster.items()}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": server, **fields}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": context, "context": {"cluster": "c", "user": "u"}}],
        "current-context": context,
    }
    path.write_text(yaml.safe_dump(config, sort_keys=False), "utf-8")
    return path
