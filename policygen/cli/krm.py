"""The command that pipelines of Kubernetes resources call as a function: krm."""

import sys

import click

from policygen.app import stdout
from policygen.cli.options import stdin, today
from policygen.cli.stderr import say, show
from policygen.core.errors import ExitCode


@click.command(
    epilog="""\b
Example, a generator in the folder of a kustomization:
  apiVersion: krm.policygen.dev/v1alpha1
  kind: Render
  metadata:
    name: gpu-policy
    annotations:
      config.kubernetes.io/function: |
        exec: {path: policygen, args: [krm]}
  spec:
    paths: [spec/]

\b
  kustomize build --enable-alpha-plugins --enable-exec .

Exit codes: 0 done, 1 the spec is invalid, or findings at or above failOn, 2 wrong usage,
4 internal error.
"""
)
def krm() -> None:
    """Render or lint as a function of kustomize or kpt (a KRM function).

    krm reads a ResourceList from standard input and writes it to standard output. Its functionConfig is
    a Render, which adds what a spec renders, or a Lint, which checks the resources. Findings are in the
    results of the list. Errors and warnings are also on standard error.
    """
    from policygen.app import krm as app_krm

    source = stdin("-")
    if source is None or sys.stdin.isatty():
        raise click.UsageError(
            "krm reads a ResourceList from standard input; kustomize and kpt call it"
        )
    outcome = app_krm.run(source.read(), today=today())
    show(outcome.findings, quiet=True)
    stdout.out(outcome.text)
    if outcome.failed:
        say("policygen: the pipeline stops because of these findings")
        raise SystemExit(ExitCode.FINDINGS)
