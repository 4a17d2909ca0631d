"""Names the objects, and their fields, of which documents of an adopted spec were made."""

import re
from collections.abc import Iterable, Mapping

from policygen.adopt.trees import TeamTree, label
from policygen.core.finding import Path
from policygen.kubernetes.kueue import ResourceFlavorView
from policygen.kubernetes.object import Object
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mapping, mappings
from policygen.plan.amounts import HOST
from policygen.spec.types import Pool, Team

_QUOTA = re.compile(r"spec\.quotas\[(?P<number>[0-9]+)\]\.?(?P<field>.*)")

_OF_FLAVOR = {
    "nodeSelector": "nodeLabels",
    "taints": "nodeTaints",
    "tolerations": "tolerations",
    "topology": "topologyName",
}
"""By field of a pool, the field of a ResourceFlavor from which it was made."""

Origins = Mapping[tuple[str, str], tuple[Object, ...]]
"""By kind and name of a document of the spec, the objects that it was made of."""


def origins(trees: Iterable[TeamTree], flavors: Iterable[Entry[ResourceFlavorView]]) -> Origins:
    """The objects of teams and pools with queues."""
    found = {("ResourcePool", label(it.name)): (it.object,) for it in flavors}
    for tree in trees:
        for branch in tree.branches:
            if branch.object is None:
                continue
            names = [("Team", branch.team), *(("ResourcePool", it) for it in tree.pools)]
            for name in names:
                found[name] = (*found.get(name, ()), branch.object)
    return found


def field_of(origin: Object, document: Team | Pool | None, path: str) -> Path:
    """The field of an object of which a field of a document was made; () if no single one was.

    The amounts of a pool are those of all its queues.
    """
    match = _QUOTA.fullmatch(path)
    if isinstance(document, Team) and match:
        pool, field = document.quotas[int(match["number"])].pool, match["field"]
    elif isinstance(document, Pool):
        pool, field = document.name, ""
    else:
        return ()
    part = path.removeprefix("spec.").partition(".")[0].partition("[")[0]
    if origin.kind == "ResourceFlavor" or part in _OF_FLAVOR:
        is_part = origin.kind == "ResourceFlavor" and part in _OF_FLAVOR
        return ("spec", _OF_FLAVOR[part]) if is_part else ()
    resource, limit = field.partition(".")[0], field.endswith("limit")
    if origin.kind == "Queue":
        of_queue = "capability" if limit else "deserved"
        amounts = mapping(origin.data, "spec", of_queue)
        name = next((it for it in amounts if _is_of(it, resource)), None)
        return ("spec", of_queue, name) if name else ()
    for i, group in enumerate(mappings(origin.data, "spec", "resourceGroups")):
        for j, flavor in enumerate(mappings(group, "flavors")):
            for k, cell in enumerate(mappings(flavor, "resources")):
                if label(str(flavor.get("name"))) == pool and _is_of(
                    str(cell.get("name")), resource
                ):
                    at = ("spec", "resourceGroups", i, "flavors", j, "resources", k)
                    return (*at, "borrowingLimit" if limit else "nominalQuota")
    return ()


def _is_of(name: str, resource: str) -> bool:
    """Whether a quota is about cpu or memory, as the field of the spec says, or else about devices."""
    return name == resource if resource in HOST else name not in HOST
