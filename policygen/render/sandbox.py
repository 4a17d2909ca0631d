"""Runs users' templates in a sandbox, with limits for files, time, memory and output."""

import faulthandler
import json
import pickle
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from jinja2 import BaseLoader, ChoiceLoader, Environment, PrefixLoader, TemplateNotFound
from jinja2.exceptions import SecurityError
from jinja2.loaders import split_template_path
from jinja2.sandbox import ImmutableSandboxedEnvironment
from msgspec import Struct

from policygen.core.errors import UsageError
from policygen.plan.kind import Item
from policygen.render import own
from policygen.render.environment import Shipped, UnreadableError, described, document, environment
from policygen.spec.types import Target


class Limits(Struct, frozen=True):
    """Limits for users' templates, for all objects of a run together."""

    seconds: float = 10.0
    seconds_each: float = 0.02
    """Additional seconds for each object."""
    grace: float = 3.0
    """Seconds after the limit; then a process that does not react to the alarm is killed."""
    memory: int = 1 << 30
    """Bytes of address space, including Python itself."""
    memory_each: int = 1 << 15
    """Additional bytes for each object."""

    def time(self, objects: int) -> float:
        """The time limit for this number of objects, in seconds."""
        return self.seconds + self.seconds_each * objects


LIMITS = Limits()

_CHILD = (
    "import sys; sys.path[:] = sys.argv[1:]; from policygen.render import sandbox; sandbox.serve()"
)


def render(
    items: Sequence[Item], folders: Sequence[Path], target: Target | None = None
) -> list[str]:
    """The documents of the items. Templates of these folders override the shipped ones.

    The templates run in a separate process, with these guarantees:

    - They read only templates of these folders and shipped ones, also through links.
    - They see no attribute that begins with an underscore, and change nothing.
    - All of them together end within `LIMITS`, for any loop or computation.
    - No document is longer than the limit of etcd.
    - Each template prints exactly one document, without duplicate keys.
    - The document is the planned object: apiVersion, kind, name, namespace, and the two labels of
      policygen.
    - With a `target`, an API server would not refuse it. This is checked only if `schemas/cluster`
      comes from servers of the target versions or later ones.

    Raises UsageError for a folder or file that cannot be used, and for a violated guarantee, with
    template, line (if known), kind and object.
    """
    own.check(folders, Shipped().list_templates())
    seconds = LIMITS.time(len(items))
    task = (list(items), [str(folder) for folder in folders], LIMITS, target)
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter, with our own code
            [sys.executable, "-I", "-c", _CHILD, *_import_path()],
            input=pickle.dumps(task),
            capture_output=True,
            timeout=seconds + LIMITS.grace + 60,  # it stops itself; this is for a very slow machine
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UsageError(f"the templates took more than {seconds:.0f} seconds") from None
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if answers and "error" in answers[-1]:
        raise UsageError(answers[-1]["error"])
    if len(answers) < len(items):
        _crashed(items[len(answers)], folders, done, seconds)
    return [answer["text"] for answer in answers]


def _import_path() -> list[str]:
    """The import path of this process; the child starts isolated and needs the same path."""
    return [str(Path(entry).absolute()) for entry in sys.path]


def _crashed(
    item: Item,
    folders: Sequence[Path],
    done: subprocess.CompletedProcess[bytes],
    seconds: float,
) -> NoReturn:
    stderr = done.stderr.decode("utf-8", "replace").strip()
    if stderr.startswith("Timeout"):
        what = f"the templates took more than {seconds:.0f} seconds; they loop or compute too much"
    elif "MemoryError" in stderr:
        what = "the template needs more memory than is allowed"
    elif done.returncode < 0:
        what = (
            f"rendering ended with signal {-done.returncode}; the template needs too many resources"
        )
    else:
        raise RuntimeError(f"the process that renders templates ended: {stderr}")
    name = item.release.template
    theirs = (folder / name for folder in folders if (folder / name).is_file())
    raise UsageError(described(item, what, f"{next(theirs, f'templates/{name}')}"))


class _Folder(BaseLoader):
    """Loads templates only from a user's folder."""

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
            raise SecurityError(own.outside(path, self.folder))
        if not real.is_file():
            raise TemplateNotFound(template)
        return own.read(path), str(path), lambda: True


def _environment(folders: Sequence[str]) -> Environment:
    shipped = Shipped()
    theirs = [_Folder(Path(folder)) for folder in folders]
    loader = ChoiceLoader([*theirs, shipped, PrefixLoader({"builtin": shipped})])
    return environment(loader, ImmutableSandboxedEnvironment)


class _TimeIsUp(Exception):  # noqa: N818 - reported as the template's error
    """The alarm raises it while the template runs."""


def serve() -> None:
    """The separate process: reads a task from stdin, writes a JSON line per document to stdout."""
    items, folders, limits, target = pickle.load(sys.stdin.buffer)  # noqa: S301 - from our parent
    seconds = limits.time(len(items))
    # The first stops loops in Python and knows the line. It repeats, since Jinja can swallow it.
    # The second does not need the interpreter, and stops a computation inside one operation.
    signal.signal(signal.SIGALRM, _time_is_up(seconds))
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)
    faulthandler.dump_traceback_later(seconds + limits.grace, exit=True)
    try:
        limit = limits.memory + limits.memory_each * len(items)
        for text in _documents(items, folders, limit, target):
            _answer({"text": text})
    except (UsageError, _TimeIsUp) as error:
        signal.setitimer(signal.ITIMER_REAL, 0)
        _answer({"error": str(error)})
    signal.setitimer(signal.ITIMER_REAL, 0)
    faulthandler.cancel_dump_traceback_later()


def _documents(
    items: Sequence[Item], folders: Sequence[str], limit: int, target: Target | None
) -> Iterator[str]:
    from policygen.render import blocks  # noqa: PLC0415 - for this process only
    from policygen.render.identity import fault  # noqa: PLC0415 - YAML, for this process only

    env = _environment(folders)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash must not write a core file
    known: set[str] = set()
    for item in items:
        text = document(env, item)
        if item.release.template not in known:
            known.add(item.release.template)
            try:
                blocks.check(env, item.release.template)
            except UnreadableError as error:
                raise UsageError(described(item, f"{error}", error.where)) from None
        what = fault(item, text, judged=_is_known(item, target))
        if what is not None:
            where = env.get_template(item.release.template).filename
            raise UsageError(described(item, what, f"{where}"))
        yield text


def _is_known(item: Item, target: Target | None) -> bool:
    """Whether the schemas in `schemas/cluster` cover the target version for this kind."""
    from policygen.api_validation import schemas  # noqa: PLC0415 - for this process only

    component = item.kind.component
    return target is not None and schemas.covers(component, getattr(target, component))


def _time_is_up(seconds: float) -> Callable[[int, FrameType | None], NoReturn]:
    def stop(_: int, __: FrameType | None) -> NoReturn:
        raise _TimeIsUp(
            f"the templates took more than {seconds:.0f} seconds; they loop or compute too much"
        )

    return stop


def _answer(answer: dict[str, str]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
