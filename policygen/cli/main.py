"""The command line: all commands, and an exit code for every way that a run can end."""

import os
import sys
from collections.abc import Iterable
from typing import NoReturn

import click

from policygen import __version__
from policygen.app import stdout
from policygen.cli import (
    adopt,
    baseline,
    cluster,
    explain,
    init,
    krm,
    lint,
    patch,
    rules,
    show,
    simulate,
    spec,
    test,
    upgrade,
    why,
    workload,
)
from policygen.cli import completion as completing
from policygen.cli.options import beginning
from policygen.cli.stderr import refusals, say
from policygen.core.errors import CheckFailed, ExitCode, PolicygenError


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: policygen render examples/kueue-team-tree",
)
@click.version_option(__version__, message="policygen %(version)s")
def cli() -> None:
    """Render and check the policy objects of shared GPU pools on Kubernetes.

    A spec lists the GPU pools, the teams that share them and the models that run on them.
    policygen renders Kueue, Volcano, kube-scheduler and core objects from it. Their numbers agree
    with each other and with the nodes.
    """


def _schemas() -> Iterable[str]:
    from policygen.spec import forms

    return forms.schema_names()


@cli.command(
    epilog="""\b
Examples:
  policygen schema
  policygen schema ResourcePool > resource-pool.schema.json

Exit codes: 0 printed, 2 wrong usage or no such schema, 4 internal error.
"""
)
@click.argument("kind", required=False, shell_complete=beginning(_schemas))
def schema(kind: str | None) -> None:
    """Print the JSON Schema of a KIND, or the names of all kinds.

    Editors with the YAML language server use the schema to complete and check a spec. Start the
    spec with the line `# yaml-language-server: $schema=FILE`.
    """
    from policygen.app import render

    stdout.out(render.schema(kind))


@cli.command(
    epilog="""\b
Examples:
  policygen completion bash > ~/.local/share/bash-completion/completions/policygen
  policygen completion zsh > "${fpath[1]}/_policygen"
  policygen completion fish > ~/.config/fish/completions/policygen.fish

Exit codes: 0 printed, 2 wrong usage, 4 internal error.
"""
)
@click.argument("shell", type=click.Choice(completing.SHELLS), metavar="SHELL")
def completion(shell: str) -> None:
    """Print the completion script for a SHELL."""
    stdout.out(completing.script(shell, cli))


for command in (
    spec.render,
    spec.validate,
    workload.workload,
    patch.patch,
    upgrade.upgrade,
    krm.krm,
    lint.lint,
    baseline.baseline,
    init.init,
    adopt.adopt,
    cluster.snapshot,
    cluster.diff,
    cluster.rbac,
    simulate.simulate,
    why.why,
    why.fit,
    test.test,
    rules.rules,
    explain.explain,
    show.show,
):
    cli.add_command(command)


def _fail(message: str, code: int) -> NoReturn:
    say(f"policygen: {message}")
    raise SystemExit(code)


def _name(program: str) -> str:
    """The name in the help: kubectl runs the plugin `kubectl-policygen` as `kubectl policygen`."""
    is_plugin = program.rpartition("/")[2] == f"kubectl-{completing.PROGRAM}"
    return f"kubectl {completing.PROGRAM}" if is_plugin else completing.PROGRAM


def _run() -> None:
    stream = sys.stdout
    try:
        cli(
            prog_name=_name(sys.argv[0]),
            complete_var=completing.VARIABLE,
            standalone_mode=False,
        )
    except SystemExit:
        # click exits with 1 if the reader closed the pipe, and replaces standard output before.
        if sys.stdout is not stream:
            raise BrokenPipeError from None
        raise
    except OSError:
        # click prints --help and --version itself. If standard output is full, this write fails too.
        stdout.out("\n")
        raise


def main() -> NoReturn:
    """Run the command line. Every way that a run can end has an exit code."""
    completing.prepare()
    try:
        with refusals(quiet=False, every=True):
            _run()
    except CheckFailed as failed:
        stdout.out(str(failed))
        raise SystemExit(failed.exit_code) from None
    except PolicygenError as error:
        for line in error.details:
            say(line)
        _fail(str(error), error.exit_code)
    except click.exceptions.Exit as stop:
        raise SystemExit(stop.exit_code) from None
    except click.ClickException as error:
        error.show()
        raise SystemExit(ExitCode.USAGE) from None
    except (click.Abort, KeyboardInterrupt):
        raise SystemExit(130) from None
    except BrokenPipeError:
        # The reader closed the pipe; Python must not report that again while it shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(141) from None
    except Exception:  # noqa: BLE001 - Python's own exit code 1 means "findings" here
        import traceback

        traceback.print_exc()
        _fail(
            "this is a bug in policygen; please report it with the lines above", ExitCode.INTERNAL
        )
    raise SystemExit(ExitCode.CLEAN)
