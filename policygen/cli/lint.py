"""The command that checks specs, manifests and clusters: lint."""

import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from policygen.app import stdout
from policygen.app.requests import ClusterRequest, LintRequest
from policygen.cli.lint_inputs import INPUTS, baseline_file, request_of
from policygen.cli.options import FAIL_ON, formats, forms, today
from policygen.cli.stderr import progress, say
from policygen.core.errors import ExitCode, SpecError, UsageError
from policygen.core.finding import Verdict
from policygen.core.rule import Severity
from policygen.report import catalog

if TYPE_CHECKING:  # imported only for live clusters
    from policygen.report.report import Report

LINT_CODES = (
    "Exit codes: 0 clean, 1 findings at or above --fail-on, 2 wrong usage or invalid spec, "
    "3 something could not be read, 4 internal error."
)


@click.command(
    epilog="""\b
Examples:
  policygen lint spec/
  policygen lint --manifests manifests/ spec/
  kustomize build overlays/prod | policygen lint --manifests - --partial
  policygen lint --context prod spec/
  policygen lint --context east --context west -f html=nightly.html
  policygen lint --manifests manifests/ -f text -f sarif=lint.sarif
  policygen lint --manifests queues.yaml --rule local-queue-without-cluster-queue
  policygen lint --fix --manifests queues.yaml
  policygen lint --fix --write --manifests manifests/
  policygen lint --snapshot prod.snapshot spec/ --patches patches/

"""
    + LINT_CODES
)
@INPUTS
@baseline_file("Show only findings that are not in this file; `baseline update` writes it.")
@FAIL_ON
@click.option(
    "-q",
    "--quiet",
    is_flag=True,
    help=(
        "Hide notes in text reports. Notes about fields that your pods must have are always shown."
    ),
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help=(
        "In text reports, show all findings of a rule. Default: the first findings of each rule, "
        "and the number of the others."
    ),
)
@formats(tuple(catalog.FORMATS), catalog.listed())
@click.option(
    "--fix",
    is_flag=True,
    help="Show a diff with all fixes that are certain to be correct.",
)
@click.option(
    "--write", is_flag=True, help="With --fix: change the files, and report the remaining findings."
)
@click.option(
    "--unsafe",
    is_flag=True,
    help="With --fix: also apply fixes that change how servers or controllers behave.",
)
@click.option(
    "--patches",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Create this folder with patches and scripts that change clusters to match the spec.",
)
def lint(**given: Any) -> None:
    """Find settings that Kubernetes accepts but that have no effect or cause harm.

    lint also finds settings that Kubernetes refuses. With a SPEC, it also finds where a cluster
    differs from the spec.
    """
    from msgspec.structs import replace

    outputs = forms(given["formats"], catalog.FORMATS)
    request, source = request_of(given)
    if given["every"] and "text" not in {name for name, _ in outputs}:
        say("policygen: --all has no effect without -f text")
    _refuse_outputs(request, outputs)
    _refuse_fix(request, given, outputs)
    if given["patches"] and not request.clusters.named:
        raise click.UsageError(
            "--patches needs a cluster; name one with --context CONTEXT or --snapshot FILE"
        )
    if given["patches"] and not request.specs:
        raise click.UsageError(
            "--patches needs a spec that the cluster should match; name the SPEC"
        )
    began, start = datetime.now(UTC), time.monotonic()
    # The diff replaces the text report: a dry run finds nothing that lint does not find.
    if given["fix"] and not given["write"]:
        outputs = [(name, file) for name, file in outputs if file]
    try:
        report = _fixed(request, given, source) if given["fix"] else _found(request, source)
    except SpecError as error:
        from policygen.app import delivery
        from policygen.app import lint as app_lint

        least = Severity.WARNING if given["quiet"] else Severity.INFO
        findings = [it for it in error.findings if it.severity >= least]
        # The text form goes to standard error, as for every command.
        others = [(name, file) for name, file in outputs if file or name != "text"]
        refused = _explained(app_lint.refused(request, error, findings), outputs)
        delivery.write(replace(refused, began=began, seconds=time.monotonic() - start), others)
        raise SpecError(findings) from None
    from policygen.app import delivery, verdicts

    fail_on = Severity[given["fail_on"].upper()]
    report = replace(report, began=began, seconds=time.monotonic() - start, fail_on=fail_on)
    folder: Path | None = given["patches"]
    if folder is not None:
        from policygen.app import drift

        say(drift.write_patches(report, folder, given["kubeconfig"]))
    report = _explained(report, outputs)
    delivery.write(report, outputs, quiet=given["quiet"], every=given["every"])
    raise SystemExit(
        {
            Verdict.CRASHED: ExitCode.INTERNAL,
            Verdict.NOT_EVALUATED: ExitCode.INCOMPLETE,
            Verdict.FAIL: ExitCode.FINDINGS,
            Verdict.PASS: ExitCode.CLEAN,
        }[verdicts.verdict(report, fail_on)]
    )


