"""One item to one document: the Jinja environment, where templates come from, and their errors."""

import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from types import TracebackType

from jinja2 import (
    BaseLoader,
    Environment,
    StrictUndefined,
    TemplateNotFound,
    TemplateSyntaxError,
)
from jinja2.loaders import split_template_path
from jinja2.utils import missing

from policygen import shipped
from policygen.errors import UsageError
from policygen.plan.kind import Item
from policygen.render.scalar import block, finalize
from policygen.spec.echo import short
from policygen.spec.nearest import suggest

MAX_BYTES = 3 << 19
"""1.5 MiB, the largest request that etcd takes by default (etcd, `--max-request-bytes`)."""

_SPACES_AT_END = re.compile(r" +\n")


@dataclass(frozen=True, slots=True)
class KindView:
    """What a template knows of its kind, as `kind`."""

    name: str
    api_version: str


class Shipped(BaseLoader):
    """The templates that come with policygen, from a folder or from inside a zip."""

    def __init__(self) -> None:
        self.root = shipped.root() / "templates"

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        """The text of a template by its path below templates/."""
        del environment
        file = self.root.joinpath(*split_template_path(template))
        if not file.is_file():
            raise TemplateNotFound(template)
        return file.read_text("utf-8"), f"templates/{template}", lambda: True

    def list_templates(self) -> list[str]:
        """Paths of all templates, below templates/."""
        return sorted(_files(self.root))


def _files(folder: Traversable, prefix: str = "") -> Iterator[str]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}"


class _Missing(StrictUndefined):
    """What a template names and nobody defined: says what there is instead."""

    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        name, owner = f"{self._undefined_name}", self._undefined_obj
        if self._undefined_hint:
            return self._undefined_hint
        if owner is missing:
            return f'nothing is called "{short(name)}"; {suggest(name, ("it", "kind", "block"))}'
        known = getattr(type(owner), "__match_args__", ())  # the fields of a dataclass or Struct
        more = f"; {suggest(name, known)}" if known else ""
        return f'{type(owner).__name__} has no "{short(name)}"{more}'


def environment(loader: BaseLoader, make: type[Environment] = Environment) -> Environment:
    """How every template is read: YAML autoescaping, strict, the same on every run."""
    made = make(
        autoescape=True,
        finalize=finalize,
        undefined=_Missing,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        loader=loader,
    )
    # Jinja's own globals and `random` make text up; only what is the same every time may stay.
    made.globals = {name: made.globals[name] for name in ("dict", "namespace", "range")}
    made.globals["block"] = block
    del made.filters["random"]
    return made


def document(env: Environment, item: Item) -> str:
    """The item's document: `---`, what its template prints, one newline at the end.

    Spaces at the ends of lines and empty lines around the document are taken off.

    Raises UsageError, naming template, line, kind and object, for whatever goes wrong.
    """
    view = KindView(item.kind.name, item.release.api_version)
    try:
        template = env.get_template(item.release.template)
        if env.sandboxed:
            body = "".join(_limited(template.generate(it=item.it, kind=view)))
        else:
            body = template.render(it=item.it, kind=view)
    except Exception as error:  # a template can raise anything, from any depth
        raise UsageError(described(item, _what(error), _where(error, item))) from error
    body = f"---\n{body.strip(chr(10))}\n"
    return _SPACES_AT_END.sub("\n", body) if " \n" in body else body


def _limited(chunks: Iterator[str]) -> Iterator[str]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > MAX_BYTES and isinstance(chunks, Generator):
            chunks.throw(_TooLong())  # raised in the template, so that its line is known
        yield chunk


class _TooLong(Exception):  # noqa: N818 - never leaves this module
    """A template that prints without end."""


def described(item: Item, what: str, where: str) -> str:
    """An error as the user reads it: place, kind and object, what is wrong; on one line."""
    meta = getattr(item.it, "meta", None)
    name = ""
    if meta is not None:
        name = f' "{meta.namespace}/{meta.name}"' if meta.namespace else f' "{meta.name}"'
    line = " ".join(f"{where}: {item.kind.name}{name}: {what}".split())
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in line)


def _what(error: Exception) -> str:
    match error:
        case TemplateNotFound():
            return f'there is no template "{short(str(error.name))}"'
        case _TooLong():
            return f"the document is longer than the {MAX_BYTES >> 10} KiB that etcd takes"
        case MemoryError():
            return "the template needs more memory than it may have"
        case RecursionError():
            return "the template includes or calls itself without end"
        case TemplateSyntaxError():
            return error.message or "the syntax is wrong"
        case _:
            return str(error) or type(error).__name__


def _where(error: Exception, item: Item) -> str:
    """Template and line; the line is that of the innermost template."""
    if isinstance(error, TemplateSyntaxError):
        return f"{error.filename or error.name}:{error.lineno}"
    found = f"templates/{item.release.template}"
    for file, line in _template_frames(error.__traceback__):
        found = f"{file}:{line}"
    return found


def _template_frames(trace: TracebackType | None) -> Iterator[tuple[str, int]]:
    """Places in templates; Jinja has put them into the traceback in place of its own frames."""
    while trace is not None:
        frame = trace.tb_frame
        if "__jinja_exception__" in frame.f_globals:
            yield frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next
