"""The commands that compile a spec: render, validate."""

import os
import sys
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from policygen.app import stdout
from policygen.app.requests import RenderRequest
from policygen.cli.options import (
    CLUSTER,
    EVERY_NOTE,
    FAIL_ON,
    QUIET_NOTES,
    TARGET,
    beginning,
    extras,
    fields,
    form,
    paths,
    stdin,
    templates,
)
from policygen.cli.stderr import command_without, progress, refusals, say, show
from policygen.core.errors import CheckFailed, ExitCode, SpecError, UsageError
from policygen.core.finding import Finding
from policygen.core.quoting import counted
from policygen.core.rule import Severity
from policygen.render import destination

if TYPE_CHECKING:  # --help does not load it
    from policygen.app.render import Result

RENDER_CODES = (
    "Exit codes: 0 rendered, 1 files differ (--check) or findings at or above --fail-on, 2 wrong usage or invalid spec, "
    "4 internal error."
)
VALIDATE_CODES = (
    "Exit codes: 0 valid, 1 findings at or above --fail-on, 2 wrong usage or invalid spec, "
    "4 internal error."
)


def _kinds() -> list[str]:
    from policygen.plan.catalog import KINDS

    return list(dict.fromkeys(kind.name for kind in KINDS))


_SPECS = click.argument("specs", nargs=-1, required=True, metavar="SPEC...", shell_complete=paths)


@click.command(
    epilog="""\b
Examples:
  policygen render spec/ > manifests.yaml
  policygen render spec/ -o manifests/ --with volcano-config
  policygen render spec/ -o manifests/ --check
  policygen render spec/ --target kueue=0.17 --only ClusterQueue
  policygen render spec/ --steps-from git:main:spec -o steps/
  policygen render spec/ --cluster east -o east/ --kustomization

"""
    + RENDER_CODES
)
@_SPECS
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    shell_complete=paths,
    help="Write one file per object to this folder, or a single file if PATH ends in .yaml.",
)
@click.option(
    "--check",
    is_flag=True,
    help=(
        "Write nothing; show a diff and exit 1 if -o PATH differs from the rendered objects. With "
        "-q, also hide notes about fields that your pods must have."
    ),
)
@click.option(
    "--only",
    multiple=True,
    metavar="KIND",
    shell_complete=beginning(_kinds),
    help="Render only objects of this kind; repeatable.",
)
@TARGET
@CLUSTER
@extras("Also render the configuration of this controller")
@templates(
    "Use the templates in this folder. They replace or extend the shipped templates, and run in a sandbox"
)
@click.option("--allow-empty", is_flag=True, help="Do not fail if the spec renders no object.")
@click.option(
    "--raw-scheduler-config",
    is_flag=True,
    help=(
        "Print only the KubeSchedulerConfiguration, as the configuration file of the main "
        "scheduler."
    ),
)
@click.option(
    "--kueue-helm-values",
    is_flag=True,
    help="Print only Kueue's Configuration, as values for its Helm chart.",
)
@click.option(
    "--steps-from",
    metavar="OLD",
    shell_complete=paths,
    help=(
        "Render one apply after another that lead from OLD to SPEC, for changes that Volcano refuses in one "
        "apply. OLD is a spec, manifests, a snapshot or context:NAME. -o names a new folder."
    ),
)
@click.option(
    "--kustomization",
    is_flag=True,
    help="With -o DIR: also write a kustomization.yaml that lists the files.",
)
@FAIL_ON
@QUIET_NOTES
@EVERY_NOTE
def render(**given: Any) -> None:
    """Render all policy objects of a spec, in the order to apply them.

    SPEC is a file, a folder (read recursively: .yaml, .yml, .json) or - for standard input.
    Manifests go to standard output, findings to standard error. If the spec has an error, nothing
    is rendered. If the Platform has clusters, -o writes a folder for each, unless --cluster names one.
    """
    from policygen.app import clusters
    from policygen.app import render as app_render

    output = _output(given)
    request = RenderRequest(**fields(RenderRequest, given))
    if given["steps_from"]:
        _steps(request, given, output)
        return
    command = app_render.render
    if given["raw_scheduler_config"]:
        command = app_render.raw_scheduler_config
    elif given["kueue_helm_values"]:
        command = app_render.kueue_helm_values
    source = stdin(request.specs)
    read = None if source is None else source.read()
    with refusals(quiet=given["quiet"], every=given["every"]):
        stream = None if read is None else BytesIO(read)
        results = {"": command(request, stdin=stream, output=_redirected())}
        names = results[""].clusters
        if names and request.cluster is None:
            if output is None or destination.is_file(output):
                raise clusters.SeveralClustersError(names)
            results = clusters.rendered(request, names, read, _redirected())
    findings = [it for result in results.values() for it in result.findings]
    # A check renders nothing that could need new fields in pods, so with -q it prints only differences.
    hidden = given["check"] and given["quiet"]
    pods = () if hidden else [pod for result in results.values() for pod in result.pods]
    show(findings, quiet=given["quiet"], every=given["every"], pods=pods)
    fail_on = Severity[given["fail_on"].upper()]
    if failing := sum(it.severity >= fail_on for it in findings):
        say(f"nothing is rendered: {counted(failing, 'finding')} at or above {fail_on} (--fail-on)")
        raise SystemExit(ExitCode.FINDINGS)
    _deliver(results, given, output)


