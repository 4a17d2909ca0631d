"""What `policygen adopt` does: infers a spec from objects, renders it, and compares both."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from policygen.adopt import infer
from policygen.adopt.compare import SpecDifference, spec_differences
from policygen.adopt.infer import Inferred
from policygen.adopt.origins import field_of
from policygen.adopt.spec_data import SpecDocument
from policygen.adopt.spec_data import documents as spec_documents
from policygen.adopt.trees import Scope
from policygen.adopt.write import Comments, write
from policygen.app import compile as compiling
from policygen.app import drift
from policygen.app.compile import Compiled
from policygen.app.delivery import writing
from policygen.app.observed import observed
from policygen.app.requests import LintRequest, RenderRequest
from policygen.client.live import Progress
from policygen.core import atomic
from policygen.core.errors import SpecError, UnreadError, UsageError
from policygen.core.finding import Finding, dotted
from policygen.core.names import SCHEDULER_CONTAINER
from policygen.core.quoting import listed, quoted
from policygen.documents.document import Document
from policygen.documents.locate import ordered
from policygen.documents.parse import mapping
from policygen.drift.drift import Rendered
from policygen.kubernetes.cluster import Cluster
from policygen.plan.extras import WORKLOADS
from policygen.report.adoption import Adoption
from policygen.spec.types import Platform, Pool, Team

FILES = {
    "Platform": "platform.yaml",
    "ResourcePool": "pools.yaml",
    "Team": "teams.yaml",
    "Model": "models.yaml",
}
"""The file of each kind in a folder."""

_SHOWN = 3


class AdoptRequest(Struct, frozen=True):
    """What to adopt: manifests or one cluster, and the set of policygen, if there are several."""

    inputs: LintRequest
    set_name: str | None = None


class Distilled(Struct, frozen=True):
    """The spec of a cluster, and what it renders."""

    inferred: Inferred
    files: tuple[tuple[str, str], ...]
    """Name and text of each file."""
    compiled: Compiled
    rendered: Rendered


def adopt(
    request: AdoptRequest, *, stdin: BinaryIO | None = None, progress: Progress = lambda _: None
) -> Adoption:
    """The spec of the objects in manifests or on a cluster, and the differences.

    Raises UsageError if there is nothing to adopt, UnreadError if the input could not be read, and
    SpecError if the objects contradict each other so that no valid spec can render them.
    """
    # A cluster without a set has no such file, and then no pool packs.
    profiles = f"{Platform().name}-{SCHEDULER_CONTAINER}"
    read = observed(request.inputs, stdin=stdin, progress=progress, config_maps=(profiles,))
    scope = scope_of(read.cluster, request.set_name)
    try:
        made = distilled(read.cluster, scope, read.documents)
    except SpecError as error:
        if not read.unread:
            raise
        refused = listed([it.message for it in error.findings[:_SHOWN]], "and")
        raise _unread(
            f"no valid spec can be made from the objects that were read: {refused}", read.unread
        ) from None
    spec = made.inferred.spec
    if not spec.pools and not spec.platform.priorities:
        if read.unread:
            raise _unread("no object to adopt was read", read.unread)
        empty = UsageError(
            "the input has no queue, quota or priority of GPUs that a spec can contain; if you have "
            "no policy yet, run `policygen init`"
        )
        empty.details = [f"{name}: {reason}" for name, reason in made.inferred.left[:_SHOWN]]
        raise empty
    expected = made.rendered.expected
    differences = [*spec_differences(read.cluster, made.inferred, expected, mapping)]
    listed_fields = {(it.object, it.field) for it in differences}
    differences += [
        SpecDifference(
            it.object, it.path, f"is invalid: {it.message.removeprefix(f'{it.object}: ')}"
        )
        for it in read.refused
        if (it.object, it.path) not in listed_fields
    ]
    return Adoption(
        files=_marked(made.files, read.unread),
        guesses=made.inferred.guesses,
        differences=tuple(differences),
        unread=read.unread,
    )


def _unread(message: str, unread: Sequence[str]) -> UnreadError:
    """The error that names what could not be read, and how to permit it."""
    error = UnreadError(f"{message}; `policygen rbac` prints the permissions that reading needs")
    error.details = [f"not read: {it}" for it in unread]
    return error


def _marked(files: Sequence[tuple[str, str]], unread: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The files; the first begins with what could not be read, so that a reader of the spec sees it."""
    notes = "".join(f"# Not read, so the spec may lack it: {it}\n" for it in unread)
    return tuple(
        (name, f"{'' if number else notes}{text}") for number, (name, text) in enumerate(files)
    )


