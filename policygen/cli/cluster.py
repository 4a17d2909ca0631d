"""The commands that read live clusters, apart from lint: snapshot, diff and rbac."""

import os
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import click

from policygen.app import stdout
from policygen.app.requests import ClusterRequest, LintRequest, ReviewRequest
from policygen.cli.options import (
    ACCESS,
    CLUSTER,
    EXIT_CODE,
    RULES,
    SPECS,
    TARGET,
    context,
    extras,
    fields,
    form,
    lint_request,
    options,
    paths,
    rules,
    snapshots,
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
  policygen diff git:main:spec spec/ --context prod
  policygen diff git:main:spec spec/ -f markdown --no-exit-code > comment.md
  policygen diff manifests/ spec/
  policygen diff context:prod spec/
  policygen diff yesterday.snapshot today.snapshot
  policygen diff yesterday.snapshot context:prod --spec spec/ -f json

Exit codes: 0 no change, 1 something changed, 2 wrong usage or invalid spec, 3 something could not be
read or compared, 4 internal error.
"""
)
@click.argument("before", metavar="OLD", shell_complete=paths)
@click.argument("after", metavar="[NEW]", required=False, shell_complete=paths)
@context(
    "Name the objects of this live cluster that still use what NEW removes. Without NEW, compare OLD with "
    "the cluster."
)
@snapshots("The same for the cluster in this file, which `policygen snapshot` wrote.")
@options(*ACCESS, TARGET, CLUSTER, RULES)
@extras("Also compare what `render --with` renders of a spec")
@click.option(
    "--spec",
    "specs",
    multiple=True,
    metavar="SPEC",
    shell_complete=paths,
    help="Check two snapshots or clusters against this spec; repeatable.",
)
@form()
@EXIT_CODE
def diff(*, before: str, after: str | None, exit_code: bool, **given: Any) -> None:
    """Show what a change does before you apply it, or what changed on a cluster.

    OLD and NEW are a spec or manifests (a file, a folder, or git:REVISION:PATH), a snapshot, or a live
    cluster (context:NAME).

    diff first shows what changes for pools, teams and models, then the objects and fields. For two
    snapshots or clusters, it lists every changed field of a policy object, and who wrote the field, and
    then the lint findings that are new or gone.
    """
    access = ClusterRequest(**fields(ClusterRequest, given))
    if access.number > 1:
        raise click.UsageError(
            "name one cluster: --context CONTEXT, --snapshot FILE or --in-cluster"
        )
    if after is None and not access.named:
        raise click.UsageError(
            "name OLD and NEW: each is a spec, manifests, a snapshot or context:NAME; or name OLD and a "
            "cluster (--context, --in-cluster)"
        )
    from policygen.app import sides

    clusters = [sides.cluster_of(it, access) for it in (before, after or access)]
    if after is not None and any(clusters) and access.named:
        raise click.UsageError(
            "OLD or NEW is a cluster already; omit --context, --snapshot and --in-cluster"
        )
    if given["namespaces"] and not any(it and it.is_live for it in (*clusters, access)):
        raise click.UsageError("--namespace is only for a live cluster; omit --namespace")
    if clusters[0] and clusters[1]:
        if given["extras"] and not given["specs"]:
            raise click.UsageError("--with is about a spec; add --spec SPEC, or omit --with")
        code = _diff_of_clusters(clusters[0], clusters[1], given)
    else:
        code = _diff_of_states(before, after, access, given)
    raise SystemExit(code if exit_code or code != ExitCode.FINDINGS else ExitCode.CLEAN)


def _diff_of_states(
    old: str, new: str | None, access: ClusterRequest, given: dict[str, Any]
) -> ExitCode:
    from policygen.app import review as app_review
    from policygen.report import review as forms
    from policygen.report import tables

    for name, option in (("specs", "--spec"), ("only", "--rule"), ("skip", "--skip")):
        if given[name]:
            raise click.UsageError(f"{option} is only for two snapshots or clusters; omit {option}")
    beside = access if new is not None and access.named else None
    state = new or access
    request = ReviewRequest(
        old, state, given["target"], access, given["cluster"], beside, given["extras"]
    )
    found = app_review.review(request, progress)
    page = StringIO()
    wide = tables.columns(sys.stdout, os.environ)
    if given["form"] == "text":
        forms.text(found, page, wide)
    else:
        {"markdown": forms.markdown, "json": forms.json}[given["form"]](found, page)
    stdout.out(page.getvalue())
    if found.unread:
        return ExitCode.INCOMPLETE
    return ExitCode.FINDINGS if found.changed else ExitCode.CLEAN


def _diff_of_clusters(
    before: ClusterRequest, after: ClusterRequest, given: dict[str, Any]
) -> ExitCode:
    from policygen.app import diff as app_diff
    from policygen.report import changes

    request = lint_request(given)
    found = app_diff.compare(request, before, after, today=today(), progress=progress)
    findings = (found.new, found.gone)
    snapshots, page = (found.before, found.after), StringIO()
    write = {"text": changes.text, "markdown": changes.markdown, "json": changes.json}[
        given["form"]
    ]
    write(snapshots, found.changes, findings, found.incomparable, page)
    stdout.out(page.getvalue())
    if found.incomparable:
        return ExitCode.INCOMPLETE
    return ExitCode.FINDINGS if found.changes or found.new or found.gone else ExitCode.CLEAN


def _request(given: dict[str, Any], *, live: bool = True) -> LintRequest:
    if live and len(given["contexts"]) + given["in_cluster"] != 1:
        raise click.UsageError("name one cluster: --context CONTEXT or --in-cluster")
    return lint_request(given)
