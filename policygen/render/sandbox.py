"""Users' own templates: what they may read, how long they may run, and what they must print."""

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
    """What users' templates may use, all objects of a run together."""

    seconds: float = 10.0
    seconds_each: float = 0.02
    """More for each object."""
    grace: float = 3.0
    """Seconds after which what does not even notice the end of its time is ended."""
    memory: int = 1 << 30
    """Bytes of address space, Python itself among them."""
    memory_each: int = 1 << 15
    """More for each object."""

    def time(self, objects: int) -> float:
        """Seconds for so many objects."""
        return self.seconds + self.seconds_each * objects


LIMITS = Limits()

_CHILD = (
    "import sys; sys.path[:] = sys.argv[1:]; from policygen.render import sandbox; sandbox.serve()"
)


def render(
    items: Sequence[Item], folders: Sequence[Path], target: Target | None = None
) -> list[str]:
    """The items' documents, by templates of these folders before the shipped ones.

    They run in a process of their own. Promised: they read no file but templates of these
    folders and shipped ones, not through a link either; they see no attribute that begins with
    an underscore and change nothing; together they end within `LIMITS`, whatever they loop over or
    compute; no document is longer than etcd takes; each template prints exactly one document,
    no key in it twice, and that is the planned object: apiVersion, kind, name, namespace, and
    both labels by which policygen knows its own. With a `target`, and where real servers of its
    versions or later ones were asked (`schemas/cluster`), that they would not refuse it.

    Raises UsageError for a folder or file that cannot be used, and for a broken promise,
    naming template, line (where one is known), kind and object.
    """
    own.check(folders, Shipped().list_templates())
    seconds = LIMITS.time(len(items))
    task = (list(items), [str(folder) for folder in folders], LIMITS, target)
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter, with our own code
            [sys.executable, "-I", "-c", _CHILD, *_import_path()],
            input=pickle.dumps(task),
            capture_output=True,
            timeout=seconds + LIMITS.grace + 60,  # it ends itself; this is for a machine in swap
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
    """Where this process finds modules; the other one starts isolated and must find the same."""
    return [str(Path(entry).absolute()) for entry in sys.path]


def _crashed(
    item: Item,
    folders: Sequence[Path],
    done: subprocess.CompletedProcess[bytes],
    seconds: float,
) -> NoReturn:
    said = done.stderr.decode("utf-8", "replace").strip()
    if said.startswith("Timeout"):
        what = f"the templates took more than {seconds:.0f} seconds; they loop or compute too much"
    elif "MemoryError" in said:
        what = "the template needs more memory than it may have"
    elif done.returncode < 0:
        what = f"rendering ended with signal {-done.returncode}; the template asks for too much"
    else:
        raise RuntimeError(f"the process that renders templates ended: {said}")
    name = item.release.template
    theirs = (folder / name for folder in folders if (folder / name).is_file())
    raise UsageError(described(item, what, f"{next(theirs, f'templates/{name}')}"))


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
            raise SecurityError(own.outside(path, self.folder))
        if not real.is_file():
            raise TemplateNotFound(template)
        return own.read(path), str(path), lambda: True


def _environment(folders: Sequence[str]) -> Environment:
    shipped = Shipped()
    theirs = [_Folder(Path(folder)) for folder in folders]
    loader = ChoiceLoader([*theirs, shipped, PrefixLoader({"builtin": shipped})])
    return environment(loader, ImmutableSandboxedEnvironment)


class _TimeIsUp(Exception):  # noqa: N818 - told as the template's error
    """Raised by the alarm into whatever the template is doing."""


def serve() -> None:
    """The process of its own: a task from stdin, a line of JSON to stdout for each document."""
    items, folders, limits, target = pickle.load(sys.stdin.buffer)  # noqa: S301 - from our parent
    seconds = limits.time(len(items))
    # The first ends what loops in Python and tells where; it repeats, lest Jinja swallows it.
    # The second, which needs no interpreter, ends what computes inside one operation.
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
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # whatever crashes leaves no file behind
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
    """Whether the servers that were asked know all that the target's know of this kind."""
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
