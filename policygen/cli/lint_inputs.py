"""The inputs that lint and baseline update share: their options, and the request that they make."""

from pathlib import Path
from typing import Any, BinaryIO

import click

from policygen.app.requests import ClusterRequest, LintRequest
from policygen.cli.options import (
    ACCESS,
    CLUSTER,
    RULES,
    SPECS,
    TARGET,
    TEMPLATES,
    Decorator,
    context,
    extras,
    lint_request,
    options,
    paths,
    snapshots,
    stdin,
)
from policygen.cli.stderr import say

INPUTS = options(
    SPECS,
    click.option(
        "--manifests",
        multiple=True,
        metavar="PATH",
        shell_complete=paths,
        help="Check the manifests in this file, folder or - (standard input); repeatable.",
    ),
    context("Check the live cluster of this kubeconfig context, read-only; repeatable."),
    snapshots("Check the snapshot in this file, which `policygen snapshot` wrote; repeatable."),
    *ACCESS,
    click.option(
        "--partial",
        is_flag=True,
        help="The manifests are incomplete: do not report objects that are missing from them.",
    ),
    TARGET,
    CLUSTER,
    extras("Also compare this controller's configuration with the spec"),
    TEMPLATES,
    RULES,
)
"""The options that name what is checked, and how."""


def baseline_file(description: str) -> Decorator:
    """The option for the file of a baseline."""
    return click.option(
        "--baseline",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help=description,
    )


def request_of(given: dict[str, Any]) -> tuple[LintRequest, BinaryIO | None]:
    """The request of the given options, and standard input if they name it. Raises UsageError."""
    request = lint_request(given)
    inputs, clusters = (*request.specs, *request.manifests), request.clusters
    if not inputs and not clusters.named:
        raise click.UsageError(
            "nothing to lint: name a SPEC, --manifests PATH, --context CONTEXT or --snapshot FILE"
        )
    if not clusters.named and (clusters.namespaces or clusters.kubeconfig):
        raise click.UsageError(
            "--namespace and --kubeconfig need a cluster; name one with --context CONTEXT"
        )
    if clusters.namespaces and not clusters.is_live:
        raise click.UsageError(
            "--namespace works only with a live cluster, not with a snapshot; omit --namespace"
        )
    if Path("-") in clusters.snapshots:
        raise click.UsageError("--snapshot cannot read standard input; name a file")
    if request.baseline == Path("-"):
        raise click.UsageError("--baseline needs a file; name a file such as lint.json, not -")
    if inputs.count("-") > 1:
        raise click.UsageError("standard input can be read only once; write - only once")
    unused = (
        ("--partial", request.partial and not request.manifests, "--manifests"),
        ("--with", request.extras and not inputs, "a SPEC"),
        ("--templates", request.templates and not inputs, "a SPEC"),
        (
            "--timeout",
            clusters.timeout_s != ClusterRequest().timeout_s and not clusters.is_live,
            "--context or --in-cluster",
        ),
    )
    for option, is_unused, other in unused:
        if is_unused:
            say(f"policygen: {option} has no effect without {other}")
    return request, stdin(inputs)
