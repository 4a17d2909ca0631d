"""The specs that commands read if their arguments name none, and the names in them for completion."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import click

from policygen.app.requests import RenderRequest
from policygen.cli.options import fields
from policygen.core.errors import PolicygenError

_DEFAULT_SPEC = "spec"
"""The folder with the spec if the command names none."""
_ENDINGS = (".yaml", ".yml", ".json")
_GROUP = b"policygen.dev/v"
_MOST_FILES, _BEGIN = 200, 4096


def default_specs() -> tuple[str, ...]:
    """The folder `spec`, if it exists."""
    return (_DEFAULT_SPEC,) if Path(_DEFAULT_SPEC).is_dir() else ()


def specs_or_default(arguments: Sequence[str]) -> tuple[str, ...]:
    """The specs that arguments name, or the default one. Raises UsageError."""
    specs = tuple(arguments) or default_specs()
    if not specs:
        raise click.UsageError(
            f"name the SPEC, a file or a folder; there is no folder {_DEFAULT_SPEC!r} here"
        )
    return specs


def completion_request(context: click.Context) -> RenderRequest | None:
    """The spec that completion reads, with the options so far; None if there is none.

    It is what `specs` of the command names, the default folder, or the files of a spec in and below this folder.
    """
    named = [it for it in context.params.get("specs") or () if it != "-"]
    specs = tuple(named) or default_specs() or tuple(_specs_nearby())
    return render_request(specs, {"target": {}, **context.params}) if specs else None


def render_request(specs: tuple[str, ...], given: Mapping[str, Any]) -> RenderRequest:
    """The request of the options of a command."""
    return RenderRequest(**fields(RenderRequest, {**given, "specs": specs}))


def _specs_nearby() -> Iterator[str]:
    """The files of a spec, at most one level below this folder, so that completion is fast."""
    found = (it for pattern in ("*", "*/*") for it in sorted(Path().glob(pattern)))
    near = (it for it in found if it.suffix in _ENDINGS and it.is_file())
    return (str(it) for it in islice(near, _MOST_FILES) if _is_spec(it))


def _is_spec(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as file:
        return _GROUP in file.read(_BEGIN)
    return False


def names(context: click.Context, kind: str) -> list[str]:
    """The names of a kind in the spec, for completion, which prints no error."""
    from policygen.app import explain_name

    request = completion_request(context)
    with suppress(PolicygenError):
        return explain_name.names(explain_name.compiled(request), kind) if request else []
    return []


def complete(kind: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Completion with the names of a kind in the spec: team, model or pool."""

    def found(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        return [it for it in names(context, kind) if it.startswith(incomplete)]

    return found
