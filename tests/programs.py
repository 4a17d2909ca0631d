"""policygen as a program that other programs call, and what pip needs to install it without a network."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]


def policygen(folder: Path) -> Path:
    """Put the program `policygen` of this checkout into a folder, for the PATH; returns the folder."""
    folder.mkdir(exist_ok=True)
    program = folder / "policygen"
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m policygen "$@"\n', "utf-8"
    )
    program.chmod(0o755)
    return folder


def offline() -> Mapping[str, str]:
    """Variables with which pip installs policygen into another environment beside the libraries of this one."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(it for it in sys.path if it.endswith("site-packages")),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",
    }
