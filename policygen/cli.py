"""The command line: arguments to settings, one call of the app, findings to stderr."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import click

from policygen import __version__, cli_cluster, cli_lint, cli_rules, cli_test, printing
from policygen import completion as completing
from policygen.cli_options import FAIL_ON, QUIET, TARGET, paths, without_notes
from policygen.errors import CheckFailed, ExitCode, PolicygenError, SpecError, UsageError
from policygen.finding import Finding, Severity
from policygen.render import destination
from policygen.settings import EXTRAS, Settings

REFUSED = "2 usage or a spec that is refused, 4 internal."
RENDER_CODES = f"Exit codes: 0 rendered, 1 files differ (--check), {REFUSED}"
VALIDATE_CODES = f"Exit codes: 0 valid, 1 findings at or above --fail-on, {REFUSED}"


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: policygen render examples/kueue-team-tree",
)
@click.version_option(__version__, message="policygen %(version)s")
def cli() -> None:
    """Policy objects of a shared GPU pool on Kubernetes, from one spec.

    A spec says which GPU pools there are, which teams share them and which models run. From
    it policygen renders Kueue, Volcano, kube-scheduler and core objects whose numbers agree
    with each other and with the nodes.
    """


def _kinds(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Kinds for completion."""
    from policygen.plan.catalog import KINDS

    start = incomplete.lower()
    return [kind.name for kind in KINDS if kind.name.lower().startswith(start)]


