"""What an argument of a command names: a spec, manifests, a snapshot or a live cluster."""

import stat
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Final

from policygen.client.snapshot_file import is_snapshot
from policygen.documents import files
from policygen.documents.files import Source
from policygen.kubernetes import manifests

CONTEXT: Final = "context:"
"""Begins the name of a live cluster: `context:NAME` of a kubeconfig."""


_SNAPSHOT = ".snapshot"


class Content(Enum):
    """What an argument names."""

    SPEC = "spec"
    MANIFESTS = "manifests"
    SNAPSHOT = "snapshot"
    CLUSTER = "cluster"


def content(argument: str) -> Content:
    """What an argument names, by what its files contain.

    A path that cannot be read is a snapshot if it ends in `.snapshot`, or else a spec. So are a pipe and
    `-`, since they can be read only once.
    """
    if argument == "-" or _is_pipe(argument):
        return Content.SPEC
    if argument.startswith(CONTEXT) and not Path(argument).exists():
        return Content.CLUSTER
    if is_snapshot(argument) or argument.endswith(_SNAPSHOT):
        return Content.SNAPSHOT
    return Content.MANIFESTS if _has_manifests(files.read((argument,))[0]) else Content.SPEC


def _has_manifests(sources: Sequence[Source]) -> bool:
    return (
        bool(sources)
        and not manifests.has_spec(sources)
        and any(manifests.read((it,)).objects for it in sources)
    )


def _is_pipe(path: str) -> bool:
    """Whether a path exists, but is no file or folder."""
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
