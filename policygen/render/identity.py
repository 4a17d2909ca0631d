"""Whether a document that a user's template printed is the one object that was planned, and sound."""

import json
from collections.abc import Hashable, Iterator
from typing import Any

import yaml

from policygen.finding import dotted
from policygen.plan.catalog import KINDS
from policygen.plan.kind import Item
from policygen.served import schemas
from policygen.served.refusals import refusals
from policygen.spec.echo import shown

MANAGED_BY = "app.kubernetes.io/managed-by"
SET = "policygen.dev/set"
# The labels by which policygen knows its own on a cluster.

_SHOWN = 3


class _Loader(yaml.CSafeLoader):
    """Refuses a key that stands twice in one mapping."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                if (key.tag, key.value) in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"the key {shown(key.value)} stands twice", key.start_mark
                    )
                seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep)


def fault(item: Item, text: str, *, judged: bool = False) -> str | None:
    """What is wrong with a document that should be this item; None if nothing is.

    With `judged`, what an API server would refuse is wrong, too.
    """
    try:
        documents = list(_documents(text))
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line} of what it prints" if error.problem_mark else ""
        return f"prints no sound YAML: {error.problem}{line}"
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return f"prints no sound YAML: {error}"
    if len(documents) != 1:
        return f"prints {len(documents)} documents; a template prints one, without a line ---"
    fields = documents[0]
    if not isinstance(fields, dict):
        return "prints no object; an object begins with apiVersion, kind and metadata"
    different = next(_differences(item, fields), None)
    if different is None and judged:
        return _refused(item, fields)
    return different


def _refused(item: Item, fields: dict[Any, Any]) -> str | None:
    kind = schemas.served(item.release.api_version, item.kind.name)
    if kind is None:
        return None
    try:
        thing = json.loads(json.dumps(fields, default=str))  # as a client sends it
    except TypeError:
        return "prints a key that is no text"
    told = [f"{dotted(each.path)}: {each.message}" for each in refusals(thing, kind)]
    if not told:
        return None
    if len(told) > _SHOWN:
        told[_SHOWN:] = [f"and {len(told) - _SHOWN} more"]
    said = "".join(f"{each} " if each.endswith("?") else f"{each}; " for each in told)
    return f"prints what an API server refuses: {said.rstrip('; ')}"


def _documents(text: str) -> Iterator[Any]:
    loader = _Loader(text)
    try:
        while loader.check_data():  # type: ignore[no-untyped-call]
            yield loader.get_data()
    finally:
        loader.dispose()


def _differences(item: Item, fields: dict[Any, Any]) -> Iterator[str]:
    for path, planned in _identity(item):
        found: Any = fields
        for step in path:
            found = found.get(step) if isinstance(found, dict) else None
        if found != planned:
            name = ".".join(path[:2]) + (f" {path[2]}" if path[2:] else "")
            yield f"prints {name} {shown(found)}, planned is {shown(planned)}"


def _identity(item: Item) -> Iterator[tuple[tuple[str, ...], str | None]]:
    if item.release.api_version:
        yield ("apiVersion",), item.release.api_version
        yield ("kind",), item.kind.name
    if item.kind in KINDS:  # the others are controllers' files, which have no name
        yield ("metadata", "name"), item.meta.name
        yield ("metadata", "namespace"), item.meta.namespace
        yield ("metadata", "labels", MANAGED_BY), "policygen"
        yield ("metadata", "labels", SET), item.meta.set