def distilled(cluster: Cluster, scope: Scope, documents: Sequence[Document] = ()) -> Distilled:
    """The spec of the objects of a cluster in a scope. Raises SpecError if they contradict each other.

    `documents` are those of the objects, if they have a text.
    """
    inferred = infer.infer(cluster, scope)
    comments = _comments(inferred)
    files: dict[str, list[SpecDocument]] = {}
    for document in spec_documents(inferred.spec):
        files.setdefault(FILES[document.form.kind], []).append(document)
    texts = tuple((name, write(several, comments)) for name, several in files.items())
    # The workloads of models are compared only where render printed them.
    extras = frozenset({WORKLOADS} if inferred.workloads else ())
    try:
        text = "".join(text for _, text in texts)
        compiled = compiling.compiled_text(text, "adopted.yaml", extras)
    except SpecError as error:
        there = {it.index: it for it in documents}
        found = [each for it in error.findings for each in _of_objects(it, inferred, there)]
        raise SpecError(ordered(found), unplanned=error.unplanned) from None
    made = drift.rendered(compiled, RenderRequest((), {}, extras))
    return Distilled(inferred, texts, compiled, made)


def _of_objects(
    finding: Finding, inferred: Inferred, documents: Mapping[int, Document]
) -> Iterator[Finding]:
    """An error of the spec, as errors of the objects that it was made of, since the spec is not printed."""
    kind, _, name = finding.object.partition(" ")
    of_kind: Mapping[str, Sequence[Team | Pool]] = {
        "Team": inferred.spec.teams,
        "ResourcePool": inferred.spec.pools,
    }
    made_of = next((it for it in of_kind.get(kind, ()) if it.name == name), None)
    made = inferred.origins.get((kind, name), ())
    fields = [(it, field_of(it, made_of, finding.path)) for it in made]
    for origin, field in [it for it in fields if it[1]] or fields:
        document = documents.get(origin.at.document)
        path = (*origin.at.path, *field)
        yield finding._replace(
            message=f"{origin}{f' ({dotted(field)})' if field else ''} makes an invalid {finding.object}: "
            f"{finding.message}",
            place=document.place(path) if document else None,
            object=str(origin),
            path=dotted(field),
            anchor=dotted(field),
        )
    if not made:
        yield finding._replace(place=None, message=f"{finding.object}: {finding.message}")


def save(adoption: Adoption, folder: Path) -> str:
    """Write the files of the spec to a new or empty folder. Returns a message. Raises UsageError."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"-o {folder} already exists; name a new folder")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in adoption.files:
            atomic.write(folder / name, text.encode())
    return f"{folder}: {listed([name for name, _ in adoption.files], 'and')}"


def _comments(inferred: Inferred) -> Mapping[tuple[str, str], Comments]:
    found: dict[tuple[str, str], dict[tuple[str | int, ...], list[str]]] = {}
    for guess in inferred.guesses:
        found.setdefault((guess.kind, guess.name), {}).setdefault(guess.path, []).append(guess.text)
    return found


def scope_of(cluster: Cluster, set_name: str | None) -> Scope:
    """The set to adopt. Raises UsageError if it does not exist, or if several sets do."""
    sets = infer.sets(cluster)
    if set_name is not None and set_name not in sets:
        known = f"; the input has {listed([quoted(it) for it in sets], 'and')}" if sets else ""
        raise UsageError(f"--set: the input has no objects of set {quoted(set_name)}{known}")
    if set_name is None and len(sets) > 1:
        raise UsageError(
            f"the input has objects of the sets {listed([quoted(it) for it in sets], 'and')}; "
            "choose one with --set"
        )
    if sets:
        return Scope(set_name or sets[0], rendered=True)
    return Scope(Platform().name, rendered=False)
