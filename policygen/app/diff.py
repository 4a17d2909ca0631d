"""What `policygen diff` does: compares two snapshots of a cluster, and their findings."""

from collections.abc import Iterator
from datetime import date

from msgspec import Struct
from msgspec.structs import replace

from policygen.app import inputs, lint, snapshot, verdicts
from policygen.app.inputs import Run
from policygen.app.requests import ClusterRequest, LintRequest
from policygen.app.sources import opened
from policygen.client.live import Progress
from policygen.core.errors import UnreadError, UsageError
from policygen.core.finding import Finding
from policygen.documents.parse import mapping
from policygen.drift import changes, incomparable
from policygen.drift.changes import Change
from policygen.drift.incomparable import Incomparable
from policygen.kubernetes.snapshot import Seen, Snapshot
from policygen.report.phrases import whereabouts
from policygen.report.report import Report


class Differences(Struct, frozen=True):
    """The differences between two snapshots."""

    before: Seen
    after: Seen
    changes: tuple[Change, ...]
    new: tuple[Finding, ...]
    gone: tuple[Finding, ...]
    incomparable: tuple[Incomparable, ...]
    """Kinds that are missing in one snapshot or both, and rules that did not run on one of them."""


def compare(
    request: LintRequest,
    before: ClusterRequest,
    after: ClusterRequest,
    *,
    today: date,
    progress: Progress,
) -> Differences:
    """Compare two clusters: snapshots or live ones. The spec and the rules are those of the request.

    Raises UnreadError if a snapshot or cluster cannot be read, UsageError and SpecError.
    """
    run = inputs.prepare(request)
    was, now = _read(run, (before, after), progress)
    names = _name(before), _name(after)
    if why := _hidden(names, (was.seen, now.seen)):
        raise UsageError(
            f"{' and '.join(names)} cannot be compared, because {why}; "
            "take both snapshots with --redact-names and the same --key-file"
        )
    expected = lint.rendered(run)
    results = [lint.check_snapshot(run, it, expected, run.first_index) for it in (was, now)]
    reports = [lint.report(run, [result], today) for result in results]
    unjudged = [_unjudged(report) for report in reports]
    old, new = ({_identity(it): it for it in _findings(report)} for report in reports)
    return Differences(
        before=was.seen,
        after=now.seen,
        changes=tuple(changes.changes(was, now, mapping)),
        # If a rule did not run completely, its findings can be hidden, so they do not count as changes.
        new=tuple(
            finding
            for key, finding in new.items()
            if key not in old and finding.rule.name not in unjudged[0]
        ),
        gone=tuple(
            finding
            for key, finding in old.items()
            if key not in new and finding.rule.name not in unjudged[1]
        ),
        incomparable=(
            *incomparable.unread((was, now), [report.gaps for report in reports]),
            *incomparable.config_maps((was, now)),
            *incomparable.rules(unjudged),
        ),
    )


def _read(
    run: Run, both: tuple[ClusterRequest, ClusterRequest], progress: Progress
) -> tuple[Snapshot, Snapshot]:
    """Both clusters: files first, since ConfigMaps of a snapshot are requested of a live cluster, too."""
    query = lint.cluster_query(run)
    found: dict[int, Snapshot] = {}
    for index, cluster in sorted(enumerate(both), key=lambda it: it[1].is_live):
        if cluster.snapshots:
            found[index] = _known(opened(cluster.snapshots[0], run.first_index))
        else:
            request = run.request._replace(clusters=cluster)
            found[index] = _known(snapshot.read(request, query, progress, run.first_index))
        query = replace(query, config_maps=query.config_maps | found[index].seen.config_maps)
    return found[0], found[1]


def _name(cluster: ClusterRequest) -> str:
    named = (*map(str, cluster.snapshots), *cluster.contexts)
    return named[0] if named else "the cluster"


def _known(read: Snapshot | Finding) -> Snapshot:
    """The snapshot. Raises UnreadError if it could not be read."""
    if isinstance(read, Finding):
        raise UnreadError(f"{whereabouts(read)}: {read.message}")
    return read


def _hidden(names: tuple[str, str], seen: tuple[Seen, Seen]) -> str:
    """Why the names in two snapshots do not correspond; "" if they do."""
    was, now = seen
    if was.redacted != now.redacted:
        return f"only {names[now.redacted]} has redacted names"
    # Snapshots of older versions do not record their key.
    different = was.redacted and (was.key != now.key or not was.key)
    return (
        "both have redacted names, and their hash keys differ or are unknown" if different else ""
    )


def _identity(finding: Finding) -> tuple[str, str, str]:
    """A key that does not depend on the name of the cluster: rule and field, or rule and message."""
    return finding.rule.name, finding.object, finding.anchor if finding.object else finding.message


def _findings(report: Report) -> Iterator[Finding]:
    """The findings, except those about gaps, which are reported separately."""
    gaps = {str(it) for it in report.gaps}
    return (it for it in report.findings if it.message not in gaps)


def _unjudged(report: Report) -> dict[str, str]:
    """Rules that were not evaluated on all their objects, and why."""
    judged = verdicts.evaluated(report.rules)
    return {it.rule: it.reason for it in report.rules if it.rule not in judged}
