"""What `policygen diff` does: two looks at a cluster, what changed between them, and what that means."""

import tempfile
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from msgspec import Struct

from policygen import linting, snapshots
from policygen.cluster import snapshot as files
from policygen.cluster.live import Progress
from policygen.cluster.seen import Seen, Snapshot
from policygen.drift import changes
from policygen.drift.changes import Change
from policygen.errors import UsageError
from policygen.finding import Finding, Verdict
from policygen.report.report import Report
from policygen.settings import ClusterSettings
from policygen.settings import LintSettings as Settings
from policygen.spec.compose import mapping

_JUDGED = {Verdict.PASS, Verdict.FAIL, Verdict.VACUOUS}


class Differences(Struct, frozen=True):
    """What there is to say of two looks."""

    before: Seen
    after: Seen
    changes: tuple[Change, ...]
    new: tuple[Finding, ...]
    gone: tuple[Finding, ...]
    incomparable: tuple[str, ...]
    """Kinds that one of the looks lacks, and rules that one of them could not judge."""


def compare(
    settings: Settings,
    before: Path,
    after: Path | None,
    *,
    today: date,
    progress: Progress,
) -> Differences:
    """Compare two snapshots, or one with the live cluster that the settings name.

    Raises UsageError for what is no snapshot or cannot be reached, and SpecError.
    """
    if after is not None:
        return _compare(settings, before, after, today)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "now.snapshot"
        # What the first look knew of is asked for again, with whatever spec.
        known = _read(before).seen.config_maps
        said = snapshots.take(settings, path, progress=progress, config_maps=known)
        if not path.exists():
            raise UsageError(said[0])
        return _compare(settings, before, path, today)


def _compare(settings: Settings, before: Path, after: Path, today: date) -> Differences:
    was, now = _read(before), _read(after)
    if (was.seen.redacted, was.seen.key) != (now.seen.redacted, now.seen.key) or _is_alone(
        was.seen
    ):
        raise UsageError(
            f"{before} and {after} do not have the same names: what --redact-names wrote compares only "
            "where both were taken with one --key-file"
        )
    reports = [
        linting.lint(settings._replace(clusters=ClusterSettings(snapshots=(path,))), today=today)
        for path in (before, after)
    ]
    judged = [{it.rule for it in report.rules if it.verdict in _JUDGED} for report in reports]
    both = judged[0] & judged[1]
    ran = {it.rule for it in reports[0].rules}
    old, new = (
        {_identity(it): it for it in report.findings if it.rule in both or it.rule not in ran}
        for report in reports
    )
    return Differences(
        before=was.seen,
        after=now.seen,
        changes=tuple(changes.changes(was, now, mapping)),
        new=tuple(it for key, it in new.items() if key not in old),
        gone=tuple(it for key, it in old.items() if key not in new),
        incomparable=(*_kinds(was, now), *_config_maps(was, now), *_rules(reports)),
    )


def _read(path: Path) -> Snapshot:
    try:
        with path.open("rb") as file:
            snapshot = files.read(file)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except files.SnapshotError as error:
        raise UsageError(f"{path} {error}") from None
    return snapshot


def _is_alone(seen: Seen) -> bool:
    """Whether nobody can tell what its names are hashes with, as of older files."""
    return seen.redacted and not seen.key


def _identity(it: Finding) -> tuple[str, str, str]:
    """Whatever the cluster is called: the same rule at the same field, or with the same words."""
    return it.rule, it.object, it.anchor if it.object else it.message


def _kinds(was: Snapshot, now: Snapshot) -> Iterator[str]:
    known = [changes.readable(it.seen) for it in (was, now)]
    for kind in sorted(known[0] ^ known[1]):
        which = "first" if kind not in known[0] else "second"
        yield f"{kind}: not read for the {which}"


def _config_maps(was: Snapshot, now: Snapshot) -> Iterator[str]:
    """ConfigMaps that one of the looks did not ask for, since they are read by name."""
    for which, one, other in (("first", now, was), ("second", was, now)):
        for it in changes.unasked(one, other):
            yield f"{it}: not asked for in the {which}; take both with the same spec"


def _rules(reports: Sequence[Report]) -> Iterator[str]:
    """Rules that could judge one of the looks only."""
    first, second = ({it.rule: it for it in report.rules} for report in reports)
    for name, one in first.items():
        other = second[name]
        if (one.verdict in _JUDGED) != (other.verdict in _JUDGED):
            which, ended = ("second", other) if one.verdict in _JUDGED else ("first", one)
            yield f"{name}: could not be judged of the {which}, {ended.reason}"