def _explained(report: "Report", outputs: list[tuple[str, Path | None]]) -> "Report":
    """The report with the kinds of fixes, and with the parts that only SARIF shows."""
    from msgspec.structs import replace

    names = {name for name, _ in outputs}
    if names & catalog.FIXES and any(it.edits and not it.cluster for it in report.findings):
        from policygen.app import fix

        kinds = {number: kind.value for number, kind in fix.fixable(report).items()}
        report = replace(report, fixes=kinds)
    if "sarif" in names:
        from policygen.app import explain, fix

        report = replace(report, repairs=fix.repairs(report), pages=explain.pages(report))
    return report


def _found(request: LintRequest, source: BinaryIO | None) -> "Report":
    """What the rules find.

    Before the rules are imported, a second process starts to read the manifests. If there is only
    one cluster, the request for its longest list starts, too. So both run at the same time.
    """
    clusters, connection, files = request.clusters, None, None
    partial = request.only or request.skip or clusters.snapshots or clusters.namespaces
    with ExitStack() as stack:
        if request.manifests and source is None:
            from policygen.app import manifest_files

            files = stack.enter_context(manifest_files.opened(request.manifests))
        if clusters.number == 1 and not partial:
            from policygen.app import connect

            connection = stack.enter_context(connect.connected(clusters))
        from policygen.app import lint as app_lint

        return app_lint.lint(
            request,
            today=today(),
            stdin=source,
            files=files,
            connection=connection,
            progress=progress,
        )


def _fixed(request: LintRequest, given: dict[str, Any], source: BinaryIO | None) -> "Report":
    """Apply the certain fixes, show the diff, and report the remaining findings."""
    from policygen.app import fix

    report, diff, notes = fix.run(
        request,
        today=today(),
        unsafe=given["unsafe"],
        write=given["write"],
        stdin=source,
    )
    stdout.out(diff)
    for line in notes:
        say(f"policygen: {line}")
    return report


def _refuse_outputs(request: LintRequest, outputs: list[tuple[str, Path | None]]) -> None:
    """Refuse a report file that is an input, or that the next run would read as one."""
    from policygen.documents import files

    named = [
        *request.specs,
        *request.manifests,
        *map(str, request.clusters.snapshots),
        *([str(request.baseline)] if request.baseline else []),
    ]
    for _, file in outputs:
        if file is not None and files.is_input(file, named):
            raise UsageError(
                f"-f: {file} is an input file, or is in an input folder; write the report to "
                "another file"
            )


def _refuse_fix(
    request: LintRequest, given: dict[str, Any], outputs: list[tuple[str, Path | None]]
) -> None:
    """Refuse combinations of options that have no meaning."""
    if not given["fix"]:
        if given["write"] or given["unsafe"]:
            raise click.UsageError("--write and --unsafe need --fix; add --fix")
        return
    if request.clusters != ClusterRequest() or not request.manifests:
        raise click.UsageError(
            "--fix changes only manifests; name them with --manifests PATH, and omit options that "
            "name a cluster"
        )
    if given["write"] and "-" in request.manifests:
        raise click.UsageError("--write cannot change standard input; omit --write to print a diff")
    if not given["write"] and any(name != "text" and file is None for name, file in outputs):
        raise click.UsageError(
            "--fix prints a diff to standard output, so the report needs a file; write -f "
            "FORMAT=FILE"
        )
