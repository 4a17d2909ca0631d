"""Finds the running control plane: --kubeconfig, $KUBECONFIG, or the KUBECONFIG.path file."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

PATH_FILE = Path(__file__).parents[2] / "KUBECONFIG.path"


def kubeconfig_option(given: str | None) -> Path:
    """The kubeconfig of a bench; raises if it is not one that `up` has written."""
    chosen = given or os.environ.get("KUBECONFIG")
    if not chosen and PATH_FILE.is_file():
        chosen = PATH_FILE.read_text(encoding="utf-8").strip()
    if not chosen:
        raise argparse.ArgumentTypeError(f"no --kubeconfig, no $KUBECONFIG and no {PATH_FILE}")
    path = Path(chosen)
    if not path.with_name("info.json").is_file():
        raise argparse.ArgumentTypeError(f"{path}: no control plane of `up` (info.json is missing)")
    return path
