"""What a command is asked to do, parsed from its arguments once. Cheap to import, for --help."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from policygen.core import versions
from policygen.core.errors import UsageError
from policygen.core.versions import Version

Targets = Mapping[str, Version]
"""Versions that replace those of the Platform, by component."""


def parse_targets(texts: Mapping[str, str]) -> Targets:
    """The versions that `--target` names, by component. Raises UsageError for one that is not supported."""
    try:
        return {name: versions.parse(name, text) for name, text in texts.items()}
    except ValueError as error:
        raise UsageError(f"--target: {error}") from None


class RenderRequest(NamedTuple):
    """What is read, for which versions, and what is made of it."""

    specs: tuple[str, ...]
    """Files, folders, or `-` for standard input."""
    target: Targets
    """Versions that replace the Platform's, by component."""
    extras: frozenset[str] = frozenset()
    """Some of EXTRAS."""
    only: tuple[str, ...] = ()
    """Kinds to render, in any case of letters; none for all."""
    templates: tuple[Path, ...] = ()
    """Folders of a user's own templates."""
    allow_empty: bool = False


class ClusterRequest(NamedTuple):
    """Which clusters are looked at, and how."""

    snapshots: tuple[Path, ...] = ()
    """Files that `policygen snapshot` wrote."""
    contexts: tuple[str, ...] = ()
    """Of the kubeconfig."""
    in_cluster: bool = False
    """The cluster that this process is a pod of, as its own identity."""
    kubeconfig: Path | None = None
    """None: what KUBECONFIG names, or the file in the home folder."""
    namespaces: tuple[str, ...] = ()
    """The only ones to read objects of namespaced kinds in; none: all."""
    timeout_s: float = 300.0
    """For all that is read of one cluster."""

    @property
    def number(self) -> int:
        """How many clusters are to be looked at."""
        return len(self.snapshots) + len(self.contexts) + self.in_cluster

    @property
    def named(self) -> bool:
        """Whether any cluster is to be looked at."""
        return self.number > 0


class LintRequest(NamedTuple):
    """What is judged, by which rules."""

    specs: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()
    """Files, folders, or `-` for standard input."""
    clusters: ClusterRequest = ClusterRequest()
    target: Targets = MappingProxyType({})
    """Versions that replace the Platform's, by component."""
    partial: bool = False
    """The manifests are not all: what is missing among them may be elsewhere."""
    only: tuple[str, ...] = ()
    """Rules to run; none for all."""
    skip: tuple[str, ...] = ()
    extras: frozenset[str] = frozenset()
    """Some of EXTRAS: what of the controllers' configuration is to be on a cluster, too."""
    templates: tuple[Path, ...] = ()
    """Folders of a user's own templates, with which the spec was rendered."""
    baseline: Path | None = None
    """A file of findings that are not new."""
