"""The commands about live clusters beside lint: snapshot and rbac."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from policygen.cli_options import ACCESS, RULES, TARGET, clusters, paths, progress
from policygen.errors import ExitCode

_CONTEXT = click.option(
    "--context", metavar="CONTEXT", help="The live cluster of this context of the kubeconfig."
)
_SPECS = click.argument("specs", nargs=-1, metavar="[SPEC]...", shell_complete=paths)


def _reached(command: Callable[..., None]) -> Callable[..., None]:
    """What names one live cluster and what is read of it."""
    for option in reversed((_SPECS, _CONTEXT, *ACCESS, TARGET, *RULES)):
        command = option(command)
    return command


@click.command(
    epilog="""\b
Examples:
  policygen snapshot --context prod -o prod.snapshot
  policygen snapshot --context prod -o shared.snapshot --redact-names
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
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the snapshot into this file.",
)
@click.option(
    "--redact-names",
    is_flag=True,
    help="Replace names by hashes, the same wherever one stands, so that it can be shared.",
)
def snapshot(*, output: Path, redact_names: bool, **options: Any) -> None:
    """Write what lint would read of a live cluster into a file.

    No Secret is read, and no value of an environment variable is kept. With a SPEC it also holds
    the ConfigMaps that the spec renders, whose names only the spec knows.
    """
    from policygen import snapshots

    said = snapshots.take(_settings(options), output, redact=redact_names, progress=progress)
    for line in said:
        click.echo(f"policygen: {line}", err=True)
    raise SystemExit(ExitCode.INCOMPLETE if said else ExitCode.CLEAN)


@click.command(
    epilog="""\b
Examples:
  policygen rbac spec/ | kubectl apply -f -
  policygen rbac --rule local-queue-without-cluster-queue
  policygen rbac --preflight --context prod spec/

Exit codes: 0 printed, or nothing is lacking; 2 usage or a spec that is refused, 3 something is
lacking (--preflight), 4 internal.
"""
)
@_reached
@click.option(
    "--name", default="policygen-lint", show_default=True, help="What the ClusterRole is called."
)
@click.option(
    "--preflight",
    is_flag=True,
    help="Print instead what of it this identity lacks, by asking the server "
    "(SelfSubjectAccessReview).",
)
def rbac(*, name: str, preflight: bool, **options: Any) -> None:
    """Print the smallest ClusterRole with which lint can read all that its rules need.

    It allows to list, and nothing else. With a SPEC it includes the ConfigMaps that the spec
    renders.
    """
    from policygen import snapshots

    settings = _settings(options, live=preflight)
    if not preflight:
        click.echo(snapshots.role(settings, name), nl=False)
        return
    lacking = snapshots.lacking(settings)
    for line in lacking:
        click.echo(line)
    raise SystemExit(ExitCode.INCOMPLETE if lacking else ExitCode.CLEAN)


def _settings(options: dict[str, Any], *, live: bool = True) -> Any:
    from policygen.settings import LintSettings

    context = options["context"]
    if live and bool(context) == options["in_cluster"]:
        raise click.UsageError("name one cluster: --context CONTEXT or --in-cluster")
    looked_at = clusters({**options, "contexts": (context,) if context else ()})
    return LintSettings(
        specs=options["specs"],
        target=options["target"],
        only=options["only"],
        skip=options["skip"],
        clusters=looked_at,
    )
