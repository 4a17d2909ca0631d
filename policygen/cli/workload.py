"""The command workload: the objects that run one model."""

from typing import Any

import click

from policygen.app import stdout
from policygen.cli.options import CLUSTER, TARGET, TEMPLATES, beginning, paths, stdin
from policygen.cli.spec_arguments import complete, render_request, specs_or_default
from policygen.cli.stderr import refusals, say, show


def _forms() -> tuple[str, ...]:
    from policygen.app.workload import FORMS

    return FORMS


class _Form(click.ParamType[str]):
    """A form of FORMS, which --help does not load."""

    name = "form"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The form, in lower case."""
        return click.Choice(_forms(), case_sensitive=False).convert(value, param, ctx)


@click.command(
    epilog="""\b
Examples:
  policygen workload segmenter > segmenter.yaml
  policygen workload segmenter spec/ --as job > job.yaml
  policygen workload pretraining spec/ --as jobset -n research | kubectl apply -f -

Exit codes: 0 rendered, 2 wrong usage or invalid spec, or the model cannot run in this form, 4 internal error.
"""
)
@click.argument("model", metavar="MODEL", shell_complete=complete("model"))
@click.argument("specs", nargs=-1, metavar="[SPEC]...", shell_complete=paths)
@click.option(
    "--as",
    "form",
    type=_Form(),
    metavar="FORM",
    shell_complete=beginning(_forms),
    help=(
        "Render this kind of object: deployment, statefulset, job, cronjob, vcjob (Volcano Job), jobset "
        "or lws (LeaderWorkerSet). Default: deployment for serving, statefulset for gangs of serving models, job "
        "for training and batch, cronjob with a schedule, or gang.runAs."
    ),
)
@click.option(
    "-n",
    "--namespace",
    metavar="NAMESPACE",
    help="One of the namespaces of the team. Default: the namespace of the model, else the first one of its team.",
)
@TARGET
@CLUSTER
@TEMPLATES
def workload(**given: Any) -> None:
    """Print the object that runs a model, with every field that the policy decides.

    Queue, scheduler, priority, tolerations, GPUs, cpu and memory and the gang are set. Only image, command
    and args are yours: write them in spec.container of the model, or in the output. SPEC is a file, a folder
    or - for standard input; the default is the folder `spec`.
    """
    from policygen.app import workload as app_workload

    specs = specs_or_default(given["specs"])
    request = render_request(specs, given)
    with refusals(quiet=True, every=False):
        made = app_workload.workload(
            request, given["model"], given["form"], namespace=given["namespace"], stdin=stdin(specs)
        )
    show(made.findings)
    for it in made.remarks:
        say(f"policygen: {it}")
    stdout.out(made.text)
