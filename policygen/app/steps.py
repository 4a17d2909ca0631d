"""What `policygen render --steps-from` does: the applies that lead from a state to a spec."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from policygen.app import render, sides
from policygen.app.clusters import SeveralClustersError
from policygen.app.content import Content, content
from policygen.app.delivery import writing
from policygen.app.requests import RenderRequest, ReviewRequest
from policygen.app.review import changes_between
from policygen.app.sides import ReviewSide
from policygen.client.live import Progress
from policygen.core.errors import UnreadError, UsageError
from policygen.core.quoting import counted
from policygen.drift.drift import RenderedObject
from policygen.kubernetes.object import Object
from policygen.plan.amounts import Vector, text
from policygen.plan.kind import Item
from policygen.plan.volcano import PodGroup, Queue
from policygen.render import engine, output
from policygen.render.manifest import Manifest
from policygen.review.apply_order import recreated, steps_of
from policygen.review.deletions import deletions
from policygen.review.queue_steps import QueueAmounts, QueueStep, queues


class ApplyStep(Struct, frozen=True):
    """One apply."""

    delete: tuple[str, ...]
    """The objects to delete before, as arguments of `kubectl delete`."""
    manifests: tuple[Manifest, ...]
    """All objects of the spec that exist after the apply. Some Queues can still have old amounts."""


class Steps(Struct, frozen=True):
    """The applies, and what rendering reports."""

    result: render.Result
    applies: tuple[ApplyStep, ...]
    last: tuple[str, ...] = ()
    """What to delete when no workload names it any more, as arguments of `kubectl delete`."""


def steps(
    request: RenderRequest,
    old: str,
    *,
    stdin: BinaryIO | None = None,
    progress: Progress = lambda _: None,
) -> Steps:
    """The applies that lead from an old state to a spec; each is accepted as a whole.

    Raises what `render` raises, UnreadError for a cluster, and UsageError if there is no order.
    """
    new = sides.of_request(request, request.specs[0], stdin)
    names = [it.name for it in new.decisions.platform.clusters] if new.decisions else []
    if names and request.cluster is None:
        raise SeveralClustersError(names)
    if content(old) is Content.SPEC:
        was = sides.of_spec(old, request.target, request.cluster, request.extras)
    else:
        reading = ReviewRequest(old, request.specs[0], request.target)
        was = sides.of_objects(old, reading, new, progress)
        if was.unread:
            raise UnreadError("; ".join(was.unread))
    changes = changes_between(was, new)
    order = steps_of(was.cluster, new.cluster, changes, always=True)
    if order.unknown:
        raise UsageError(f"--steps-from: {order.unknown}; delete or shrink these Queues first")
    first = [_argument(it.object) for it in recreated(was.cluster, changes)]
    made = list(_applies(was, new, order.steps, request))
    made[0] = replace(made[0], delete=(*first, *made[0].delete))
    result = render.Result(tuple(new.findings), made[-1].manifests, pods=new.pods)
    gone = {name for step in order.steps for name in step.delete}
    last = tuple(_argument(it.object) for it in deletions(changes, new.cluster, gone))
    return Steps(result, tuple(made), last)


def write(made: Steps, folder: Path) -> list[str]:
    """Write a folder for each apply, into a new one. Returns the commands. Raises UsageError."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"-o {folder} already exists; name a new folder for the steps")
    commands = []
    width = len(str(len(made.applies)))
    with writing(folder):
        for number, step in enumerate(made.applies, 1):
            inside = folder / f"{number:0{width}}"
            output.write_folder(step.manifests, inside)
            commands += [f"kubectl delete {it}" for it in step.delete]
            commands.append(f"kubectl apply --server-side -f {shlex.quote(str(inside))}")
    last = [f"kubectl delete {it}" for it in made.last]
    return [
        f"{folder}: {counted(len(made.applies), 'apply', 'applies')}; run in this order:",
        *commands,
        *(["run last, when no workload names what is deleted:", *last] if last else ()),
    ]


def text_of(made: Steps) -> str:
    """All applies as one text, with comments between them."""
    parts = []
    for number, step in enumerate(made.applies, 1):
        parts += [f"# First run: kubectl delete {it}\n" for it in step.delete]
        parts.append(f"# Apply {number} of {len(made.applies)}\n{output.text(step.manifests)}")
    parts += [f"# Run last, when no workload names it: kubectl delete {it}\n" for it in made.last]
    return "".join(parts)


def _argument(found: Object) -> str:
    group = f".{found.group}" if found.group else ""
    namespace = f" -n {found.namespace}" if found.namespace else ""
    return f"{found.kind.lower()}{group} {found.name}{namespace}"


def _applies(
    old: ReviewSide, new: ReviewSide, several: tuple[QueueStep, ...], request: RenderRequest
) -> Iterator[ApplyStep]:
    expected = new.rendered.expected if new.rendered else ()
    final, existing = queues(new.cluster), set(queues(old.cluster))
    waiting = False
    for step in several:
        there = [*_there(expected, step, existing.difference(step.delete))]
        waiting = len(there) < len(expected)
        manifests = [_with_amounts(it, step, final, request) for it in there]
        delete = tuple(f"queue.scheduling.volcano.sh {it}" for it in step.delete)
        yield ApplyStep(delete, tuple(manifests))
        existing = set(step.queues)
    if waiting:  # for PodGroups of new Queues
        yield ApplyStep((), tuple(Manifest(it.item, it.text) for it in expected))


def _there(
    expected: tuple[RenderedObject, ...], step: QueueStep, existing: set[str]
) -> Iterator[RenderedObject]:
    """The objects that exist after an apply. A PodGroup needs a Queue that exists before."""
    for it in expected:
        fields = it.item.fields
        is_late = (isinstance(fields, Queue) and it.object.name not in step.queues) or (
            isinstance(fields, PodGroup) and fields.queue not in existing
        )
        if not is_late:
            yield it


def _with_amounts(
    rendered: RenderedObject,
    step: QueueStep,
    final: dict[str, QueueAmounts],
    request: RenderRequest,
) -> Manifest:
    """The manifest of an object; of a Queue, with the amounts that it has after an apply."""
    item, state = rendered.item, step.queues.get(rendered.object.name)
    if not isinstance(item.fields, Queue) or state is None or state == final[rendered.object.name]:
        return Manifest(item, rendered.text)
    fields = replace(
        item.fields,
        parent=None if state.parent == "root" else state.parent,
        capability=_texts(state.capability),
        deserved=_texts(state.deserved),
        guarantee=_texts(state.guarantee),
    )
    return engine.render([Item(item.kind, item.release, fields)], templates=request.templates)[0]


def _texts(vector: Vector) -> dict[str, str]:
    return {name: text(name, amount) for name, amount in vector.items()}
