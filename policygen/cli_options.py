"""Options that several commands take alike."""

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
