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
  policygen diff git:main:spec spec/
  policygen diff git:main:spec spec/ -f markdown --no-exit-code > comment.md
  policygen diff yesterday.snapshot today.snapshot
  policygen diff yesterday.snapshot --context prod
  policygen diff yesterday.snapshot --context prod --spec spec/ -f json

Exit codes: 0 no change, 1 something changed, 2 wrong usage or invalid spec, 3 something could not be
read or compared, 4 internal error.
"""
)
@click.argument("before", metavar="OLD", shell_complete=paths)
@click.argument("after", metavar="[NEW]", required=False, shell_complete=paths)
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
@form(
    "Output format: text for people, markdown for a comment on a pull request (only for two "
    "specs), json for programs.",
    "markdown",
)
@click.option(
    "--exit-code/--no-exit-code",
    default=True,
    show_default=True,
    help="Exit 1 if something changed.",
)
def diff(*, before: str, after: str | None, exit_code: bool, **given: Any) -> None:
    """Show what a change of a spec does, or what changed on a cluster.

    OLD and NEW are two specs (a file, a folder, or git:REVISION:PATH), or two snapshots; without NEW, a
    snapshot is compared with a live cluster.

    For specs, diff first shows what changes for pools, teams and models, then the objects and fields. For
    snapshots and clusters, it lists every changed field of a policy object, and who wrote the field, and
    then the lint findings that are new or gone.
    """
    live = bool(given["contexts"] or given["in_cluster"])
    if (after is None) != live:
        raise click.UsageError(
            "name two specs, two snapshots, or one snapshot and a cluster (--context, --in-cluster)"
        )
    from policygen.app import diff as app_diff

    if after is None or app_diff.of_snapshots(before, after):
        code = _diff_of_snapshots(Path(before), Path(after) if after else None, given)
    else:
        code = _diff_of_specs(before, after, given)
    raise SystemExit(code if exit_code or code != ExitCode.FINDINGS else ExitCode.CLEAN)


def _diff_of_specs(old: str, new: str, given: dict[str, Any]) -> ExitCode:
    from policygen.app import review as app_review
    from policygen.report import review as forms

    unused = [name for name in ("specs", "only", "skip", "namespaces") if given[name]]
    if unused:
        option = {
            "specs": "--spec",
            "only": "--rule",
            "skip": "--skip",
            "namespaces": "--namespace",
        }
        raise click.UsageError(
            f"{option[unused[0]]} has no meaning for two specs; omit {option[unused[0]]}"
        )
    found = app_review.review(old, new, given["target"])
    page = StringIO()
    {"text": forms.text, "markdown": forms.markdown, "json": forms.json}[given["form"]](found, page)
    stdout.out(page.getvalue())
    return ExitCode.FINDINGS if found.changed else ExitCode.CLEAN


def _diff_of_snapshots(before: Path, after: Path | None, given: dict[str, Any]) -> ExitCode:
    from policygen.app import diff as app_diff
    from policygen.report import changes

    if given["form"] == "markdown":
        raise click.UsageError("-f markdown works only for two specs; use -f text or -f json")
    request = _request(given, live=after is None)
    found = app_diff.compare(request, before, after, today=today(), progress=progress)
    findings = (found.new, found.gone)
    snapshots, page = (found.before, found.after), StringIO()
    if given["form"] == "json":
        changes.json(snapshots, found.changes, findings, found.incomparable, page)
    else:
        changes.text(snapshots, found.changes, findings, found.incomparable, page)
    stdout.out(page.getvalue())
    if found.incomparable:
        return ExitCode.INCOMPLETE
    return ExitCode.FINDINGS if found.changes or found.new or found.gone else ExitCode.CLEAN


def _request(given: dict[str, Any], *, live: bool = True) -> LintRequest:
    if live and len(given["contexts"]) + given["in_cluster"] != 1:
        raise click.UsageError("name one cluster: --context CONTEXT or --in-cluster")
    return lint_request(given)
