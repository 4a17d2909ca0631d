"""Files and lines of the fields that remedies change, so that a user can type them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from policygen.core.finding import At
from policygen.core.names import DEFAULT_NAMESPACE
from policygen.documents.document import Document
from policygen.kubernetes.object import Object
from policygen.plan.model_names import MODEL
from policygen.simulate.why.changes import Change, FieldChange, SpecChange, SpecEdit
from policygen.simulate.why.explanation import Explanation
from policygen.simulate.why.remedy import Remedy


class RemedyPlaces:
    """Finds the places of fields in a spec and in manifests. Objects of a cluster have none."""

    def __init__(
        self,
        documents: Iterable[Document],
        objects: Iterable[Object],
        models: Mapping[str, At] | None = None,
    ) -> None:
        self._documents = {it.index: it for it in documents}
        files = {it.source.name for it in self._documents.values()}
        self._files = Counter(Path(it).name for it in files)
        """How many files have each name."""
        objects = list(objects)
        of_models = ((it, (models or {}).get(it.labels.get(MODEL, ""))) for it in objects)
        self._models = {(it.kind, it.namespace, it.name): at for it, at in of_models if at}
        """The models that objects run which are in no file."""
        self._objects = {
            (it.kind, it.namespace, it.name): it
            for it in objects
            if it.at.document in self._documents
        }

    def located(self, it: Explanation) -> Explanation:
        """The explanation, with the places of its workload and of all fields that its remedies change."""
        at = self._of_workload(it)
        place = self._place(at) if at is not None else ""
        remedies, later = self._remedies(it.remedies), self._remedies(it.later)
        equal = self._remedies(it.for_equal)
        return replace(it, remedies=remedies, later=later, for_equal=equal, place=place)

    def _of_workload(self, it: Explanation) -> At | None:
        """Where its object is, or its model: each pod of a Deployment is a workload with a number."""
        namespace, _, name = it.name.removesuffix(f" ({it.kind})").partition("/")
        stem, _, number = name.rpartition("-")
        namespaces = (namespace, "") if namespace == DEFAULT_NAMESPACE else (namespace,)
        for one in (name, stem) if number.isdecimal() else (name,):
            for own in namespaces:
                key = it.kind, own, one
                if key in self._objects or key in self._models:
                    return self._objects[key].at if key in self._objects else self._models[key]
        return None

    def _remedies(self, found: Sequence[Remedy]) -> tuple[Remedy, ...]:
        return tuple(replace(it, changes=tuple(map(self._change, it.changes))) for it in found)

    def _change(self, it: Change) -> Change:
        if isinstance(it, SpecChange):
            return replace(it, edits=tuple(map(self._edit, it.edits)))
        if isinstance(it, FieldChange):
            owner = self._objects.get((it.kind, it.namespace, it.name))
            if owner is not None and it.group in (None, owner.group):
                return replace(it, place=self._place(owner.at.to(*it.path)))
        return it

    def _edit(self, it: SpecEdit) -> SpecEdit:
        return replace(it, place=self._place(it.at))

    def _place(self, at: At) -> str:
        """File and line: `teams.yaml:12`; empty: it is in no file."""
        document = self._documents.get(at.document)
        if document is None:
            return ""
        place = document.place(at.path, key=True)
        return f"{self._short(place.file)}:{place.line}"

    def _short(self, file: str) -> str:
        """The name of a file, or its path if other files have this name."""
        name = Path(file).name
        return file if self._files[name] > 1 else name
