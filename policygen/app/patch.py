"""What `policygen patch` does: writes the fields that a policy decides into manifests of workloads."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import BinaryIO, Self

from msgspec import Struct

from policygen.app import inputs, manifest_files
from policygen.app.compile import Compiled
from policygen.app.edited_text import edited_text
from policygen.app.requests import LintRequest, PatchRequest
from policygen.core.errors import UsageError
from policygen.core.finding import Edit, Finding, Path, dotted
from policygen.core.quoting import counted
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.documents.document import Document
from policygen.documents.edit import rewrite
from policygen.documents.edit.apply import EditError
from policygen.documents.edit.overwrite import overwrite
from policygen.documents.edit.rewrite import Rewritten
from policygen.documents.edit.splice import Splice
from policygen.documents.files import Source
from policygen.kubernetes import manifests
from policygen.kubernetes.manifests import Manifests
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import TEMPLATES
from policygen.lint.run_rules import MANIFEST_NOT_PATCHED
from policygen.patch.additions import edits
from policygen.patch.draft import Contradiction
from policygen.patch.model_finder import ModelFinder, RunModel
from policygen.patch.object_patch import ObjectPatch, object_patch
from policygen.render.difference import difference
from policygen.report.report import UNREAD, Report


class PatchedFile(Struct, frozen=True):
    """A file of the input, and what happens to it."""

    source: Source
    text: str
    """Its text with all patches."""
    patches: tuple[ObjectPatch, ...] = ()
    """Of the objects that need more fields, and can get them."""
    refused: tuple[Finding, ...] = ()
    """Why other objects are unchanged."""
    refused_objects: int = 0
    workloads: int = 0

    @property
    def changed(self) -> bool:
        """Whether an object of the file gets fields."""
        return self.text != self.source.text


class Patched(Struct, frozen=True):
    """The result of a patch, in memory."""

    files: tuple[PatchedFile, ...]
    unreadable: tuple[Finding, ...] = ()
    """What could not be read or parsed."""
    notes: tuple[Finding, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every object has the fields of its model, or gets them."""
        return not self.unreadable and not self.refused

    @property
    def changed(self) -> tuple[PatchedFile, ...]:
        """The files that change."""
        return tuple(it for it in self.files if it.changed)

    @property
    def refused(self) -> tuple[Finding, ...]:
        """Why objects are not patched."""
        return tuple(found for it in self.files for found in it.refused)

    @property
    def patches(self) -> tuple[ObjectPatch, ...]:
        """The patches of all objects."""
        return tuple(found for it in self.files for found in it.patches)

    @property
    def report(self) -> Report:
        """What was refused or not read, as a report of lint."""
        found = (*self.notes, *self.unreadable, *self.refused)
        return Report(found, incomplete=UNREAD if self.unreadable else "")


def patch(request: PatchRequest, *, stdin: BinaryIO | None = None) -> Patched:
    """The manifests with the fields that their models need. An object is patched completely or not at all.

    Raises UsageError, and SpecError for an invalid spec.
    """
    with manifest_files.opened(request.files, stdin) as opened:
        as_lint = LintRequest(
            request.specs, request.files, target=request.target, cluster=request.cluster
        )
        inside = manifests.spec_sources(opened.sources)
        spec = inputs.compiled_spec(as_lint, inside, stdin if "-" in request.specs else None)
        if spec.compiled is None:
            raise UsageError("there is no spec that decides the fields; add --spec SPEC")
        found = manifests.read(
            opened.sources, first_index=len(spec.documents), read_ahead=opened.documents
        )
    finder = _finder(spec.compiled, request.model)
    errors = [it for it in found.findings if it.severity is Severity.ERROR]
    broken = {it.place.file for it in errors if it.place is not None}
    patched = [
        PatchedFile(source, source.text)
        if source.name in broken
        else _patched(source, _Content.of(source, found), finder)
        for source in opened.sources
    ]
    notes = tuple(manifests.unbuilt(found, "patch -"))
    return Patched(tuple(patched), (*opened.unreadable, *errors), notes)


def write(patched: Patched) -> None:
    """Change the files. Raises UsageError if one must not be changed; then no file is changed."""
    overwrite([(it.source, it.text) for it in patched.changed])


def diff(patched: Patched) -> str:
    """All changes as one unified diff that can be applied."""
    return "".join(
        difference(
            it.source.name, it.source.whole(it.source.text), it.source.mark + it.text, edited=True
        )
        for it in patched.changed
    )


