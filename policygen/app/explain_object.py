"""Explains rendered objects: where each value comes from, what it does, and what depends on it."""

from collections.abc import Mapping
from typing import Any, BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from policygen.app import compile as compiling
from policygen.app import drift
from policygen.app.compile import Compiled
from policygen.app.requests import RenderRequest
from policygen.core.errors import SpecError, UsageError
from policygen.core.finding import At, Path, at_path, dotted
from policygen.core.suggest import Names, suggest
from policygen.documents.parse import mapping
from policygen.drift.drift import RenderedObject
from policygen.explain import answer
from policygen.explain.answer import Dependents, FieldAnswer, ObjectAnswer, Origin
from policygen.explain.fields import field
from policygen.explain.selection import select
from policygen.explain.values import Values
from policygen.plan.catalog import KINDS
from policygen.plan.extras import EXTRAS, KUEUE_CONFIG, SECOND_SCHEDULER
from policygen.plan.tree import TeamNode, Tree


class Opened(Struct, frozen=True, eq=False):
    """A spec, and the objects that it renders, with those of `--with` as far as it has their settings."""

    compiled: Compiled
    objects: tuple[RenderedObject, ...]
    data: Mapping[int, Any]
    """The data of each object by its index, with the files of ConfigMaps parsed."""

    def names(self) -> list[str]:
        """The objects as `explain` takes them: `ClusterQueue/nlp.a100`, `LocalQueue/nlp/a100`."""
        return [_name(it) for it in self.objects]

    def tree(self, name: str) -> tuple[Tree, TeamNode | None] | None:
        """The place of a queue or cohort in its tree; no node for the root."""
        for tree in self.compiled.plan.trees:
            if tree.queue == name:
                return tree, None
            for node in tree.nodes:
                if tree.name_of(node) == name:
                    return tree, node
        return None


def origin(compiled: Compiled, at: At) -> Origin:
    """The place of a value of the spec."""
    document = compiled.loaded.documents[at.document]
    written = at_path(document.data, at.path) is not None
    return Origin(document.place(at.path, key=at.key), written)


def opened(request: RenderRequest, *, stdin: BinaryIO | None = None) -> Opened:
    """Compile a spec and render its objects. Raises SpecError and UsageError."""
    compiled = compiling.compiled(request._replace(extras=frozenset(EXTRAS)), stdin=stdin)
    if not compiled.loaded.own:
        raise SpecError(compiling.no_spec(request.specs, compiled.loaded))
    platform = compiled.loaded.spec.platform
    missing = set()
    if platform.kueue.configuration is None:
        missing.add(KUEUE_CONFIG)
    if platform.kube_scheduler.image is None:
        missing.add(SECOND_SCHEDULER)
    items = tuple(it for it in compiled.plan.items if it.kind.extra not in missing)
    compiled = replace(compiled, plan=replace(compiled.plan, items=items))
    request = request._replace(extras=frozenset(EXTRAS) - missing)
    objects = drift.rendered(compiled, request).expected
    return Opened(compiled, objects, {i: _data(it) for i, it in enumerate(objects)})


def explain(found: Opened, name: str, query: str | None = None) -> ObjectAnswer:
    """The fields of an object, or those that a path names. Raises UsageError for an unknown name."""
    index = _find(found, name)
    rendered, data = found.objects[index], found.data[index]
    spelt = {path: answer.spellings(data, path) for path, _ in answer.leaves(data)}
    paths = list(spelt) if query is None else select(query, spelt, str(rendered.object))
    values = Values(found.compiled.decisions)
    fields = tuple(_field(values, rendered, data, path) for path in paths)
    origins = {at: origin(found.compiled, at) for it in fields for at in it.places}
    made = ObjectAnswer(str(rendered.object), fields, origins)
    if query is None or len(fields) != 1:
        return made
    place = found.tree(rendered.object.name)
    return replace(
        made,
        dependents=tuple(_dependents(found, values, fields[0])),
        borrowing=place and answer.borrowing(*place, data, fields[0].path),
    )


def field_names(found: Opened, name: str) -> list[str]:
    """The paths of the fields of an object, as text. Raises UsageError for an unknown name."""
    index = _find(found, name)
    return [dotted(path) for path, _ in answer.leaves(found.data[index])]


def _name(rendered: RenderedObject) -> str:
    it = rendered.object
    return "/".join(part for part in (it.kind, it.namespace, it.name) if part)


def _find(found: Opened, name: str) -> int:
    kind, _, rest = name.partition("/")
    kinds = {it.name.lower(): it.name for it in KINDS}
    if kind.lower() not in kinds:
        rendered = [it.object.kind for it in found.objects]
        raise UsageError(f'kind "{kind}" is unknown; {suggest(kind, rendered, "kind")}')
    full = f"{kinds[kind.lower()]}/{rest}"
    known = found.names()
    same = [i for i, it in enumerate(known) if it == full]
    # The namespace can be omitted if only one object has this kind and name.
    same = same or [
        i
        for i, it in enumerate(found.objects)
        if it.object.kind == kinds[kind.lower()] and it.object.name == rest
    ]
    if len(same) == 1:
        return same[0]
    if same:
        raise UsageError(f"several objects are {full}: {', '.join(known[i] for i in same)}")
    own = Names(it.partition("/")[2] for it in known if it.startswith(f"{kinds[kind.lower()]}/"))
    if not own:
        others = (it.object.kind for it in found.objects)
        advice = suggest(kind, others, "kind")
        raise UsageError(f"the spec renders no {kinds[kind.lower()]}; {advice}")
    # Without the kind, which would make all names similar.
    near = own.meant(rest)
    advice = f'did you mean "{kinds[kind.lower()]}/{near}"?' if near else own.advice(rest)
    raise UsageError(f"the spec does not render {full}; {advice}")


def _field(values: Values, rendered: RenderedObject, data: Any, path: Path) -> FieldAnswer:
    return FieldAnswer(
        str(rendered.object),
        path,
        at_path(data, path),
        tuple(values.steps(rendered.item, data, path)),
        field(rendered.item.kind, path),
    )


def _dependents(found: Opened, values: Values, one: FieldAnswer) -> list[Dependents]:
    """Other fields by the places that the field reads, the place with the fewest fields first."""
    by_place: dict[At, list[tuple[str, Path]]] = {at: [] for at in one.places}
    for index, rendered in enumerate(found.objects) if by_place else ():
        name, data = str(rendered.object), found.data[index]
        for path, _ in answer.leaves(data):
            if (name, path) == (one.object, one.path) or _is_same_everywhere(rendered, path):
                continue
            for at in {it.at for it in values.steps(rendered.item, data, path) if it.at}:
                if at in by_place:
                    by_place[at].append((name, path))
    made = [Dependents(at, tuple(fields)) for at, fields in by_place.items() if fields]
    return sorted(made, key=lambda it: len(it.fields))


def _is_same_everywhere(rendered: RenderedObject, path: Path) -> bool:
    """Whether a field has nothing to do with amounts: the identity of an object, or a fixed value."""
    meaning = field(rendered.item.kind, path)
    fixed = meaning is not None and bool(meaning.always)
    return fixed or path[0] in ("apiVersion", "kind") or path[:2] == ("metadata", "labels")


def _data(rendered: RenderedObject) -> Any:
    data = rendered.data
    texts = data.get("data")
    if rendered.object.kind != "ConfigMap" or not isinstance(texts, dict):
        return data
    return {**data, "data": {name: mapping(text) or text for name, text in texts.items()}}
