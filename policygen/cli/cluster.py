"""The commands about live clusters beside lint: snapshot, diff and rbac."""

from io import StringIO
from pathlib import Path
from typing import Any

import click

from policygen.app import stdout
from policygen.app.requests import LintSettings
from policygen.cli.options import (
    ACCESS,
    RULES,
    SPECS,
    TARGET,
    clusters,
    contexts,
    extras,
    form,
    options,
    paths,
    today,
)
from policygen.cli.stderr import progress, say
from policygen.core.errors import ExitCode

_CONTEXT = click.option(
    "--context",
    "contexts",
    multiple=True,
    metavar="CONTEXT",
    shell_complete=contexts,
    help="The live cluster of this context of the kubeconfig.",
)
_EXTRAS = extras("Read this controller's configuration that the spec renders too")

_reached = options(SPECS, _CONTEXT, *ACCESS, TARGET, _EXTRAS, *RULES)
"""What names one live cluster and what is read of it."""


@click.command(
    epilog="""\b
Examples:
  policygen snapshot --context prod -o prod.snapshot spec/
  policygen snapshot --context prod -o shared.snapshot --redact-names
  policygen snapshot --context prod -o monday.snapshot --redact-names --key-file prod.names
  policygen lint --snapshot prod.snapshot spec/

Exit codes: 0 written, 2 usage or a spec that is refused, 3 not all could be read (what could is
written), 4 internal.
"""
)
@_reached
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write the snapshot into this file; - is standard output.",
)
@click.option(
    "--redact-names",
    is_flag=True,
    help="Replace names by hashes, the same wherever one stands, so that it can be shared.",
)
@click.option(
    "--key-file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="With --redact-names: keep the key and the names in this file of yours, so that snapshots with it "
    "compare; made if it is not there.",
)
def snapshot(*, output: str, redact_names: bool, key_file: Path | None, **given: Any) -> None:
    """Write what lint would read of a live cluster into a file.

    No Secret is read, and no value of an environment variable is kept. With a SPEC it also holds
    the ConfigMaps that the spec renders, whose names only the spec knows.
    """
    from policygen.app import snapshot as app_snapshot

    if key_file is not None and not redact_names:
        raise click.UsageError("--key-file goes with --redact-names")
    said = app_snapshot.take(
        _settings(given),
        None if output == "-" else Path(output),
        redact=redact_names,
        key_file=key_file,
        progress=progress,
    )
    for line in said:
        say(f"policygen: {line}")
    raise SystemExit(ExitCode.INCOMPLETE if said else ExitCode.CLEAN)


@click.command(
    epilog="""\b
Examples:
  policygen rbac spec/ | kubectl apply -f -
  policygen rbac --namespace vision --namespace speech spec/
  policygen rbac --rule local-queue-without-cluster-queue
  policygen rbac --preflight --context prod spec/

Exit codes: 0 printed, or nothing is lacking; 2 usage or a spec that is refused, 3 something is
lacking (--preflight) or the server cannot be asked, 4 internal.
"""
)
@_reached
@click.option(
    "--name", default="policygen-lint", show_default=True, help="What each role is called."
)
@click.option(
    "--preflight",
    is_flag=True,
    help="Print instead what of it this identity lacks, by asking the server "
    "(SelfSubjectAccessReview).",
)
def rbac(*, name: str, preflight: bool, **given: Any) -> None:
    """Print the smallest ClusterRole with which lint can read all that its rules need.

    It allows to list, and nothing else. With a SPEC it includes the ConfigMaps that the spec
    renders. With --namespace what is namespaced goes into a Role for each namespace.
    """
    from policygen.app import snapshot as app_snapshot

    settings = _settings(given, live=preflight)
    if not preflight:
        stdout.out(app_snapshot.role(settings, name))
        return
    lacking = app_snapshot.lacking(settings)
    stdout.out("".join(f"{line}\n" for line in lacking))
    raise SystemExit(ExitCode.INCOMPLETE if lacking else ExitCode.CLEAN)


@click.command(
    epilog="""\b
Examples:
  policygen diff yesterday.snapshot today.snapshot
  policygen diff yesterday.snapshot --context prod
  policygen diff yesterday.snapshot --context prod --spec spec/ -f json

Exit codes: 0 nothing changed, 1 something did, 2 usage or a spec that is refused, 3 something
could not be read or compared, 4 internal.
"""
)
@click.argument("before", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("after", required=False, type=click.Path(dir_okay=False, path_type=Path))
@_CONTEXT
@options(*ACCESS, TARGET, *RULES)
@click.option(
    "--spec",
    "specs",
    multiple=True,
    metavar="SPEC",
    shell_complete=paths,
    help="Judge both for this spec; repeatable.",
)
@form("For a person, or for programs.")
def diff(*, before: Path, after: Path | None, **given: Any) -> None:
    """Show what changed between two snapshots, or since one on a live cluster.

    Policy objects field by field with who wrote it, and which findings are new or gone.
    """
    from policygen.app import diff as app_diff
    from policygen.report import changes

    if (after is None) == (not given["contexts"] and not given["in_cluster"]):
        raise click.UsageError("name two snapshots, or one and a cluster (--context, --in-cluster)")
    settings = _settings(given, live=after is None)
    found = app_diff.compare(settings, before, after, today=today(), progress=progress)
    told = (found.new, found.gone)
    looks, page = (found.before, found.after), StringIO()
    if given["form"] == "json":
        changes.json(looks, found.changes, told, found.incomparable, page)
    else:
        changes.text(looks, found.changes, told, found.incomparable, page)
    stdout.out(page.getvalue())
    changed = found.changes or found.new or found.gone
    if found.incomparable:
        raise SystemExit(ExitCode.INCOMPLETE)
    raise SystemExit(ExitCode.FINDINGS if changed else ExitCode.CLEAN)


def _settings(given: dict[str, Any], *, live: bool = True) -> LintSettings:
    if live and len(given["contexts"]) + given["in_cluster"] != 1:
        raise click.UsageError("name one cluster: --context CONTEXT or --in-cluster")
    looked_at = clusters(given)
    return LintSettings(
        specs=given["specs"],
        target=given["target"],
        extras=frozenset(given.get("extras", ())),
        only=given["only"],
        skip=given["skip"],
        clusters=looked_at,
    )
