"""Renders one item to one document: the Jinja environment, the loader, and template errors."""

import re
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import cache
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
from policygen.core.quoting import listed, short
from policygen.core.suggest import suggest
from policygen.plan.kind import Item
from policygen.render.scalar import block, finalize

MAX_DOCUMENT_BYTES = 3 << 19
"""1.5 MiB, the largest request that etcd accepts by default (etcd, `--max-request-bytes`)."""

_SPACES_AT_END = re.compile(r" +\n")


class KindView(NamedTuple):
    """The variable `kind` of a template."""

    name: str
    api_version: str


class Shipped(BaseLoader):
    """The shipped templates, from a folder or from inside a zip file."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = (root or shipped.root()) / "templates"

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

    def beside(self, name: str) -> list[str]:
        """The shipped templates in the folder of a template's name; empty if the folder has none."""
        folder = f"{name.rpartition('/')[0]}/"
        return [it.removeprefix(folder) for it in self.list_templates() if it.startswith(folder)]


def _files(folder: Path, prefix: str = "") -> Iterator[str]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}"


class _Missing(StrictUndefined):
    """An undefined name in a template; its error suggests a defined name."""

    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        name, owner = f"{self._undefined_name}", self._undefined_obj
        if self._undefined_hint:
            return self._undefined_hint
        if owner is missing:
            return f'"{short(name)}" is not defined; {suggest(name, ("it", "kind", "block"))}'
        known = getattr(type(owner), "__match_args__", ())  # the fields of a Struct
        more = f"; {suggest(name, known)}" if known else ""
        return f'{type(owner).__name__} has no field "{short(name)}"{more}'


class _Generator(CodeGenerator):
    """Compiles an expression to the result of `finalize`, which is already escaped.

    The generator of Jinja would escape it once more. That changes nothing and takes longer than
    all other steps. `jinja2.nativetypes` skips it in the same way.
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
    """The environment for all templates: YAML autoescaping, strict, reproducible."""
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
    # Some globals of Jinja and the filter `random` create random text; output must be reproducible.
    made.globals = {name: made.globals[name] for name in ("dict", "namespace", "range")}
    made.globals["block"] = block
    del made.filters["random"]
    return made


def of_shipped() -> Environment:
    """The environment of the shipped templates.

    A process that renders often compiles each template once, which takes 2.3 ms.
    """
    return _of_folder(shipped.root())


@cache
def _of_folder(root: Path) -> Environment:
    return environment(Shipped(root))


def documents(env: Environment, items: Iterable[Item]) -> Iterator[str]:
    """The documents of the items, for templates without assignments: the shipped ones.

    Each template has one context, in which only `it` changes. A new context for every object
    would take a third of the time.

    Raises UsageError with template, line, kind and object for every error.
    """
    made: dict[int, tuple[Template, Context]] = {}
    for item in items:
        try:
            known = made.get(id(item.release))
            if known is None:
                template = env.get_template(item.release.template)
                known = made[id(item.release)] = template, template.new_context(_view(item))
            template, context = known
            context.parent["it"] = item.fields
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
    """The document of an item, for any template; at most MAX_DOCUMENT_BYTES long.

    Raises UsageError with template, line, kind and object for every error.
    """
    try:
        template = env.get_template(item.release.template)
        body = "".join(_limited(template.generate(_view(item))))
    except Exception as error:  # a template can raise anything, from any depth
        raise UsageError(described(item, _what(error), _where(error, item))) from error
    return _tidy(body)


def _view(item: Item) -> dict[str, object]:
    return {"it": item.fields, "kind": KindView(item.kind.name, item.release.api_version)}


def _tidy(body: str) -> str:
    """`---` and the body, without empty lines around it and without spaces at line ends."""
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
    """A file that is not a valid template; the message is the reason, `where` the place."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(why)
        self.where = where


class _TooLong(Exception):  # noqa: N818 - never leaves this module
    """The output of a template is too long."""


def described(item: Item, what: str, where: str) -> str:
    """The message of an error on one line: place, kind and object, and the fault."""
    meta = getattr(item.fields, "meta", None)
    name = ""
    if meta is not None:
        name = f' "{meta.namespace}/{meta.name}"' if meta.namespace else f' "{meta.name}"'
    line = " ".join(f"{where}: {item.kind.name}{name}: {what}".split())
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in line)


def _what(error: Exception) -> str:
    match error:
        case TemplateNotFound():
            name = str(error.name)
            beside = Shipped().beside(name.removeprefix("builtin/"))
            folder = name.rpartition("/")[0]
            remedy = f"; write one of {listed(beside)} in {folder}/" if beside else ""
            return f'template "{short(name)}" does not exist{remedy}'
        case _TooLong():
            return f"the document is longer than {MAX_DOCUMENT_BYTES >> 10} KiB, the limit of etcd"
        case MemoryError():
            return "the template needs more memory than is allowed"
        case RecursionError():
            return "the template includes or calls itself endlessly"
        case TemplateSyntaxError():
            return error.message or "the syntax of the template is invalid"
        case _:
            return str(error) or type(error).__name__


def _where(error: Exception, item: Item) -> str:
    """Template and line of an error, of the innermost template."""
    if isinstance(error, UnreadableError):
        return error.where
    if isinstance(error, TemplateSyntaxError):
        return f"{error.filename or error.name}:{error.lineno}"
    found = f"templates/{item.release.template}"
    for file, line in _template_frames(error.__traceback__):
        found = f"{file}:{line}"
    return found


def _template_frames(trace: TracebackType | None) -> Iterator[tuple[str, int]]:
    """Places in templates; Jinja puts them into the traceback instead of its own frames."""
    while trace is not None:
        frame = trace.tb_frame
        if "__jinja_exception__" in frame.f_globals:
            yield frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next
