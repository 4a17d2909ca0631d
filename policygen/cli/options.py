"""Arguments and options that several commands share, and how to read their values."""

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable
from datetime import date, datetime
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import click
from click.shell_completion import CompletionItem

from policygen.app.requests import ClusterRequest, LintRequest, Targets, parse_targets
from policygen.cli.stderr import say
from policygen.core import versions
from policygen.core.errors import UsageError
from policygen.core.rule import Severity
from policygen.plan.extras import EXTRAS

_COMPONENTS = tuple(versions.SUPPORTED)
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")

Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def options(*several: Decorator) -> Decorator:
    """One decorator for several options, in the order of the help."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(several):
            command = option(command)
        return command

    return decorate


def _targets(_: click.Context, option: click.Parameter, values: tuple[str, ...]) -> Targets:
    """Values such as `kueue=0.19` as a mapping of component to version."""
    read: dict[str, str] = {}
    for value in values:
        component, equals, version = value.partition("=")
        if not equals or component not in _COMPONENTS:
            raise click.BadParameter(
                f"{value!r} is not valid; write COMPONENT=VERSION with one of the components "
                f"{', '.join(_COMPONENTS)}"
            )
        if read.get(component, version) != version:
            raise click.BadParameter(f"{component} has two versions; write only one")
        read[component] = version
    return parse_targets(read, option.opts[0])


def _components() -> list[str]:
    """Values such as `kueue=0.19`."""
    return [
        f"{component}={first[0]}.{minor}"
        for component, (first, last) in versions.SUPPORTED.items()
        for minor in range(first[1], last[1] + 1)
    ]


def beginning(names: Callable[[], Iterable[str]]) -> Callable[..., list[str]]:
    """Completion with the names that begin as the word does, in upper or lower case."""

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
        start = incomplete.lower()
        return [name for name in names() if name.lower().startswith(start)]

    return complete


def paths(_: click.Context, __: click.Parameter, incomplete: str) -> "list[CompletionItem[str]]":
    """Files and folders for completion; the shell lists them itself."""
    return [CompletionItem(incomplete, type="file")]


def forms(values: tuple[str, ...], known: Collection[str]) -> list[tuple[str, Path | None]]:
    """Values such as `sarif=out.sarif` as pairs of format and file.

    The file is None for standard output, which takes only one format. Raises BadParameter.
    """
    outputs = []
    for value in values:
        name, equals, file = value.partition("=")
        if name not in known:
            raise click.BadParameter(
                f"{name!r} is not a known format; write one of {', '.join(known)}", param_hint="-f"
            )
        if equals and not file:
            raise click.BadParameter(
                f"{value!r} names no file; write -f {name}=FILE", param_hint="-f"
            )
        outputs.append((name, Path(file) if file else None))
    files = [Path(os.path.realpath(file)) for _, file in outputs if file is not None]
    twice = [it for it in files if files.count(it) > 1 and (it.is_file() or not it.exists())]
    if twice:
        raise click.BadParameter(
            f"two formats would be written to {twice[0]}; write each format to a different file",
            param_hint="-f",
        )
    if sum(1 for _, file in outputs if file is None) > 1:
        raise click.BadParameter(
            "only one format can go to standard output; write -f FORMAT=FILE for the others",
            param_hint="-f",
        )
    return outputs


def formats(known: Collection[str], description: str) -> Decorator:
    """The option whose values `forms` reads; `known` are the names."""
    return click.option(
        "-f",
        "--format",
        "formats",
        multiple=True,
        default=("text",),
        shell_complete=beginning(lambda: known),
        metavar="FORMAT[=FILE]",
        help=(
            f"Output format: {description}. The output goes to standard output, or to FILE; "
            "repeatable."
        ),
    )


def form(**others: str) -> Decorator:
    """The option of commands with an answer to read. `others` are further formats, and what each is for."""
    known = {
        "text": "text for people",
        "markdown": "Markdown for a page or a pull request",
        "json": "JSON for programs",
        **{name.replace("_", "-"): about for name, about in others.items()},
    }
    *first, last = known.values()
    return click.option(
        "-f",
        "--format",
        "form",
        type=click.Choice([*known]),
        default="text",
        show_default=True,
        help=f"Output format: {', '.join(first)}, or {last}.",
    )


SPECS = click.argument("specs", nargs=-1, metavar="[SPEC]...", shell_complete=paths)


def target(flag: str, description: str) -> Decorator:
    """The option that names versions of components."""
    return click.option(
        flag,
        "target",
        multiple=True,
        callback=_targets,
        shell_complete=beginning(_components),
        metavar="COMPONENT=VERSION",
        help=description,
    )


TARGET = target(
    "--target",
    "Use this version of a component instead of the version in the Platform; repeatable.",
)
CLUSTER = click.option(
    "--cluster",
    metavar="NAME",
    help="Use the versions, sizes and quotas of this cluster in spec.clusters of the Platform.",
)
FAIL_ON = click.option(
    "--fail-on",
    type=click.Choice([str(severity) for severity in reversed(Severity)]),
    default="error",
    show_default=True,
    help="Exit 1 on findings of this severity or above.",
)

EXIT_CODE = click.option(
    "--exit-code/--no-exit-code",
    default=True,
    show_default=True,
    help="Exit 1 if there is a difference.",
)

QUIET_NOTES = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    help="Hide notes, except notes about fields that your pods must have.",
)
EVERY_NOTE = click.option(
    "--all", "every", is_flag=True, help="Show every note on its own line, not grouped."
)


def _rule_names() -> Iterable[str]:
    """The names of all rules."""
    from policygen.lint import registry

    return registry.names()


def say_renamed(names: Iterable[str]) -> None:
    """Print the current name of each rule that is given by a former one."""
    from policygen.lint import registry

    for name in names:
        if (current := registry.current_name(name)) != name:
            say(f'policygen: rule "{name}" is now named "{current}"')


def _rules(context: click.Context, _: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    if names and not context.resilient_parsing:  # completion prints no note
        say_renamed(names)
    return names


def rules(only: str, skip: str) -> Decorator:
    """The options that select rules. The two texts are their help."""
    return options(
        *(
            click.option(
                flag,
                name,
                multiple=True,
                callback=_rules,
                metavar="RULE",
                shell_complete=beginning(_rule_names),
                help=f"{description}; repeatable.",
            )
            for flag, name, description in (("--rule", "only", only), ("--skip", "skip", skip))
        )
    )


RULES = rules("Run only this rule", "Do not run this rule")


def _contexts(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Contexts of the kubeconfig for completion."""
    from policygen.client import kubeconfig

    return [
        name
        for name in kubeconfig.names(context.params.get("kubeconfig"))
        if name.startswith(incomplete)
    ]


