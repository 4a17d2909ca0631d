"""The requests that commands parse from their arguments. Fast to import, for --help."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from policygen.core import versions
from policygen.core.errors import UsageError
from policygen.core.versions import Version

Targets = Mapping[str, Version]
"""Versions that replace those of the Platform, by component."""


def parse_targets(texts: Mapping[str, str], option: str = "--target") -> Targets:
    """The versions of an option, by component. Raises UsageError for an unsupported version."""
    try:
        return {name: versions.parse(name, text) for name, text in texts.items()}
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


class RenderRequest(NamedTuple):
    """The inputs, target versions and options of `render`."""

    specs: tuple[str, ...]
    """Files, folders, or `-` for standard input."""
    target: Targets
    """Versions that replace the Platform's, by component."""
    extras: frozenset[str] = frozenset()
    """A subset of EXTRAS."""
    only: tuple[str, ...] = ()
    """Kinds to render, in upper or lower case; empty for all."""
    templates: tuple[Path, ...] = ()
    """Folders with templates of the user."""
    allow_empty: bool = False
    cluster: str | None = None
    """One of the clusters of the Platform."""


class ClusterRequest(NamedTuple):
    """The clusters to read, and how to connect to them."""

    snapshots: tuple[Path, ...] = ()
    """Files that `policygen snapshot` wrote."""
    contexts: tuple[str, ...] = ()
    """Contexts of the kubeconfig."""
    in_cluster: bool = False
    """Whether to read the cluster of this pod, with its service account."""
    kubeconfig: Path | None = None
    """None: the files in KUBECONFIG, or the file in the home folder."""
    namespaces: tuple[str, ...] = ()
    """The namespaces in which to read namespaced kinds; empty for all."""
    timeout_s: float = 300.0
    """The time limit for one cluster, in seconds."""

    @property
    def number(self) -> int:
        """The number of clusters to read."""
        return len(self.snapshots) + len(self.contexts) + self.in_cluster

    @property
    def is_live(self) -> bool:
        """Whether to read a live cluster."""
        return bool(self.contexts) or self.in_cluster

    @property
    def named(self) -> bool:
        """Whether to read any cluster."""
        return self.number > 0


class LintRequest(NamedTuple):
    """The inputs, rules and options of `lint`."""

    specs: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()
    """Files, folders, or `-` for standard input."""
    clusters: ClusterRequest = ClusterRequest()
    target: Targets = MappingProxyType({})
    """Versions that replace the Platform's, by component."""
    partial: bool = False
    """Whether the manifests are incomplete, so that missing objects are not reported."""
    only: tuple[str, ...] = ()
    """Rules to run; empty for all."""
    skip: tuple[str, ...] = ()
    extras: frozenset[str] = frozenset()
    """A subset of EXTRAS: the controllers' configurations that must also be on a cluster."""
    templates: tuple[Path, ...] = ()
    """Folders with templates of the user, with which the spec was rendered."""
    baseline: Path | None = None
    """A file with the known findings, which are not new."""
    cluster: str | None = None
    """One of the clusters of the Platform."""


class PatchRequest(NamedTuple):
    """The inputs and options of `patch`."""

    files: tuple[str, ...]
    """Files, folders, or `-` for standard input, with manifests."""
    specs: tuple[str, ...] = ()
    model: str | None = None
    """The model of objects whose label and name do not name one."""
    target: Targets = MappingProxyType({})
    cluster: str | None = None
    """One of the clusters of the Platform."""


class ReviewRequest(NamedTuple):
    """Two states to compare, of which at most one is a snapshot or cluster."""

    old: str | ClusterRequest
    """A path, `git:REVISION:PATH`, `context:NAME`, or the only cluster of options."""
    new: str | ClusterRequest
    target: Targets = MappingProxyType({})
    """Versions that replace the Platform's, by component."""
    access: ClusterRequest = ClusterRequest()
    """How to connect to clusters that `old` or `new` name."""
    cluster: str | None = None
    """One of the clusters of the Platform, of each spec that has clusters."""
    beside: ClusterRequest | None = None
    """The cluster whose workloads may use what is removed, if no state is one."""
    extras: frozenset[str] = frozenset()
    """A subset of EXTRAS, that each spec also renders."""


class SimulateRequest(NamedTuple):
    """The inputs and options of `simulate`."""

    specs: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    """Files and folders with manifests that were named in place of a spec."""
    workloads: tuple[str, ...] = ()
    """Files, folders, or `-` for standard input, with manifests of jobs and of other objects."""
    clusters: ClusterRequest = ClusterRequest()
    """At most one."""
    target: Targets = MappingProxyType({})
    templates: tuple[Path, ...] = ()
    duration: float = 3600.0
    """How long a job runs that does not say it, in seconds."""
    until: float | None = None
    """When the simulation ends, in seconds; None: when all jobs have ended."""
    seed: int = 1
    assume: tuple[str, ...] = ()
    """What people and other controllers do, such as `check/provision=Ready:5m`."""
    trace: Path | None = None
    """A CSV file with jobs."""
    trace_format: str | None = None
    """None: the header of the trace decides."""
    trace_teams: Mapping[str, str] = MappingProxyType({})
    """The team for names of the trace; `*` is any other name."""
    cluster: str | None = None
    """One of the clusters of the Platform."""
    models: bool | None = None
    """Whether the models of the spec are jobs, too; None: if no cluster is read, which has them."""
