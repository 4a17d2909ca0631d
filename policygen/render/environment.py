"""One item to one document: the Jinja environment, where templates come from, and their errors."""

import re
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from jinja2 import (
    BaseLoader,
    Environment,
    StrictUndefined,
    Template,
    TemplateNotFound,
    TemplateSyntaxError,
)
from jinja2.compiler import CodeGenerator, Frame
from jinja2.loaders import split_template_path
from jinja2.nodes import Expr
from jinja2.runtime import Context
from jinja2.utils import missing

from policygen.core import shipped
from policygen.core.errors import UsageError
from policygen.core.quoting import short
from policygen.core.suggest import suggest
from policygen.plan.kind import Item
from policygen.render.scalar import block, finalize

MAX_DOCUMENT_BYTES = 3 << 19
"""1.5 MiB, the largest request that etcd takes by default (etcd, `--max-request-bytes`)."""

_SPACES_AT_END = re.compile(r" +\n")


class KindView(NamedTuple):
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


def _files(folder: Path, prefix: str = "") -> Iterator[str]:
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
        known = getattr(type(owner), "__match_args__", ())  # the fields of a Struct
        more = f"; {suggest(name, known)}" if known else ""
        return f'{type(owner).__name__} has no "{short(name)}"{more}'


class _Generator(CodeGenerator):
    """Compiles expressions to what `finalize` makes of them, which is escaped already.

    Jinja's own would escape each once more, which changes nothing and takes longer than the
    rest. `jinja2.nativetypes` leaves it out in the same way.
    """

    def _output_child_pre(
        self, node: Expr, frame: Frame, finalize: CodeGenerator._FinalizeInfo
    ) -> None:
        del node, frame
        self.write(finalize.src or "(")

    def _output_child_post(
        self, node: Expr, frame: Frame, finalize: CodeGenerator._FinalizeInfo
    ) -> None:
        del node, frame, finalize
        self.write(")")


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
    made.code_generator_class = _Generator
    # Jinja's own globals and `random` make text up; only what is the same every time may stay.
    made.globals = {name: made.globals[name] for name in ("dict", "namespace", "range")}
    made.globals["block"] = block
    del made.filters["random"]
    return made


def documents(env: Environment, items: Iterable[Item]) -> Iterator[str]:
    """The items' documents, by templates that assign nothing: the shipped ones.

    Each template gets one context, in which only `it` changes; making one for every object
    would take a third of the time.

    Raises UsageError, naming template, line, kind and object, for whatever goes wrong.
    """
    made: dict[int, tuple[Template, Context]] = {}
    for item in items:
        try:
            known = made.get(id(item.release))
            if known is None:
                template = env.get_template(item.release.template)
                known = made[id(item.release)] = template, template.new_context(_view(item))
            template, context = known
            context.parent["it"] = item.it
            body = _printed(env, template, context)
        except Exception as error:  # a template can raise anything, from any depth
            raise UsageError(described(item, _what(error), _where(error, item))) from error
        yield _tidy(body)


def _printed(env: Environment, template: Template, context: Context) -> str:
    try:
        return "".join(template.root_render_func(context))
    except Exception:  # noqa: BLE001 - raised again, with the template's lines in its traceback
        env.handle_exception()


def document(env: Environment, item: Item) -> str:
    """The item's document, by a template of anybody's, up to MAX_DOCUMENT_BYTES of it.

    Raises UsageError, naming template, line, kind and object, for whatever goes wrong.
    """
    try:
        template = env.get_template(item.release.template)
        body = "".join(_limited(template.generate(_view(item))))
    except Exception as error:  # a template can raise anything, from any depth
        raise UsageError(described(item, _what(error), _where(error, item))) from error
    return _tidy(body)


def _view(item: Item) -> dict[str, object]:
    return {"it": item.it, "kind": KindView(item.kind.name, item.release.api_version)}


def _tidy(body: str) -> str:
    """`---`, the body without empty lines around it and spaces at the ends of its lines."""
    body = f"---\n{body.strip(chr(10))}\n"
    return _SPACES_AT_END.sub("\n", body) if " \n" in body else body


def _limited(chunks: Iterator[str]) -> Iterator[str]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > MAX_DOCUMENT_BYTES and isinstance(chunks, Generator):
            chunks.throw(_TooLong())  # raised in the template, so that its line is known
        yield chunk


class UnreadableError(Exception):
    """A file that is no template: where, and why."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(why)
        self.where = where


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
            return f"the document is longer than the {MAX_DOCUMENT_BYTES >> 10} KiB that etcd takes"
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
    if isinstance(error, UnreadableError):
        return error.where
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