def extras(description: str) -> Decorator:
    """The option that adds the configuration of controllers to the rendered objects."""
    return click.option(
        "--with",
        "extras",
        multiple=True,
        callback=lambda _, __, values: frozenset(values),
        type=click.Choice(EXTRAS),
        help=f"{description}; repeatable.",
    )


def templates(description: str) -> Decorator:
    """The option that names folders with templates."""
    return click.option(
        "--templates",
        multiple=True,
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help=f"{description}; repeatable.",
    )


TEMPLATES = templates("The templates folder that you use to render the spec")


def context(description: str) -> Decorator:
    """The option that names live clusters."""
    return click.option(
        "--context",
        "contexts",
        multiple=True,
        callback=unique,
        metavar="CONTEXT",
        shell_complete=_contexts,
        help=description,
    )


def snapshots(description: str) -> Decorator:
    """The option that names files with snapshots."""
    return click.option(
        "--snapshot",
        "snapshots",
        multiple=True,
        callback=unique,
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help=description,
    )


def unique(_: click.Context, __: click.Parameter, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values of an option without repetitions."""
    return tuple(dict.fromkeys(values))


def _namespaces(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """The values if they are names of namespaces. Raises UsageError."""
    for name in values:
        if not _NAMESPACE.fullmatch(name):
            raise UsageError(
                f"--namespace: {name!r} is not a valid namespace name; to read several "
                "namespaces, repeat --namespace"
            )
    return values


ACCESS = (
    click.option(
        "--in-cluster",
        is_flag=True,
        help="Read the cluster in which policygen runs as a pod, with the identity of the pod.",
    ),
    click.option(
        "--kubeconfig",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Read contexts from this file.  [default: $KUBECONFIG, ~/.kube/config]",
    ),
    click.option(
        "--namespace",
        "namespaces",
        multiple=True,
        callback=_namespaces,
        metavar="NAMESPACE",
        help="Read namespaced objects of a live cluster only in this namespace; repeatable.",
    ),
    click.option(
        "--timeout",
        "timeout_s",
        type=click.FloatRange(min=1),
        default=300.0,
        metavar="SECONDS",
        help="Time limit for reading one live cluster.  [default: 300]",
    ),
)
"""The options for access to a live cluster."""


def fields(request: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The options of a command that are fields of a request, a NamedTuple."""
    return {name: given[name] for name in request._fields if name in given}


def lint_request(given: dict[str, Any]) -> LintRequest:
    """The request in the options of a command."""
    clusters = ClusterRequest(**fields(ClusterRequest, given))
    return LintRequest(**fields(LintRequest, given), clusters=clusters)


def stdin(given: Collection[str]) -> BinaryIO | None:
    """Standard input, if a path is `-`. Raises UsageError if it is closed."""
    if "-" not in given:
        return None
    if sys.stdin is None:
        raise UsageError("standard input is closed; write a file or a folder instead of -")
    return sys.stdin.buffer


def for_people(
    write: Callable[..., None], form: str, file: Path | None = None
) -> Callable[[Any, TextIO], None]:
    """The writer of a report as `text` or `markdown`, from a function that writes to a page.

    Text has the colours and the width of standard output, if the report is not written to a file.
    """
    from policygen.report import markdown_page, tables, text

    screen = sys.stdout if file is None else None
    colour, wide = text.colours(screen, os.environ), tables.columns(screen, os.environ)

    def written(about: Any, out: TextIO) -> None:
        is_text = form == "text"
        page = tables.TablePage(out, colour=colour, wide=wide)
        write(about, page if is_text else markdown_page.MarkdownPage(out))

    return written


def today() -> date:
    """The date for waivers that expire: from the clock and time zone of this machine."""
    return datetime.now().astimezone().date()
