"""The command that rewrites manifests for other releases: upgrade."""

from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING

import click

from policygen.app import stdout
from policygen.app.requests import Targets
from policygen.cli.options import form as format_option
from policygen.cli.options import paths, stdin, target, today
from policygen.cli.stderr import command_without, say, show
from policygen.core.errors import ExitCode

if TYPE_CHECKING:  # --help does not load lint
    from policygen.app.upgrade import Upgrade


@click.command(
    epilog="""\b
Examples:
  policygen upgrade --to kueue=0.19 manifests/
  policygen upgrade --to kueue=0.19 --to kubernetes=1.36 --write manifests/
  policygen upgrade --to kueue=0.19 --check manifests/
  kubectl get clusterqueues.v1beta1.kueue.x-k8s.io -o yaml | policygen upgrade --to kueue=0.19 - > queues.yaml

Exit codes: 0 upgraded or nothing to do, 1 files would change (--check), 2 wrong usage, 3 something is
left to do by hand or could not be read, 4 internal error.
"""
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=paths)
@target(
    "--to",
    "Rewrite manifests for this version of a component; repeatable. Default: the versions that "
    "policygen assumes without a Platform.",
)
@click.option("--write", is_flag=True, help="Change the files. Default: show a diff.")
@click.option("--check", is_flag=True, help="Exit 1 if files would change.")
@format_option()
def upgrade(
    files: tuple[str, ...], target: Targets, *, write: bool, check: bool, form: str
) -> None:
    """Rewrite manifests whose API versions are outdated, with the same effect.

    FILE is a file, a folder (read recursively: .yaml, .yml, .json) or - for standard input. upgrade
    changes apiVersions, renamed fields, and removed fields that another field replaces. Comments
    and layout stay. For standard input, it prints the upgraded manifests instead of a diff. What it
    cannot change goes to standard error, or is in the report of another format.
    """
    from policygen.app import delivery, fix
    from policygen.app import upgrade as app_upgrade
    from policygen.report import manifest_changes

    if write and (check or "-" in files):
        other = "--check, which changes nothing" if check else "standard input"
        raise click.UsageError(f"--write does not work with {other}; omit --write")
    if "-" in files and len(files) > 1:
        raise click.UsageError("- prints the upgraded manifests, so write - without other files")
    source = stdin(files)
    given = source.read() if source else b""
    upgraded = app_upgrade.upgrade(files, target, today=today(), stdin=BytesIO(given))
    if write:
        app_upgrade.write(upgraded)
    done = write or (source is not None and form == "text")
    summary = app_upgrade.summary(upgraded, done=done)
    if check and source is None and upgraded.fixed.texts:
        command = command_without("--check", "--write")
        summary.append(f"policygen: to change the files, run `{command}`")
    if form == "text":
        if not write:
            _print_text(upgraded, given if source else None)
        show(upgraded.by_hand, every=True)
        for line in summary:
            say(line)
    else:
        report, diff = app_upgrade.report(upgraded), fix.diff(upgraded.fixed)
        people = partial(manifest_changes.markdown, command="upgrade", diff=diff, lines=summary)
        as_json = partial(manifest_changes.json, diff=diff)
        stdout.out(delivery.page(as_json if form == "json" else people, report))
    if upgraded.by_hand or not upgraded.complete:
        raise SystemExit(ExitCode.INCOMPLETE)
    if check and upgraded.fixed.texts:
        raise SystemExit(ExitCode.FINDINGS)


def _print_text(upgraded: "Upgrade", given: bytes | None) -> None:
    """Print the diff of files, or the upgraded manifests instead of those of standard input."""
    from policygen.app import fix

    if given is None:
        stdout.out(fix.diff(upgraded.fixed))
    elif upgraded.complete:
        texts = upgraded.fixed.texts
        stdout.out(texts[0][1] if texts else given)
    else:
        say("policygen: nothing is printed, because some input could not be read or checked")
