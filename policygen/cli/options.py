"""Arguments and options that several commands take alike, and what they mean."""

import os
import re
import sys
from collections.abc import Callable, Collection
from datetime import date, datetime
from pathlib import Path
from typing import Any, BinaryIO

import click
from click.shell_completion import CompletionItem

from policygen.app.requests import ClusterSettings
from policygen.core import versions
from policygen.core.errors import UsageError
from policygen.core.finding import Severity
from policygen.plan.extras import EXTRAS

_COMPONENTS = tuple(versions.SUPPORTED)
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")

Decorator = Callable[[Callable[..., None]], Callable[..., None]]
Names = Callable[[], Collection[str]]


def options(*several: Decorator) -> Decorator:
    """Several of them, in the order of the help."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(several):
            command = option(command)
        return command

    return decorate


def _targets(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """`kueue=0.19` to its component and version."""
    read: dict[str, str] = {}
    for value in values:
        component, equals, version = value.partition("=")
        if not equals or component not in _COMPONENTS:
            raise click.BadParameter(
                f"{value!r}: write COMPONENT=VERSION with one of {', '.join(_COMPONENTS)}"
            )
        if read.get(component, version) != version:
            raise click.BadParameter(f"{component} has two versions; write one of them")
        read[component] = version
    return read


def _components(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """`kueue=0.19` and its like for completion."""
    known = [
        f"{component}={first[0]}.{minor}"
        for component, (first, last) in versions.SUPPORTED.items()
        for minor in range(first[1], last[1] + 1)
    ]
    return [word for word in known if word.startswith(incomplete)]


def paths(_: click.Context, __: click.Parameter, incomplete: str) -> "list[CompletionItem[str]]":
    """Files and folders for completion, which the shell knows best."""
    return [CompletionItem(incomplete, type="file")]


def forms(values: tuple[str, ...], known: Collection[str]) -> list[tuple[str, Path | None]]:
    """`sarif=out.sarif` to the format and its file; only one goes to standard output."""
    wanted = []
    for value in values:
        name, equals, file = value.partition("=")
        if name not in known:
            raise click.BadParameter(f"{name!r}: use one of {', '.join(known)}", param_hint="-f")
        if equals and not file:
            raise click.BadParameter(
                f"{value!r} names no file; write -f {name}=FILE", param_hint="-f"
            )
        wanted.append((name, Path(file) if file else None))
    files = [Path(os.path.realpath(file)) for _, file in wanted if file is not None]
    twice = [it for it in files if files.count(it) > 1 and (it.is_file() or not it.exists())]
    if twice:
        raise click.BadParameter(f"{twice[0]} takes one format only", param_hint="-f")
    if sum(1 for _, file in wanted if file is None) > 1:
        raise click.BadParameter(
            "only one format can go to standard output; write -f FORMAT=FILE for the others",
            param_hint="-f",
        )
    return wanted


def formats(known: Names, told: str) -> Decorator:
    """The option whose values `forms` reads. `known` gives the names, for completion."""

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
        return [name for name in known() if name.startswith(incomplete)]

    return click.option(
        "-f",
        "--format",
        "formats",
        multiple=True,
        default=("text",),
        shell_complete=complete,
        metavar="FORMAT[=FILE]",
        help=f"{told}; to standard output, or into FILE; repeatable.",
    )


def form(told: str) -> Decorator:
    """The option of commands that print for a person, or JSON."""
    return click.option(
        "-f",
        "--format",
        "form",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help=told,
    )


SPECS = click.argument("specs", nargs=-1, metavar="[SPEC]...", shell_complete=paths)
TARGET = click.option(
    "--target",
    multiple=True,
    callback=_targets,
    shell_complete=_components,
    metavar="COMPONENT=VERSION",
    help="Target this version instead of the Platform's; repeatable.",
)
FAIL_ON = click.option(
    "--fail-on",
    type=click.Choice([str(severity) for severity in reversed(Severity)]),
    default="error",
    show_default=True,
    help="Exit 1 on findings of this severity or above.",
)

QUIET = click.option(
    "-q", "--quiet", is_flag=True, help="Show errors and warnings only, without notes."
)


def _rule_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Names of rules for completion."""
    from policygen.lint import registry

    return [name for name in registry.names() if name.startswith(incomplete)]


RULES = (
    click.option(
        "--rule",
        "only",
        multiple=True,
        metavar="RULE",
        shell_complete=_rule_names,
        help="Run this rule only; repeatable.",
    ),
    click.option(
        "--skip",
        multiple=True,
        metavar="RULE",
        shell_complete=_rule_names,
        help="Leave this rule out; repeatable.",
    ),
)


def contexts(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Names of the kubeconfig's contexts for completion."""
    from policygen.client import kubeconfig

    return [
        name
        for name in kubeconfig.names(context.params.get("kubeconfig"))
        if name.startswith(incomplete)
    ]


def extras(told: str) -> Decorator:
    """The option that adds controllers' configuration to what a spec renders."""
    return click.option(
        "--with",
        "extras",
        multiple=True,
        type=click.Choice(EXTRAS),
        help=f"{told}; repeatable.",
    )


ACCESS = (
    click.option(
        "--in-cluster",
        is_flag=True,
        help="Look at the cluster in which this runs as a pod, with the pod's identity.",
    ),
    click.option(
        "--kubeconfig",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Take contexts of this file.  [default: $KUBECONFIG, ~/.kube/config]",
    ),
    click.option(
        "--namespace",
        "namespaces",
        multiple=True,
        metavar="NAMESPACE",
        help="Read namespaced objects of a live cluster in this namespace only; repeatable.",
    ),
    click.option(
        "--timeout",
        "timeout_s",
        type=click.FloatRange(min=1),
        default=300.0,
        metavar="SECONDS",
        help="For all that is read of one live cluster.  [default: 300]",
    ),
)
"""How a live cluster is reached."""


def clusters(options: dict[str, Any]) -> ClusterSettings:
    """The settings that the options of a command mean. Raises UsageError for what names no namespace."""
    for name in options["namespaces"]:
        if not _NAMESPACE.fullmatch(name):
            raise UsageError(
                f"--namespace: {name!r} is no namespace's name; repeat --namespace for several"
            )
    return ClusterSettings(
        snapshots=tuple(dict.fromkeys(options.get("snapshots", ()))),
        contexts=tuple(dict.fromkeys(options["contexts"])),
        in_cluster=options["in_cluster"],
        kubeconfig=options["kubeconfig"],
        namespaces=options["namespaces"],
        timeout_s=options["timeout_s"],
    )


def stdin(given: Collection[str]) -> BinaryIO | None:
    """Standard input, if a path is `-`. Raises UsageError where it is closed."""
    if "-" not in given:
        return None
    if sys.stdin is None:
        raise UsageError("standard input is closed; write a file or a folder instead of -")
    return sys.stdin.buffer


def today() -> date:
    """The day on which waivers are judged: that of this machine's clock and zone."""
    return datetime.now().astimezone().date()
