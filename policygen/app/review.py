"""What `policygen diff` does with a spec or manifests: what a change does, before anyone applies it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

from policygen.app import drift, kueue_file, not_compared, sides
from policygen.app.content import CONTEXT, Content, content
from policygen.app.render import NoConfigurationError
from policygen.app.requests import ReviewRequest
from policygen.app.sides import Argument, ReviewSide
from policygen.client.live import Progress
from policygen.core.errors import UsageError
from policygen.core.finding import At
from policygen.core.names import SET
from policygen.core.quoting import counted, quoted, some
from policygen.core.rule import Severity
from policygen.core.versions import DEFAULT
from policygen.documents import files, git_files
from policygen.documents.git_files import GitError
from policygen.documents.parse import mapping
from policygen.drift.changes import What
from policygen.kubernetes import kueue_settings
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_settings import Settings
from policygen.kubernetes.object import Object
from policygen.plan.extras import KUEUE_CONFIG, WORKLOADS
from policygen.review import uses as review_uses
from policygen.review.apply_order import ApplyOrder, apply_order
from policygen.review.consequences import Consequences, consequences, renamed_queues
from policygen.review.kueue_settings import SettingChange, setting_changes
from policygen.review.objects import (
    ObjectChange,
    object_changes,
    observed_changes,
    other_sets,
    policy,
    unlabelled,
    without_sets,
)
from policygen.review.renames import with_names
from policygen.review.review import Review
from policygen.review.uses import ClusterChange, Use


def review(request: ReviewRequest, progress: Progress = lambda _: None) -> Review:
    """Compare two states. Raises SpecError, UsageError, and UnreadError for a cluster."""
    both = request.old, request.new
    specs = _specs(request)
    options = {"--with": request.extras, "--cluster": request.cluster}
    for option in (name for name, given in options.items() if given and not specs):
        raise UsageError(f"{option} is about a spec, but neither side is a spec; omit {option}")
    spec = next(iter(specs.values()), None)
    was, now = (
        specs.get(index) or sides.of_objects(it, request, spec, progress)
        for index, it in enumerate(both)
    )
    read = sides.of_objects(request.beside, request, None, progress) if request.beside else None
    changes = changes_between(was, now)
    seen = next((it.cluster for it in (was, now, read) if it and it.cluster.seen), None)
    state = _changed(changes, seen or was.cluster)
    messages = [
        {(it.rule.name, it.message): it for it in side.findings if it.severity > Severity.INFO}
        for side in (was, now)
    ]
    only_specs = len(specs) == len(both)
    found = replace(_consequences(was, now), kueue=_kueue(was, now, request))
    return Review(
        (was.name, now.name),
        found,
        tuple(changes),
        tuple(it for key, it in messages[1].items() if only_specs and key not in messages[0]),
        tuple(it for key, it in messages[0].items() if only_specs and key not in messages[1]),
        None if seen is None else tuple(_uses(changes, state)),
        (
            *_checkout(*both),
            *was.notes,
            *now.notes,
            *_labels(was, now),
            *_notes_of_options(
                was, now, request, changed=bool(changes or found.pools or found.models)
            ),
        ),
        (*was.unread, *now.unread, *(read.unread if read else ())),
        # Nothing is applied to come to the state of a cluster.
        ApplyOrder()
        if now.cluster.seen
        else apply_order(was.cluster, now.cluster, changes, state.after),
        tuple(_steps_command(was, now, request)),
        _not_compared(found, request),
        _kueue_not_compared(found, request),
    )


def _specs(request: ReviewRequest) -> dict[int, ReviewSide]:
    """The sides that are specs, by their index. A spec can add the Configuration of Kueue to a set."""
    named = {
        index: it
        for index, it in enumerate((request.old, request.new))
        if isinstance(it, str) and content(it) is Content.SPEC
    }
    options = request.target, request.cluster, request.extras
    found, missing = dict[int, ReviewSide](), dict[int, NoConfigurationError]()
    for index, path in named.items():
        try:
            found[index] = sides.of_spec(path, *options)
        except NoConfigurationError as error:
            missing[index] = error
    for index, why in missing.items():
        if not found:
            raise why
        found[index] = sides.without_kueue_file(named[index], *options)
    return found


def _kueue(old: ReviewSide, new: ReviewSide, request: ReviewRequest) -> tuple[SettingChange, ...]:
    """The settings of Kueue that change, if both sides show them."""
    was, now = (_kueue_settings(it, other, request) for it, other in ((old, new), (new, old)))
    return setting_changes(was, now) if was and now else ()


def _kueue_settings(side: ReviewSide, other: ReviewSide, request: ReviewRequest) -> Settings | None:
    """The settings of Kueue on one side; None if it does not show them.

    Of two specs, one that names no file needs its settings in the file of the other one.
    """
    if side.rendered is None or side.decisions is None:
        of_spec = (
            other.decisions.platform.target.kueue if other.rendered and other.decisions else None
        )
        target = request.target.get("kueue") or of_spec or DEFAULT["kueue"]
        shows = side.cluster.kueue_configurations.any
        return kueue_settings.first(side.cluster, target) if shows else None
    if other.rendered is None and KUEUE_CONFIG not in request.extras:
        return None
    own = side.kueue_base if other.rendered is None or side.kueue_base else other.kueue_base
    if own is UNSET or side.kueue_base is UNSET:
        return None
    return kueue_file.settings(side.decisions, own, At(drift.DOCUMENT, ("kueue",)))


def _kueue_not_compared(found: Consequences, request: ReviewRequest) -> str:
    """Why the file with changed settings of Kueue is not one of the compared objects."""
    if KUEUE_CONFIG in request.extras or not found.kueue:
        return ""
    return f"the file is compared only with --with {KUEUE_CONFIG}"


def _not_compared(found: Consequences, request: ReviewRequest) -> str:
    """What is not compared about models whose own objects change."""
    if WORKLOADS in request.extras or not any(it.new_objects for it in found.models):
        return ""
    return f"the objects that run them are compared only with --with {WORKLOADS}"


def _notes_of_options(
    old: ReviewSide, new: ReviewSide, request: ReviewRequest, *, changed: bool
) -> Iterator[str]:
    """Notes about objects that are not compared because an option is not set."""
    if old.rendered and new.rendered:
        same = not changed and old.rendered.name == new.rendered.name
        if old.decisions and new.decisions and same:
            yield from not_compared.of_specs(old.decisions, new.decisions, request.extras)
        return
    for side, other in ((old, new), (new, old)):
        if side.rendered and not other.rendered:
            yield from not_compared.of_objects(other.name, other.cluster, side.rendered)


def _steps_command(old: ReviewSide, new: ReviewSide, request: ReviewRequest) -> Iterator[str]:
    if new.rendered is None or new.decisions is None:
        return
    yield from ("policygen", "render", new.name)
    if new.decisions.platform.cluster is not None:
        yield from ("--cluster", new.decisions.platform.cluster.name)
    for component, version in request.target.items():
        yield from ("--target", f"{component}={version}")
    for extra in sorted(request.extras):
        yield from ("--with", extra)
    yield from ("--steps-from", old.name, "-o", "steps/")


def _consequences(old: ReviewSide, new: ReviewSide) -> Consequences:
    if old.decisions is None or new.decisions is None:
        return Consequences((), ())
    if old.rendered and new.rendered:
        return consequences(old.decisions, new.decisions)
    # Manifests do not show the models of a spec.
    was, now = sides.as_objects(old, new), sides.as_objects(new, old)
    return replace(consequences(was, now), models=()) if was and now else Consequences((), ())


def changes_between(old: ReviewSide, new: ReviewSide) -> Sequence[ObjectChange]:
    """The objects that differ between two states, with the names of renamed ones."""
    known = {key: name for key, name in old.renamed.items() if new.rendered}
    if old.rendered:
        known |= {(*key[:2], name): key[2] for key, name in new.renamed.items()}
    if old.decisions and new.decisions:
        known |= renamed_queues(old.decisions, new.decisions)
    return with_names(_changes(old, new), known, mapping)


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


def _uses(changes: Sequence[ObjectChange], state: ClusterChange) -> Iterator[tuple[Use, ...]]:
    for change in changes:
        is_removed = change.what is What.REMOVED
        yield tuple(review_uses.uses(change.object, state)) if is_removed else ()


def _changed(changes: Sequence[ObjectChange], cluster: Cluster) -> ClusterChange:
    """A cluster before and after the changes."""
    removed = [it.object for it in changes if it.what is What.REMOVED]
    new = [it.object for it in changes if it.what is not What.REMOVED]
    return review_uses.cluster_change(cluster, removed, new)


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
            for name, count in sorted(other_sets(side.rendered, other.cluster).items()):
                objects = counted(count, "object")
                verb = "is" if count == 1 else "are"
                yield f"{other.name}: {objects} of the set {quoted(name)} {verb} not compared, because another spec renders this set"
        if side.rendered and (others := _strangers(side, other)):
            names = some([str(it) for it in others], "other")
            yield (
                f"{other.name}: {names} {'is' if len(others) == 1 else 'are'} of no team of {side.name}, so they are "
                f"probably those of another spec with the same name of its set ({quoted(side.rendered.name)}); write "
                "a Platform with another metadata.name in one of the specs"
            )
            return


def _strangers(side: ReviewSide, other: ReviewSide) -> tuple[Object, ...]:
    """The objects of a side that are probably those of another spec than the one that the first side renders."""
    same = other.rendered is None or (side.rendered and other.rendered.name == side.rendered.name)
    return side.rendered.against(other.cluster).strangers if side.rendered and same else ()


def _checkout(old: Argument, new: Argument) -> Iterator[str]:
    """Notes about changes that are not committed, if a state is a git revision.

    A change that the other state has is in one note only.
    """
    paths = [it for it in (old, new) if isinstance(it, str) and not it.startswith(CONTEXT)]
    revisions = [it for it in paths if it.startswith(files.GIT) and not Path(it).exists()]
    if not revisions:
        return
    changed = {it: _uncommitted(it, is_revision=it in revisions) for it in paths}
    compared = {name for it in paths if it not in revisions for name in changed[it]}
    for path, names in changed.items():
        is_revision = path in revisions
        shown = [it for it in names if not is_revision or it not in compared]
        if shown:
            end = "are not compared" if is_revision else "are compared, too"
            those = some([quoted(it) for it in shown], "other")
            yield f"{path}: changes that are not committed {end}: {those}"


def _uncommitted(path: str, *, is_revision: bool) -> tuple[str, ...]:
    """The files below a path that the working tree changes; none for a path outside the repository."""
    try:
        if is_revision:
            return git_files.uncommitted(path.removeprefix(files.GIT))
        return git_files.changed_files(path)
    except GitError:
        return ()
