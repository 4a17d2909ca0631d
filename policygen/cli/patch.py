"""The command that writes the fields of the policy into manifests of users: patch."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from policygen.app import stdout
from policygen.app.requests import PatchRequest
from policygen.cli.options import CLUSTER, TARGET, fields, form, paths, stdin
from policygen.cli.spec_arguments import complete, default_specs
from policygen.cli.stderr import command_without, say, show
from policygen.core.errors import ExitCode, UsageError

if TYPE_CHECKING:  # --help does not load the plan
    from policygen.app.patch import Patched


@click.command(
    epilog="""\b
Examples:
  policygen patch jobs/
  policygen patch jobs/ --spec platform/spec --write
  policygen patch jobs/ --check
  policygen patch train.yaml --model segmenter
  helm template charts/serving | policygen patch - | kubectl apply -f -
  policygen patch base/ -f kustomize > policy/kustomization.yaml

Exit codes: 0 patched or nothing to do, 1 files would change (--check), 2 wrong usage or invalid spec,
3 an object cannot be patched or something could not be read, 4 internal error.
"""
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=paths)
@click.option(
    "--spec",
    "specs",
    multiple=True,
    metavar="SPEC",
    shell_complete=paths,
    help=(
        "Write the fields that this spec decides: a file, a folder or - (standard input); repeatable. "
        "Default: the folder `spec`."
    ),
)
@click.option(
    "--model",
    metavar="MODEL",
    shell_complete=complete("model"),
    help="The model of workloads without the label policygen.dev/model whose name is not that of a model.",
)
@click.option("--write", is_flag=True, help="Change the files. Default: show a diff.")
@click.option("--check", is_flag=True, help="Exit 1 if files would change.")
@click.option("-q", "--quiet", is_flag=True, help="Do not print how many objects and files change.")
@TARGET
@CLUSTER
@form(
    json_patch="JSON patches (RFC 6902) with their targets",
    kustomize="a component of kustomize",
)
def patch(**given: Any) -> None:
    """Write the fields that the policy decides into manifests of workloads that you have.

    FILE is a file, a folder (read recursively: .yaml, .yml, .json) or - for standard input. patch finds
    the model of each workload by the label policygen.dev/model or by its name, and adds the fields that
    its pods need: queue, scheduler, priority, tolerations, GPUs. Comments and layout stay, and so does
    every value that the file has. If a value contradicts the policy, patch names its line and leaves the
    object unchanged; the other objects get their fields. For standard input, it prints the patched manifests
    instead of a diff, or nothing if one of the objects cannot be patched.
    """
    from policygen.app import patch as app_patch

    request, form = _request(given), given["form"]
    patched = app_patch.patch(request, stdin=stdin((*request.files, *request.specs)))
    printed = "-" in request.files and form == "text"
    summary = app_patch.summary(patched, done=given["write"] or printed)
    if given["write"]:
        app_patch.write(patched)
    elif form != "text":
        _report(patched, form, summary)
    elif not printed:
        stdout.out(app_patch.diff(patched))
    elif patched.complete:
        stdout.out(patched.files[0].text)
    if form not in ("markdown", "json"):
        show(patched.report.findings, quiet=given["quiet"])
        if printed and not patched.complete:
            say("policygen: nothing is printed, because not all objects could be patched")
        if not given["quiet"]:
            say(f"policygen: {summary}")
    differs = given["check"] and bool(patched.changed)
    if differs and form == "text" and "-" not in request.files:
        say(f"policygen: to change the files, run `{command_without('--check', '--write')}`")
    _exit(patched, differs=differs)


def _exit(patched: "Patched", *, differs: bool) -> None:
    if not patched.complete:
        raise SystemExit(ExitCode.INCOMPLETE)
    if differs:
        raise SystemExit(ExitCode.FINDINGS)


def _report(patched: "Patched", form: str, summary: str) -> None:
    """Print the patches in a format other than text."""
    from policygen.app import delivery
    from policygen.app import patch as app_patch
    from policygen.report import manifest_changes, patches

    if form == "json-patch":
        stdout.out(delivery.page(patches.json_patches, patched.patches))
    elif form == "kustomize":
        unnamed = next((it.object for it in patched.patches if not it.object.name), None)
        if unnamed is not None:  # a target without a name selects all objects of the kind
            raise UsageError(
                f"-f kustomize: {unnamed} has a generated name, but kustomize accepts only objects with a "
                "name; write metadata.name, or use -f json-patch"
            )
        stdout.out(delivery.page(patches.kustomize, patched.patches))
    else:
        diff = app_patch.diff(patched)
        people = partial(manifest_changes.markdown, command="patch", diff=diff, lines=[summary])
        as_json = partial(manifest_changes.json, diff=diff)
        stdout.out(delivery.page(as_json if form == "json" else people, patched.report))


def _request(given: dict[str, Any]) -> PatchRequest:
    """The request of the options. Raises UsageError."""
    request = PatchRequest(**fields(PatchRequest, given))
    request = request._replace(specs=request.specs or default_specs())
    for condition, other in (
        (given["check"], "--check, which changes nothing"),
        (given["form"] != "text", "-f, which prints the changes"),
        ("-" in request.files, "standard input"),
    ):
        if given["write"] and condition:
            raise click.UsageError(f"--write does not work with {other}; omit --write")
    if "-" in request.files and len(request.files) > 1:
        raise click.UsageError("- prints the patched manifests, so write - without other files")
    if "-" in request.files and "-" in request.specs:
        raise click.UsageError("standard input can be read only once; write - only once")
    return request
