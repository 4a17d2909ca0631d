"""Users' own templates: what they may read, how long they may run, and what they must print."""

import faulthandler
import json
import pickle
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import NoReturn

from jinja2 import BaseLoader, ChoiceLoader, Environment, PrefixLoader, TemplateNotFound
from jinja2.exceptions import SecurityError
from jinja2.loaders import split_template_path
from jinja2.sandbox import ImmutableSandboxedEnvironment

from policygen.errors import UsageError
from policygen.plan.kind import Item
from policygen.render.environment import Shipped, described, document, environment
from policygen.spec.nearest import suggest

SECONDS = 10.0
"""Time for all templates together, and `SECONDS_EACH` more for each object."""
SECONDS_EACH = 0.02
GRACE = 3.0
"""Seconds until a process that does not even notice the end of its time is ended."""
MEMORY = 1 << 30
"""Bytes of address space for the templates, and `MEMORY_EACH` more for each object."""
MEMORY_EACH = 1 << 15
MAX_SOURCE = 1 << 20
"""Bytes of one template."""

_SHOWN = 5

_CHILD = (
    "import sys; sys.path[:] = sys.argv[1:]; from policygen.render import sandbox; sandbox.serve()"
)


def render(items: Sequence[Item], folders: Sequence[Path]) -> list[str]:
    """The items' documents, by templates of these folders before the shipped ones.

    They run in a process of their own. Promised: they read no file but templates of these
    folders and shipped ones, also not through a link; they see no attribute that begins with
    an underscore and change nothing; together they end within `SECONDS` (and `GRACE`), within
    `MEMORY`, and no document is longer than etcd takes, whatever they loop over or compute;
    each prints exactly one document, without a key twice, and that is the planned object:
    apiVersion, kind, name, namespace, and both labels by which policygen knows its own.

    Raises UsageError for a folder or file that cannot be used, and for a broken promise,
    naming template, line (where one is known), kind and object.
    """
    known = Shipped().list_templates()
    for folder in folders:
        _check_names(folder, known)
    seconds = SECONDS + SECONDS_EACH * len(items)
    task = (list(items), [str(folder) for folder in folders], seconds, MEMORY)
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter, with our own code
            [sys.executable, "-I", "-c", _CHILD, *(entry for entry in sys.path if entry)],
            input=pickle.dumps(task),
            capture_output=True,
            timeout=seconds + 2 * GRACE + 30,  # it ends itself; this is for a machine in swap
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UsageError(f"the templates took more than {seconds:.0f} seconds") from None
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if answers and "error" in answers[-1]:
        raise UsageError(answers[-1]["error"])
    if len(answers) < len(items):
        _crashed(items[len(answers)], done, seconds)
    return [answer["text"] for answer in answers]


def _crashed(item: Item, done: subprocess.CompletedProcess[bytes], seconds: float) -> NoReturn:
    said = done.stderr.decode("utf-8", "replace").strip()
    if said.startswith("Timeout"):
        what = f"the templates took more than {seconds:.0f} seconds; they loop or compute too much"
    elif "MemoryError" in said:
        what = "the template needs more memory than it may have"
    elif done.returncode < 0:
        what = f"rendering ended with signal {-done.returncode}; the template asks for too much"
    else:
        raise RuntimeError(f"the process that renders templates ended: {said}")
    raise UsageError(described(item, what, f"templates/{item.release.template}"))


def _check_names(folder: Path, known: Sequence[str]) -> None:
    """Refuse files that replace nothing: a misspelt name would silently do nothing."""
    if not folder.is_dir():
        raise UsageError(f"--templates {folder} is no folder")
    strangers = list(islice(_strangers(folder, known), _SHOWN))
    if strangers:
        raise UsageError(
            "; ".join(
                f"{folder / name} replaces no shipped template, {suggest(name, known)}"
                for name in strangers
            )
            + "; a name that begins with _ is for templates that yours include"
        )


def _strangers(folder: Path, known: Sequence[str]) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        hidden = any(part.startswith(".") for part in name.split("/"))
        if not hidden and not path.is_dir() and name not in known:
            if path.name.startswith("_") or path.suffix == ".md":
                continue
            yield name


class _Folder(BaseLoader):
    """Templates of a user's folder, and of nowhere else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.real = folder.resolve(strict=True)

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        """The text of a template by its path below the folder."""
        del environment
        path = self.folder.joinpath(*split_template_path(template))
        real = path.resolve()
        if not real.is_relative_to(self.real):
            raise SecurityError(f"{path} leads outside {self.folder}; put the file itself there")
        if not real.is_file():
            raise TemplateNotFound(template)
        if real.stat().st_size > MAX_SOURCE:
            raise SecurityError(f"{path} is longer than {MAX_SOURCE >> 10} KiB")
        try:
            return real.read_text("utf-8"), str(path), lambda: True
        except (OSError, UnicodeDecodeError) as error:
            raise SecurityError(f"{path} cannot be read: {error}") from error


def _environment(folders: Sequence[str]) -> Environment:
    shipped = Shipped()
    own = [_Folder(Path(folder)) for folder in folders]
    loader = ChoiceLoader([*own, shipped, PrefixLoader({"builtin": shipped})])
    return environment(loader, ImmutableSandboxedEnvironment)


class _TimeIsUp(Exception):  # noqa: N818 - told as the template's error
    """Raised by the alarm into whatever the template is doing."""


def serve() -> None:
    """The process of its own: a task from stdin, a line of JSON to stdout for each document."""
    items, folders, seconds, memory = pickle.load(sys.stdin.buffer)  # noqa: S301 - from our parent
    # The first ends what loops in Python and tells where; it repeats, lest Jinja swallows it.
    # The second, which needs no interpreter, ends what computes inside one operation.
    signal.signal(signal.SIGALRM, _time_is_up(seconds))
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)
    faulthandler.dump_traceback_later(seconds + GRACE, exit=True)
    try:
        limit = memory + MEMORY_EACH * len(items)
        for text in _documents(items, folders, limit):
            _answer({"text": text})
    except (UsageError, _TimeIsUp) as error:
        signal.setitimer(signal.ITIMER_REAL, 0)
        _answer({"error": str(error)})
    signal.setitimer(signal.ITIMER_REAL, 0)
    faulthandler.cancel_dump_traceback_later()


def _documents(items: Sequence[Item], folders: Sequence[str], limit: int) -> Iterator[str]:
    from policygen.render.identity import fault  # noqa: PLC0415 - YAML, for this process only

    env = _environment(folders)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for item in items:
        text = document(env, item)
        what = fault(item, text)
        if what is not None:
            where = env.get_template(item.release.template).filename
            raise UsageError(described(item, what, f"{where}"))
        yield text


def _time_is_up(seconds: float) -> Callable[[int, FrameType | None], NoReturn]:
    def stop(_: int, __: FrameType | None) -> NoReturn:
        raise _TimeIsUp(
            f"the templates took more than {seconds:.0f} seconds; they loop or compute too much"
        )

    return stop


def _answer(answer: dict[str, str]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
