"""What `policygen diff` does with a spec or manifests: what a change does, before anyone applies it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from policygen.adopt import infer
from policygen.adopt.trees import Scope
from policygen.app import adopt, drift
from policygen.app import compile as compiling
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
from policygen.core.quoting import counted, listed, quoted, some
from policygen.core.rule import Severity
from policygen.documents import files, git_files
from policygen.documents.git_files import GitError
from policygen.documents.parse import mapping
from policygen.drift.changes import What
from policygen.drift.drift import Rendered
from policygen.kubernetes.cluster import Cluster
from policygen.plan.decisions import Decisions
from policygen.review import uses as review_uses
from policygen.review.consequences import Consequences, consequences
from policygen.review.objects import (
    ObjectChange,
    object_changes,
    observed_changes,
    policy,
    unlabelled,
    without_sets,
)
from policygen.review.review import Review
from policygen.review.uses import Use
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
    """The warnings about a spec."""
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


def review(request: ReviewRequest, progress: Progress = lambda _: None) -> Review:
    """Compare two states. Raises SpecError, UsageError, and UnreadError for a cluster."""
    both = request.old, request.new
    specs = {
        index: _of_spec(it, request.target)
        for index, it in enumerate(both)
        if isinstance(it, str) and content(it) is Content.SPEC
    }
    spec = next(iter(specs.values()), None)
    was, now = (
        specs.get(index) or _of_objects(it, request, spec, progress)
        for index, it in enumerate(both)
    )
    read = _of_objects(request.beside, request, None, progress) if request.beside else None
    changes = tuple(_changes(was, now))
    seen = next((it.cluster for it in (was, now, read) if it and it.cluster.seen), None)
    messages = [{(it.rule.name, it.message): it for it in side.findings} for side in (was, now)]
    only_specs = len(specs) == len(both)
    return Review(
        (was.name, now.name),
        _consequences(was, now, models=only_specs),
        changes,
        tuple(it for key, it in messages[1].items() if only_specs and key not in messages[0]),
        tuple(it for key, it in messages[0].items() if only_specs and key not in messages[1]),
        None if seen is None else tuple(_uses(changes, seen)),
        (*_checkout(*both), *was.notes, *now.notes, *_labels(was, now)),
        (*was.unread, *now.unread, *(read.unread if read else ())),
    )


def _of_spec(path: str, target: Targets) -> ReviewSide:
    request = RenderRequest(specs=(path,), target=target)
    compiled = compiling.compiled(request)
    if not compiled.loaded.own:
        raise SpecError(compiling.no_spec((path,), compiled.loaded))
    rendered = drift.rendered(compiled, request)
    warnings = [it for it in compiled.findings if it.severity > Severity.INFO]
    cluster = Cluster(it.object for it in rendered.expected)
    return ReviewSide(path, cluster, compiled.decisions, rendered, warnings)


def _of_objects(
    argument: Argument, request: ReviewRequest, other: ReviewSide | None, progress: Progress
) -> ReviewSide:
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
    decisions, note = _shown(read.cluster, other)
    notes = (f"{name}: {note}",) if note else ()
    return ReviewSide(name, read.cluster, decisions, notes=notes, unread=read.unread)


def _name(cluster: ClusterRequest) -> str:
    names = [*map(str, cluster.snapshots), *(f"{CONTEXT}{it}" for it in cluster.contexts)]
    return names[0] if names else "the cluster"


def _shown(cluster: Cluster, other: ReviewSide | None) -> tuple[Decisions | None, str]:
    """The decisions that objects show, or why they show none."""
    sets = infer.sets(cluster)
    named = other.rendered.name if other and other.rendered else ""
    if named not in sets and len(sets) > 1:
        names = listed([quoted(it) for it in sets], "and")
        return None, f"pools and teams are not compared, because it has the sets {names}"
    of = named if named in sets else next(iter(sets), None)
    scope = Scope(of or Platform().name, rendered=of is not None)
    mine = [it for it in cluster.objects if it.labels.get(SET, scope.name) == scope.name]
    try:
        made = adopt.distilled(Cluster(mine, cluster.seen, cluster.pods), scope)
    except SpecError as error:
        why = next(iter(error.findings)).message
        return (
            None,
            f"pools and teams are not compared, because its objects show no valid spec: {why}",
        )
    return made.compiled.decisions, ""


def _consequences(old: ReviewSide, new: ReviewSide, *, models: bool) -> Consequences:
    if old.decisions is None or new.decisions is None:
        return Consequences((), ())
    found = consequences(old.decisions, new.decisions)
    # Manifests do not show the models of a spec.
    return found if models else Consequences(found.pools, ())


def _changes(old: ReviewSide, new: ReviewSide) -> Iterator[ObjectChange]:
    spaces = {
        it.name
        for side in (old, new)
        if side.decisions
        for team in side.decisions.spec.teams
        for it in team.namespaces
    }
    if old.rendered and new.rendered:
        changes = object_changes(old.cluster.objects, new.cluster.objects, mapping)
        yield from changes if old.rendered.name == new.rendered.name else without_sets(changes)
    elif new.rendered:
        yield from observed_changes(new.rendered, old.cluster, spaces, applied=True)
    elif old.rendered:
        yield from observed_changes(old.rendered, new.cluster, spaces, applied=False)
    else:
        states = [policy(it.cluster, spaces) for it in (old, new)]
        yield from object_changes(states[0], states[1], mapping)


def _uses(changes: Sequence[ObjectChange], cluster: Cluster) -> Iterator[tuple[Use, ...]]:
    removed = [it.object for it in changes if it.what is What.REMOVED]
    new = [it.object for it in changes if it.what is not What.REMOVED]
    state = review_uses.cluster_change(cluster, removed, new)
    for change in changes:
        is_removed = change.what is What.REMOVED
        yield tuple(review_uses.uses(change.object, state)) if is_removed else ()


def _labels(old: ReviewSide, new: ReviewSide) -> Iterator[str]:
    """Notes about labels that name the tool and the set, which are not listed one by one."""
    if old.rendered and new.rendered and old.rendered.name != new.rendered.name:
        yield (
            f"the set is renamed from {quoted(old.rendered.name)} to {quoted(new.rendered.name)}, so the label "
            f"{SET} of every object changes"
        )
    for side, other in ((old, new), (new, old)):
        if side.rendered and not other.rendered:
            count = len(unlabelled(side.rendered, other.cluster))
            if count:
                objects = counted(count, "object")
                yield f"{other.name}: {objects} without the labels of policygen, which are not listed below"


def _checkout(old: Argument, new: Argument) -> Iterator[str]:
    """Notes about changes that are not committed, if a state is a git revision."""
    paths = [it for it in (old, new) if isinstance(it, str) and not it.startswith(CONTEXT)]
    revisions = [it for it in paths if it.startswith(files.GIT) and not Path(it).exists()]
    for path in paths if revisions else ():
        is_revision = path in revisions
        try:
            changed = (
                git_files.uncommitted(path.removeprefix(files.GIT))
                if is_revision
                else git_files.changed_files(path)
            )
        except GitError:  # a path outside the repository
            continue
        if changed:
            names = some([quoted(it) for it in changed], "other")
            end = "are not compared" if is_revision else "are compared, too"
            yield f"{path}: changes that are not committed {end}: {names}"