def _schemas(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Names of schemas for completion."""
    from policygen.spec import forms

    start = incomplete.lower()
    return [name for name in forms.schema_names() if name.lower().startswith(start)]


_SPEC = click.argument("specs", nargs=-1, required=True, metavar="SPEC...", shell_complete=paths)


@cli.command(
    epilog="""\b
Examples:
  policygen render spec/ > manifests.yaml
  policygen render spec/ -o manifests/ --with volcano-config
  policygen render spec/ -o manifests/ --check
  cat spec/*.yaml | policygen render - --target kueue=0.17 --only ClusterQueue

"""
    + RENDER_CODES
)
@_SPEC
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    shell_complete=paths,
    help="Write one file per object into this folder, or one file if PATH ends in .yaml.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Write nothing; exit 1 with a diff if -o PATH differs from the render.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="KIND",
    shell_complete=_kinds,
    help="Render this kind only; repeatable.",
)
@TARGET
@click.option(
    "--with",
    "extras",
    multiple=True,
    type=click.Choice(EXTRAS),
    help="Render a controller's own configuration too; repeatable.",
)
@click.option(
    "--templates",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Templates that replace or extend the shipped ones; run in a sandbox. Repeatable.",
)
@click.option("--allow-empty", is_flag=True, help="Let a spec without objects render nothing.")
@click.option(
    "--raw-scheduler-config",
    is_flag=True,
    help="Print only the KubeSchedulerConfiguration that replaces the main scheduler's file.",
)
@click.option(
    "--kueue-helm-values",
    is_flag=True,
    help="Print only a values fragment with Kueue's Configuration for its Helm chart.",
)
@QUIET
def render(specs: tuple[str, ...], **options: Any) -> None:
    """Print every policy object of a spec, in apply order.

    SPEC is a file, a folder (read recursively: .yaml, .yml, .json) or - for standard input.
    Findings go to stderr; on an error nothing goes to stdout.
    """
    from policygen import app

    if options["output"] in {"", "-"}:
        raise click.UsageError(
            "-o takes a folder, or a file that ends in .yaml; without -o manifests go to "
            "standard output"
        )
    output = Path(options["output"]) if options["output"] else None
    if output is not None and output.suffix.lower() == ".json":
        raise click.UsageError("manifests are YAML; write a folder, or a file that ends in .yaml")
    if options["check"] and output is None:
        raise click.UsageError("--check needs -o PATH to compare with")
    if options["only"] and output is not None and not destination.is_file(output):
        raise click.UsageError(
            "--only with a folder would remove the other kinds from it; "
            "write to a file that ends in .yaml, or to standard output"
        )
    raw = options["raw_scheduler_config"], options["kueue_helm_values"]
    if all(raw) or (any(raw) and (output is not None or options["only"])):
        raise click.UsageError(
            "--raw-scheduler-config and --kueue-helm-values print one file to standard output; "
            "use one of them, without -o and --only"
        )
    _output_elsewhere(output, specs)
    settings = _settings(specs, options)
    command = app.render
    if options["raw_scheduler_config"]:
        command = app.raw_scheduler_config
    elif options["kueue_helm_values"]:
        command = app.kueue_helm_values
    with without_notes(quiet=options["quiet"]):
        result = command(settings, stdin=_stdin(specs), output=_redirected())
    _show(result.findings, quiet=options["quiet"])
    if output is None:
        _print(app.text(result))
    elif options["check"]:
        app.compare(result, output)
    else:
        _say(app.write(result, output))


@cli.command(
    epilog="""\b
Examples:
  policygen validate spec/
  policygen validate spec/ --fail-on warning
  git show HEAD:spec/teams.yaml | policygen validate - spec/pools.yaml

"""
    + VALIDATE_CODES
)
@_SPEC
@TARGET
@FAIL_ON
@QUIET
def validate(specs: tuple[str, ...], **options: Any) -> None:
    """Check a spec: syntax, schema, references, sums, and what will not do what it says."""
    from policygen import app

    settings = _settings(specs, options)
    with without_notes(quiet=options["quiet"]):
        result = app.validate(settings, stdin=_stdin(specs), output=_redirected())
    _show(result.findings, quiet=options["quiet"])
    counted = ", ".join(
        f"{count} {name}{'s' if count != 1 else ''}" for name, count in result.counts
    )
    _print(f"valid: {counted}\n")
    threshold = Severity[options["fail_on"].upper()]
    if any(finding.severity >= threshold for finding in result.findings):
        raise SystemExit(ExitCode.FINDINGS)


@cli.command(
    epilog="""\b
Examples:
  policygen schema
  policygen schema ResourcePool > resource-pool.schema.json
"""
)
@click.argument("kind", required=False, shell_complete=_schemas)
def schema(kind: str | None) -> None:
    """Print the JSON Schema of a KIND, or the names of all kinds.

    An editor with the YAML language server completes a spec that begins with
    `# yaml-language-server: $schema=FILE`.
    """
    from policygen import app

    _print(app.schema(kind))


@cli.command(
    epilog="""\b
Examples:
  policygen completion bash > ~/.local/share/bash-completion/completions/policygen
  policygen completion zsh > "${fpath[1]}/_policygen"
  policygen completion fish > ~/.config/fish/completions/policygen.fish
"""
)
@click.argument("shell", type=click.Choice(completing.SHELLS), metavar="SHELL")
def completion(shell: str) -> None:
    """Print a completion script for a SHELL."""
    _print(completing.script(shell, cli))


for command in (
    cli_lint.lint,
    cli_lint.baseline,
    cli_cluster.snapshot,
    cli_cluster.diff,
    cli_cluster.rbac,
    cli_test.test,
    cli_rules.rules,
    cli_rules.explain,
):
    cli.add_command(command)


def _settings(specs: tuple[str, ...], options: dict[str, Any]) -> Settings:
    return Settings(
        specs=specs,
        target=options["target"],
        extras=frozenset(options.get("extras", ())),
        only=options.get("only", ()),
        templates=options.get("templates", ()),
        allow_empty=options.get("allow_empty", False),
    )


def _stdin(specs: tuple[str, ...]) -> Any:
    if "-" not in specs:
        return None
    if sys.stdin is None:
        raise UsageError("standard input is closed; write a file or a folder instead of -")
    return sys.stdin.buffer


def _redirected() -> os.stat_result | None:
    """Where standard output goes, if that is a file that could be an input by mistake."""
    try:
        return os.fstat(sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):
        return None  # closed, or no file


def _output_elsewhere(output: Path | None, specs: tuple[str, ...]) -> None:
    from policygen.spec import files

    if output is not None and files.inside(output, specs):
        raise UsageError(
            f"{output} lies inside the spec folder, so the next run would read it as a spec; "
            "write it elsewhere"
        )


def _print(text: str) -> None:
    printing.out(text, "write to a folder or file with -o")


def _show(findings: Iterable[Finding], *, quiet: bool = False) -> None:
    """Errors and warnings with the lines they mean, then the notes."""
    from policygen.report import text

    if sys.stderr is None:
        return
    found = list(findings)
    colour = text.colours(sys.stderr, os.environ)
    serious = [finding for finding in found if finding.severity > Severity.INFO]
    text.write(serious, sys.stderr, colour=colour)
    if not quiet:
        notes = [finding for finding in found if finding.severity == Severity.INFO]
        text.write(notes, sys.stderr, colour=colour, excerpt=False)


def _say(message: str) -> None:
    """One line to stderr, whatever the names in it hold."""
    from policygen.report import text

    if sys.stderr is not None:
        click.echo(text.printable(message, sys.stderr.encoding or "utf-8"), err=True)


def _fail(message: str, code: int) -> NoReturn:
    _say(f"policygen: {message}")
    raise SystemExit(code)


def main() -> NoReturn:
    """Run the command line; every way out has an exit code."""
    completing.prepare()
    try:
        cli(prog_name=completing.PROGRAM, complete_var=completing.VARIABLE, standalone_mode=False)
    except CheckFailed as failed:
        _print(str(failed))
        raise SystemExit(failed.exit_code) from None
    except SpecError as error:
        from policygen.report import text

        _show(error.findings)
        _say(text.summary(error.findings))
        raise SystemExit(error.exit_code) from None
    except PolicygenError as error:
        _fail(str(error), error.exit_code)
    except click.exceptions.Exit as stop:
        raise SystemExit(stop.exit_code) from None
    except click.ClickException as error:
        error.show()
        raise SystemExit(ExitCode.USAGE) from None
    except (click.Abort, KeyboardInterrupt):
        raise SystemExit(130) from None
    except BrokenPipeError:
        # The reader has gone; Python must not complain about it while it shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(141) from None
    except Exception:  # noqa: BLE001 - Python's own exit code 1 means "findings" here
        import traceback

        traceback.print_exc()
        _fail(
            "this is a bug in policygen, please report it with the lines above", ExitCode.INTERNAL
        )
    raise SystemExit(ExitCode.CLEAN)
