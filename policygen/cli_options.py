"""Options that several commands take alike."""

from collections.abc import Collection
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from policygen import versions
from policygen.finding import Severity

_COMPONENTS = tuple(versions.SUPPORTED)


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
        name, _, file = value.partition("=")
        if name not in known:
            raise click.BadParameter(f"{name!r}: use one of {', '.join(known)}", param_hint="-f")
        wanted.append((name, Path(file) if file else None))
    if sum(1 for _, file in wanted if file is None) > 1:
        raise click.BadParameter(
            "only one format can go to standard output; write -f FORMAT=FILE for the others",
            param_hint="-f",
        )
    return wanted


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