def _deliver(results: "Mapping[str, Result]", given: dict[str, Any], output: Path | None) -> None:
    """Print, write or compare the manifests of a spec, or of each of its clusters."""
    from policygen.app import clusters
    from policygen.app import render as app_render

    one = results.get("")
    kustomization = given["kustomization"]
    if output is None:
        text = app_render.text(next(iter(results.values())))
        stdout.out(text, "write the manifests to a folder or file with -o")
    elif not given["check"]:
        written = (
            [app_render.write(one, output, kustomization=kustomization)]
            if one
            else clusters.write(results, output, kustomization=kustomization)
        )
        for line in written:
            say(line)
    else:
        try:
            if one:
                app_render.compare(one, output, kustomization=kustomization)
            else:
                clusters.compare(results, output, kustomization=kustomization)
        except CheckFailed:
            say(f"the files in {output} differ; to write them, run `{command_without('--check')}`")
            raise


def _output(given: dict[str, Any]) -> Path | None:
    """The path of -o. Raises UsageError for options that contradict each other."""
    if given["output"] in {"", "-"}:
        raise click.UsageError(
            "-o needs a folder, or a file that ends in .yaml; "
            "omit -o to write manifests to standard output"
        )
    output = Path(given["output"]) if given["output"] else None
    if output is not None and output.suffix.lower() == ".json":
        raise click.UsageError(
            "manifests are written as YAML; name a folder with -o, or a file that ends in .yaml"
        )
    _check_form(given, output)
    _check_output(output, given["specs"])
    return output


def _check_form(given: dict[str, Any], output: Path | None) -> None:
    if given["check"] and output is None:
        raise click.UsageError(
            "--check compares the rendered objects with existing files; name the existing files "
            "with -o PATH"
        )
    if given["only"] and output is not None and not destination.is_file(output):
        raise click.UsageError(
            "--only with a folder would delete the files of the other kinds; "
            "write to a file that ends in .yaml, or to standard output"
        )
    raw = given["raw_scheduler_config"], given["kueue_helm_values"]
    if all(raw) or (any(raw) and (output is not None or given["only"])):
        raise click.UsageError(
            "--raw-scheduler-config and --kueue-helm-values each print one file to standard output; "
            "use only one of them, without -o and --only"
        )
    if given["kustomization"] and (output is None or destination.is_file(output)):
        raise click.UsageError("--kustomization lists the files of a folder; name one with -o DIR")
    if given["steps_from"]:
        unused = [it for it in ("check", "only", "allow_empty", "kustomization") if given[it]]
        if any(raw) or unused or (output is not None and destination.is_file(output)):
            raise click.UsageError(
                "--steps-from renders a folder for each apply; omit --check, --only, --allow-empty, --kustomization and options "
                "that print one file, and name a folder with -o"
            )


