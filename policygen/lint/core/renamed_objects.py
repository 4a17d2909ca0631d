"""Objects that nothing uses, while several others name a missing object with a similar name."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from policygen.api_validation.metadata import is_subdomain
from policygen.core.finding import At, Hit
from policygen.core.quoting import some
from policygen.core.rule import Rule
from policygen.core.suggest import is_typo
from policygen.kubernetes.table import Entry, Table
from policygen.lint.rule import Facts, Hits, written

_ADDED = re.compile(
    r"[0-9]+g[bi]?|sxm[0-9]*|pcie|nvl[0-9]*|v[0-9]+|(local|cluster)?queue|flavou?r|topology|(priority)?class"
)
"""Parts of a name that do not make it another one: the size or form of a GPU, a version, or the kind."""
_LIKE = 0.7
"""The smallest similarity of a long word of a name."""


class NameUse(NamedTuple):
    """A field with the name of an object."""

    owner: object
    """The object with the field; in messages, its text."""
    name: str
    at: At


class RenamedObject(NamedTuple):
    """An object that was probably renamed, or whose name is misspelled."""

    object: Entry[Any]
    uses: Sequence[NameUse]
    """The fields of several objects that have its other name."""

    def hits(self, facts: Facts, rule: Rule) -> Hits:
        """The one finding about all these fields, at the name of the object, unless that is refused."""
        if "invalid-name" in facts.run and not is_subdomain(self.object.name):
            return
        old, new = self.uses[0].name, self.object.name
        owners = [*dict.fromkeys(str(use.owner) for use in self.uses)]
        at = self.object.at.to("metadata", "name")
        yield Hit(
            rule,
            f'no object names {self.object}, but {some(owners, "other object")} name "{old}", which does not '
            f'exist; write "{old}" in metadata.name, or "{new}" in these {len(owners)} objects',
            at,
            tuple(use.at for use in self.uses),
            meant=written(at, old),
        )


def renamed_objects(
    uses: Iterable[NameUse], table: Table[Any], others: Iterable[str] = (), namespace: str = ""
) -> Mapping[str, RenamedObject]:
    """Such objects of a kind in a namespace, or of a kind without one, by the name that others use.

    `uses` are all uses of the kind; `others` are further names that are in use.
    """
    by_name: dict[str, list[NameUse]] = {}
    for use in uses:
        by_name.setdefault(use.name, []).append(use)
    missing = {
        name: it
        for name, it in by_name.items()
        if is_subdomain(name) and not table.knows(name, namespace)
    }
    if not missing:
        return {}
    used = {*by_name, *others}
    return {
        name: RenamedObject(definition, it)
        for name, it in missing.items()
        if len({str(use.owner) for use in it}) > 1
        and (definition := _unused(name, table, used, namespace)) is not None
    }


def _unused(name: str, table: Table[Any], used: set[str], namespace: str) -> Entry[Any] | None:
    for similar in table.names(namespace).similar(name):
        if similar not in used and _is_same(name, similar):
            return table.get(similar, namespace)
    return None


def _is_same(name: str, other: str) -> bool:
    """Whether names certainly mean the same: `a100` and `a100-80gb` do, `a100` and `a100-spot` may not."""
    parts, others = (set(re.split("[-._]", it)) for it in (name, other))
    further = parts ^ others
    if (parts <= others or others <= parts) and all(map(_ADDED.fullmatch, further)):
        return True
    return is_typo(name, other, like=_LIKE)
