"""The commands that read live clusters, apart from lint: snapshot, diff and rbac."""

from io import StringIO
from pathlib import Path
from typing import Any

import click

from policygen.app import stdout
from policygen.app.requests import LintRequest
from policygen.cli.options import (
    ACCESS,
    RULES,
    SPECS,
    TARGET,
    context,
    extras,
    form,
    lint_request,
    options,
    paths,
    rules,
    today,
)
from policygen.cli.stderr import progress, say
from policygen.core.errors import ExitCode

_CONTEXT = context("Read the live cluster of this kubeconfig context.")
_EXTRAS = extras("Also read the configuration of this controller, if the spec renders it")
_RULES = rules(
    "Read only the objects that this rule needs",
    "Skip this rule, and do not read objects that no other rule needs",
)

_reached = options(SPECS, _CONTEXT, *ACCESS, TARGET, _EXTRAS, _RULES)
"""The options that name one live cluster and select what is read from it."""


@click.command(
    epilog="""\b
Examples:
  policygen snapshot --context prod -o prod.snapshot spec/
  policygen snapshot --context prod -o shared.snapshot --redact-names
  policygen snapshot --context prod -o monday.snapshot --redact-names --key-file prod.names
  policygen lint --snapshot prod.snapshot spec/

Exit codes: 0 written, 2 wrong usage or invalid spec, 3 something could not be read (the rest is
written), 4 internal error.
"""
)
@_reached
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write the snapshot to this file, or to standard output if FILE is -.",
)
@click.option(
    "--redact-names",
    is_flag=True,
    help="Replace each name by a hash, so that you can share the file. Equal names have equal hashes.",
)
@click.option(
    "--key-file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help=(
        "With --redact-names: keep the hash key and the names in this private file, which is "
        "created if it does not exist. Snapshots with the same key file can be compared."
    ),
)
def snapshot(*, output: str, redact_names: bool, key_file: Path | None, **given: Any) -> None:
    """Save everything that lint reads from a live cluster to a file.

    snapshot reads no Secret, and keeps no value of an environment variable. With a SPEC, the file
    also contains the ConfigMaps that the spec renders.
    """
    from policygen.app import snapshot as app_snapshot

    if key_file is not None and not redact_names:
        raise click.UsageError("--key-file needs --redact-names; add --redact-names")
    notes = app_snapshot.take(
        _request(given),
        None if output == "-" else Path(output),
        redact=redact_names,
        key_file=key_file,
        progress=progress,
    )
    for line in notes:
        say(f"policygen: {line}")
    raise SystemExit(ExitCode.INCOMPLETE if notes else ExitCode.CLEAN)


@click.command(
    epilog="""\b
Examples:
  policygen rbac spec/ | kubectl apply -f -
  policygen rbac --namespace vision --namespace speech spec/
  policygen rbac --rule local-queue-without-cluster-queue
  policygen rbac --preflight --context prod spec/

Exit codes: 0 printed, or no permission is missing; 2 wrong usage or invalid spec, 3 a permission is
missing (--preflight) or the server does not answer, 4 internal error.
"""
)
@_reached
@click.option(
    "--name",
    default="policygen-lint",
    show_default=True,
    help="The name of the ClusterRole, and of each Role.",
)
@click.option(
    "--preflight",
    is_flag=True,
    help=(
        "Ask the cluster (SelfSubjectAccessReview) which of these permissions are missing, and "
        "print only the missing ones."
    ),
)
def rbac(*, name: str, preflight: bool, **given: Any) -> None:
    """Print the smallest ClusterRole with which lint can read everything that its rules need.

    The only verb that the role grants is `list`. With a SPEC, the role includes the ConfigMaps that the spec
    renders. With --namespace, permissions for namespaced objects go into one Role per namespace.
    """
    from policygen.app import snapshot as app_snapshot

    request = _request(given, live=preflight)
    if not preflight:
        stdout.out(app_snapshot.role(request, name))
        return
    lacking = app_snapshot.lacking(request)
    stdout.out("".join(f"{line}\n" for line in lacking))
    raise SystemExit(ExitCode.INCOMPLETE if lacking else ExitCode.CLEAN)


@click.command(
    epilog="""\b
Examples:
  policygen diff yesterday.snapshot today.snapshot
  policygen diff yesterday.snapshot --context prod
  policygen diff yesterday.snapshot --context prod --spec spec/ -f json

Exit codes: 0 no change, 1 something changed, 2 wrong usage or invalid spec, 3 something could not be
read or compared, 4 internal error.
"""
)
@click.argument("before", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("after", required=False, type=click.Path(dir_okay=False, path_type=Path))
@_CONTEXT
@options(*ACCESS, TARGET, RULES)
@click.option(
    "--spec",
    "specs",
    multiple=True,
    metavar="SPEC",
    shell_complete=paths,
    help="Check the two snapshots, or the snapshot and the cluster, against this spec; repeatable.",
)
@form("Output format: text for people, json for programs.")
def diff(*, before: Path, after: Path | None, **given: Any) -> None:
    """Show what changed between two snapshots, or between a snapshot and a live cluster.

    diff lists every changed field of a policy object, and who wrote the field. It then lists the lint
    findings that are new or gone.
    """
    from policygen.app import diff as app_diff
    from policygen.report import changes

    if (after is None) == (not given["contexts"] and not given["in_cluster"]):
        raise click.UsageError(
            "name two snapshots, or one snapshot and a cluster (--context, --in-cluster)"
        )
    request = _request(given, live=after is None)
    found = app_diff.compare(request, before, after, today=today(), progress=progress)
    findings = (found.new, found.gone)
    snapshots, page = (found.before, found.after), StringIO()
    if given["form"] == "json":
        changes.json(snapshots, found.changes, findings, found.incomparable, page)
    else:
        changes.text(snapshots, found.changes, findings, found.incomparable, page)
    stdout.out(page.getvalue())
    changed = found.changes or found.new or found.gone
    if found.incomparable:
        raise SystemExit(ExitCode.INCOMPLETE)
    raise SystemExit(ExitCode.FINDINGS if changed else ExitCode.CLEAN)


def _request(given: dict[str, Any], *, live: bool = True) -> LintRequest:
    if live and len(given["contexts"]) + given["in_cluster"] != 1:
        raise click.UsageError("name one cluster: --context CONTEXT or --in-cluster")
    return lint_request(given)
