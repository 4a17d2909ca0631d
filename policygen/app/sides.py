"""Reads the states that `diff` and `render --steps-from` compare: specs, manifests, snapshots, clusters."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from policygen.adopt import infer
from policygen.adopt.compare import is_policy
from policygen.adopt.trees import Scope
from policygen.app import adopt, drift, render
from policygen.app import compile as compiling
from policygen.app.adopt import Distilled
from policygen.app.compile import Compiled, NoClustersError
from policygen.app.content import CONTEXT, Content, content
from policygen.app.observed import observed
from policygen.app.requests import (
    ClusterRequest,
    LintRequest,
    RenderRequest,
    ReviewRequest,
    Targets,
)
from policygen.client.live import Progress
from policygen.core.errors import SpecError, UsageError
from policygen.core.finding import Finding
from policygen.core.names import SET
from policygen.core.quoting import listed, quoted
from policygen.drift.drift import Rendered
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.plan.decisions import Decisions
from policygen.plan.extras import KUEUE_CONFIG
from policygen.plan.pods import PodFields
from policygen.spec.types import Platform

Argument = str | ClusterRequest
"""What a user named: a path, `git:REVISION:PATH`, or the only cluster of options."""


class ReviewSide(Struct, frozen=True, eq=False):
    """One of the two states."""

    name: str
    cluster: Cluster
    """Its objects; of a spec, those that it renders."""
    decisions: Decisions | None
    """About a spec, or about the spec that the objects show. None if they show none."""
    rendered: Rendered | None = None
    """What the spec renders; None if it is not a spec."""
    findings: Sequence[Finding] = ()
    """About a spec."""
    pods: tuple[PodFields, ...] = ()
    """The fields that the pods of the models of a spec need."""
    renamed: Mapping[tuple[str, str, str], str] = {}
    """By kind, namespace and name of an object of manifests or a cluster: the name that a spec gives it."""
    kueue_base: dict[str, Any] | UnsetType | None = None
    """The Configuration of Kueue that the Platform of a spec names; UNSET if it cannot be read."""
    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def cluster_of(argument: Argument, access: ClusterRequest) -> ClusterRequest | None:
    """The snapshot or live cluster that an argument names; None for a spec and manifests.

    `access` has the options to connect with.
    """
    if isinstance(argument, ClusterRequest):
        return argument
    alone = access._replace(contexts=(), in_cluster=False, snapshots=())
    match content(argument):
        case Content.SNAPSHOT:
            return alone._replace(snapshots=(Path(argument),))
        case Content.CLUSTER:
            return alone._replace(contexts=(argument.removeprefix(CONTEXT),))
    return None


def of_spec(
    path: str, target: Targets, cluster: str | None = None, extras: frozenset[str] = frozenset()
) -> ReviewSide:
    """The state that a spec describes. A spec without clusters is the same for each. Raises SpecError."""
    request = RenderRequest(specs=(path,), target=target, cluster=cluster, extras=extras)
    try:
        return of_request(request, path)
    except NoClustersError:
        return of_spec(path, target, None, extras)


def without_kueue_file(
    path: str, target: Targets, cluster: str | None, extras: frozenset[str]
) -> ReviewSide:
    """The state of a spec whose Platform names no Configuration of Kueue, although one is requested."""
    made = of_spec(path, target, cluster, extras - {KUEUE_CONFIG})
    note = (
        f"{path}: the Platform names no Configuration of Kueue (spec.kueue.configuration), so --with "
        f"{KUEUE_CONFIG} has no effect on it"
    )
    return replace(made, notes=(*made.notes, note))


def of_request(request: RenderRequest, name: str, stdin: BinaryIO | None = None) -> ReviewSide:
    """The state that `render` would print. Raises SpecError and UsageError."""
    compiled = compiling.compiled(request, stdin=stdin)
    if not compiled.loaded.own:
        raise SpecError(compiling.no_spec(request.specs, compiled.loaded))
    rendered = drift.rendered(compiled, request)
    base, notes = _kueue_base(compiled, name)
    return ReviewSide(
        name,
        Cluster(it.object for it in rendered.expected),
        compiled.decisions,
        rendered,
        compiled.findings,
        compiled.plan.pods,
        kueue_base=base,
        notes=notes,
    )


def _kueue_base(
    compiled: Compiled, name: str
) -> tuple[dict[str, Any] | UnsetType | None, tuple[str, ...]]:
    """The Configuration of Kueue that the Platform names, or a note why it cannot be read."""
    if not any(it.scheduler == "kueue" for it in compiled.plan.pools):
        return None, ()
    try:
        return render.kueue_base(compiled.loaded), ()
    except SpecError as error:
        why = next(iter(error.findings)).message
        return UNSET, (f"{name}: its Configuration of Kueue is not compared: {why}",)


def of_objects(
    argument: Argument, request: ReviewRequest, other: ReviewSide | None, progress: Progress
) -> ReviewSide:
    """The state that manifests, a snapshot or a live cluster show. `other` is the spec to compare with.

    Raises SpecError, UsageError and UnreadError.
    """
    cluster = cluster_of(argument, request.access)
    name = argument if isinstance(argument, str) else _name(argument)
    inputs = LintRequest(target=request.target)
    if cluster is not None:
        inputs = inputs._replace(clusters=cluster)
    elif isinstance(argument, str):
        inputs = inputs._replace(manifests=(argument,))
    maps = [it.object.name for it in other.rendered.expected] if other and other.rendered else []
    read = observed(inputs, progress=progress, config_maps=maps)
    if read.cluster.seen is not None and read.cluster.seen.redacted:
        raise UsageError(
            f"{name} has redacted names, so it can only be compared with another snapshot; take a "
            "snapshot without --redact-names"
        )
    made, note = _shown(read.cluster, other)
    return ReviewSide(
        name,
        read.cluster,
        made.compiled.decisions if made else None,
        renamed=made.inferred.renamed if made else {},
        notes=(f"{name}: {note}",) if note else (),
        unread=read.unread,
    )


def _name(cluster: ClusterRequest) -> str:
    names = [*map(str, cluster.snapshots), *(f"{CONTEXT}{it}" for it in cluster.contexts)]
    return names[0] if names else "the cluster"


def _shown(cluster: Cluster, other: ReviewSide | None) -> tuple[Distilled | None, str]:
    """The spec that objects show, or why they show none."""
    sets = infer.sets(cluster)
    named = other.rendered.name if other and other.rendered else ""
    if named not in sets and len(sets) > 1:
        names = listed([quoted(it) for it in sets], "and")
        return None, f"pools and teams are not compared, because it has the sets {names}"
    of = named if named in sets else next(iter(sets), None)
    scope = Scope(of or Platform().name, rendered=of is not None)
    mine = [it for it in cluster.objects if it.labels.get(SET, scope.name) == scope.name]
    try:
        return _distilled(mine, cluster, scope), ""
    except SpecError as error:
        why = next(iter(error.findings)).message
    rest = [it for it in mine if it.labels.get(SET) or not is_policy(it, ())]
    if of is not None and len(rest) < len(mine):
        # A queue made by hand beside those of the set can contradict them.
        try:
            found = _distilled(rest, cluster, scope)
        except SpecError:
            pass
        else:
            return found, f"pools and teams are only those of the set {quoted(of)}: {why}"
    return (
        None,
        f"pools and teams are not compared, because its objects show no valid spec: {why}",
    )


def as_objects(side: ReviewSide, other: ReviewSide) -> Decisions | None:
    """The decisions about a state, read from its objects. `other` is the state to compare with.

    Rendered objects do not show everything that a spec states, and Queues of Volcano show other numbers. So
    both states are read in the same way, with the objects of the other one that no set has.
    """
    if side.rendered is None:
        return side.decisions
    mine = side.cluster.objects
    made = {it.identity for it in mine}
    beside = [
        it for it in other.cluster.objects if not it.labels.get(SET) and it.identity not in made
    ]
    without = [it for it in beside if not is_policy(it, ())]
    # Beside objects of the set, a queue made by hand stays. Without these, the set replaces it.
    is_applied = side.rendered.name in infer.sets(other.cluster)
    for more in (beside, without, []) if is_applied else (without, []):
        try:
            scope = Scope(side.rendered.name, rendered=True)
            return _distilled([*mine, *more], other.cluster, scope).compiled.decisions
        except SpecError:
            continue
    return side.decisions


def _distilled(objects: Sequence[Object], cluster: Cluster, scope: Scope) -> Distilled:
    """The spec that objects of a cluster show. Raises SpecError."""
    return adopt.distilled(Cluster(objects, cluster.seen, cluster.pods), scope)