def summary(patched: Patched, *, done: bool) -> str:
    """The numbers of files and objects, as a line. `done`: the texts were written or printed."""
    files = patched.changed
    objects = counted(sum(len(it.patches) for it in files), "object")
    parts = []
    if files:
        many = f"{objects} in {counted(len(files), 'file')}"
        parts = [f"patched {many}" if done else f"{many} would change"]
    refused = sum(it.refused_objects for it in patched.files)
    if refused:
        parts.append(f"{counted(refused, 'object')} cannot be patched")
    if patched.unreadable:
        parts.append("some input could not be read")
    elif not any(it.workloads for it in patched.files):
        parts = ["the input contains no workload"]
    return "; ".join(parts) or "nothing to patch"


def _finder(compiled: Compiled, chosen: str | None) -> ModelFinder:
    """The models of a spec. Raises UsageError if the chosen one does not exist."""
    names = [it.name for it in compiled.loaded.spec.models]
    if chosen is not None and chosen not in names:
        raise UsageError(f'--model: model "{chosen}" does not exist; {suggest(chosen, names)}')
    return ModelFinder(compiled.decisions, chosen)


class _Content(Struct, frozen=True):
    """The content of one file."""

    documents: Mapping[int, Document]
    """By index."""
    workloads: Sequence[Object]

    @classmethod
    def of(cls, source: Source, found: Manifests) -> Self:
        """The content of a source among manifests."""
        documents = {it.index: it for it in found.documents if it.source is source}
        workloads = [
            it
            for it in found.objects
            if it.at.document in documents and (it.group, it.kind) in TEMPLATES
        ]
        return cls(documents, workloads)

    def refusal(self, object_: Object, fault: Contradiction) -> Finding:
        """A finding about a field of an object."""
        place = self.documents[object_.at.document].place((*object_.at.path, *fault.path))
        text = f"{object_} is not patched: {fault.message}"
        path = dotted(fault.path)
        return Finding(MANIFEST_NOT_PATCHED, text, place, object=f"{object_}", path=path)


def _patched(source: Source, content: _Content, finder: ModelFinder) -> PatchedFile:
    """One file with its patches."""
    patches: list[ObjectPatch] = []
    refused: list[Finding] = []
    stopped = 0
    for object_ in content.workloads:
        run = finder.of(object_)
        if isinstance(run, RunModel):
            made = object_patch(object_, run)
            refused += (content.refusal(object_, it) for it in made.faults)
            patches += [made] if made.added and not made.faults else []
            stopped += bool(made.faults)
        elif run is not None:
            refused.append(content.refusal(object_, run))
            stopped += 1
    fixes = [edits(it.added, it.object.at) for it in patches]
    accepted: list[tuple[ObjectPatch, Sequence[Edit]]] = []
    parts: list[Splice] = []
    for made, fix, found in zip(patches, fixes, _splices(content, fixes), strict=True):
        if isinstance(found, EditError):
            path = found.path[len(made.object.at.path) :]
            refused.append(content.refusal(made.object, _by_hand(made, f"{found}", path)))
            stopped += 1
        else:
            accepted.append((made, fix))
            parts += found
    documents = [*content.documents.values()]
    text = edited_text(source, documents, parts, _by_document(fix for _, fix in accepted))
    if text is None:  # which patch causes it is not known
        reason = "the new text would not have the intended content"
        for made, _ in accepted:
            refused.append(content.refusal(made.object, _by_hand(made, reason)))
        stopped, accepted, text = stopped + len(accepted), [], source.text
    done = tuple(made for made, _ in accepted)
    return PatchedFile(source, text, done, tuple(refused), stopped, len(content.workloads))


def _splices(content: _Content, fixes: Sequence[Sequence[Edit]]) -> Iterator[Rewritten]:
    """The changes of each object, in the order of the objects; those of a document are consecutive."""
    for index, them in groupby(fixes, key=lambda it: it[0].at.document):
        yield from rewrite.splices(content.documents[index], list(them))


def _by_document(fixes: Iterable[Sequence[Edit]]) -> Mapping[int, Sequence[Edit]]:
    found: dict[int, list[Edit]] = {}
    for edit in chain.from_iterable(fixes):
        found.setdefault(edit.at.document, []).append(edit)
    return found


def _by_hand(patch: ObjectPatch, reason: str, path: Path = ()) -> Contradiction:
    """Why the text of an object cannot be changed at a path, and what to write."""
    fields = ", ".join(f"{dotted(it.path)}: {json.dumps(it.value)}" for it in patch.added)
    return Contradiction(path, reason, f"write by hand {fields}")