def _steps(request: RenderRequest, given: dict[str, Any], output: Path | None) -> None:
    """Print or write the applies of --steps-from."""
    from policygen.app import steps as app_steps

    with refusals(quiet=given["quiet"], every=given["every"]):
        made = app_steps.steps(
            request, given["steps_from"], stdin=stdin(request.specs), progress=progress
        )
    result = made.result
    show(result.findings, quiet=given["quiet"], every=given["every"], pods=result.pods)
    if output is None:
        stdout.out(app_steps.text_of(made), "write the manifests to a folder with -o")
        return
    for line in app_steps.write(made, output):
        say(line)


@click.command(
    epilog="""\b
Examples:
  policygen validate spec/
  policygen validate spec/ --fail-on warning
  git show HEAD:spec/teams.yaml | policygen validate - spec/pools.yaml

"""
    + VALIDATE_CODES
)
@_SPECS
@TARGET
@CLUSTER
@FAIL_ON
@QUIET_NOTES
@EVERY_NOTE
@form()
def validate(**given: Any) -> None:
    """Check a spec: syntax, schema, references, sums and effects.

    Warnings are about settings that do not have the intended effect. If the Platform has clusters, each
    of them is checked. Text goes to standard error, a report of another format to standard output.
    """
    from policygen.app import clusters
    from policygen.app import render as app_render

    request = RenderRequest(**fields(RenderRequest, given))
    source = stdin(request.specs)
    read = None if source is None else source.read()
    threshold = Severity[given["fail_on"].upper()]
    is_text = given["form"] == "text"
    try:
        stream = None if read is None else BytesIO(read)
        result = app_render.validate(request, stdin=stream, output=_redirected())
        result = clusters.with_clusters(request, result, read)
    except SpecError as error:
        if is_text:
            with refusals(quiet=given["quiet"], every=given["every"]):
                raise
        incomplete = "checks that need a valid spec did not run" if error.unplanned else ""
        _report(error.findings, "the spec is invalid", given["form"], incomplete=incomplete)
        raise SystemExit(error.exit_code) from None
    failing = sum(finding.severity >= threshold for finding in result.findings)
    found = ", ".join(counted(count, name) for name, count in result.counts)
    but = f", but {counted(failing, 'finding')} at or above {threshold}" if failing else ""
    answer = f"valid{but}: {found}"
    if is_text:
        # If notes decide the exit code, all of them are shown.
        notes = threshold == Severity.INFO
        quiet, every = given["quiet"] and not notes, given["every"] or notes
        show(result.findings, quiet=quiet, every=every, pods=result.pods)
        stdout.out(f"{answer}\n")
    else:
        _report(result.findings, answer, given["form"], models=result.models)
    if failing:
        raise SystemExit(ExitCode.FINDINGS)


def _report(findings: Sequence[Finding], answer: str, form: str, **more: Any) -> None:
    """Print the findings of validate as JSON or Markdown. `more` are fields of the Report."""
    from policygen.app import delivery
    from policygen.report import json, markdown, text
    from policygen.report.report import Report

    def people(report: Report, out: TextIO) -> None:
        title = f"policygen validate: {text.summary(report.findings)}"
        result = f"{answer}; {report.incomplete}" if report.incomplete else answer
        markdown.write_findings(title, result, report.findings, out)

    report = Report(tuple(findings), **more)
    stdout.out(delivery.page(json.write if form == "json" else people, report))


def _redirected() -> os.stat_result | None:
    """The status of standard output, or None. It may be a file that is also an input."""
    try:
        return os.fstat(sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):
        return None  # closed, or not a file


def _check_output(output: Path | None, specs: tuple[str, ...]) -> None:
    from policygen.documents import files

    if output is not None and files.inside(output, specs):
        raise UsageError(
            f"{output} is a spec file or inside a spec folder, so the next run would read the "
            "output as a spec; write the output to another path"
        )
