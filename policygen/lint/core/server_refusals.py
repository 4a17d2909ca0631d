"""What the API server would refuse of each object, judged once for all rules that tell of it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from policygen.api_validation import schemas
from policygen.api_validation.prevalidate import acceptor
from policygen.api_validation.refusal import Refusal
from policygen.api_validation.refusals import refusals
from policygen.core.finding import At, Edit, Hit, Path
from policygen.core.rule import Rule
from policygen.kubernetes import renames
from policygen.kubernetes.cluster import VOLCANO, Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mapping
from policygen.lint.rule import Facts

_COMPONENTS = {"kueue.x-k8s.io": "kueue", "volcano.sh": "volcano"}
"""Whose release decides what a group's kinds look like, by the end of the group."""

_QUANTITIES = ("nominalQuota", "borrowingLimit", "lendingLimit", "weight")
_MADE_ONLY = "; {} accepts it on create, but every update is refused"

_SOURCE: Path = ("spec", "kubeConfig")
"""A field of v1beta1 in whose place one is missing."""

MANY = 200
"""Objects of a kind from which on prevalidation pays: a schema with pods takes 30 ms to compile, and
each object then takes 0.02 ms instead of 0.14."""


class Found(Struct, frozen=True, eq=False):
    """One refusal: the object, the place, what to write, and the edits that write it."""

    object: Object
    at: At
    message: str
    edits: tuple[Edit, ...]


class Refused(Struct, frozen=True, eq=False):
    """Everything that is refused, by the slug of the reason."""

    found: Mapping[str, tuple[Found, ...]]
    objects: frozenset[At]
    """The roots of the objects that are refused."""
    misspelt: Mapping[At, tuple[Path, ...]]
    """The fields that objects do not have since their names are misspelt, by the objects' roots."""


def refused(cluster: Cluster) -> Refused:
    """Judge every object whose kind a server that was asked serves."""
    found: dict[str, list[Found]] = {}
    objects = set()
    misspelt: dict[At, tuple[Path, ...]] = {}
    often = Counter((it.api_version, it.kind) for it in cluster.objects)
    for it in cluster.objects:
        kind = it.api_version, it.kind
        served = schemas.served(*kind)
        if served is None or (often[kind] >= MANY and acceptor(*kind).accepts(it.data)):
            continue
        moved: Mapping[Path, tuple[str, tuple[Edit, ...]]] | None = None
        for refusal in refusals(it.data, served):
            moved = renames.leftovers(it) if moved is None else moved
            objects.add(it.at)
            field = (*refusal.path[:-1], refusal.meant)
            if refusal.meant and not _is_there(it.data, field):
                misspelt[it.at] = (*misspelt.get(it.at, ()), field)
            if refusal.rule != "missing-field" or _SOURCE not in moved:
                one = _found(it, refusal, moved.get(refusal.path))
                found.setdefault(refusal.rule, []).append(one)
    return Refused(
        {slug: tuple(these) for slug, these in found.items()}, frozenset(objects), misspelt
    )


def _is_there(data: Any, path: Path) -> bool:
    *above, last = path
    for step in above:
        data = data[step]
    return last in data


def _found(it: Object, refusal: Refusal, moved: tuple[str, tuple[Edit, ...]] | None) -> Found:
    at = it.at.to(*refusal.path)
    mend = refusal.mend
    message, edits = moved or (
        refusal.message,
        (Edit(mend[0], at, mend[1]),) if mend else (),
    )
    taker = _made_by(it, refusal)
    more = _MADE_ONLY.format(taker) if taker else ""
    return Found(it, at.on_key() if refusal.key else at, f"{it}: {message}{more}", edits)


def _made_by(it: Object, refusal: Refusal) -> str:
    """Whose webhook writes another value before the server sees it, on create alone; or nobody's.

    Kueue makes texts of fractions, Volcano a weight of 1 of none. Source:
    pkg/webhooks/clusterqueue_webhook.go of Kueue, `verbs=create`;
    pkg/webhooks/admission/queues/mutate/mutate_queue.go of Volcano.
    """
    if (
        (it.group, it.kind) == ("kueue.x-k8s.io", "ClusterQueue")
        and refusal.rule == "wrong-type"
        and refusal.path[-1] in _QUANTITIES
        and refusal.mend is not None
    ):
        return "Kueue"
    zero = refusal.path == ("spec", "weight") and mapping(it.data, "spec").get("weight") == 0
    return "Volcano" if (it.group, it.kind) == (VOLCANO, "Queue") and zero else ""


def hits(rule: Rule, facts: Facts, slug: str) -> Iterator[Hit]:
    """What is refused for one reason."""
    for it in facts.cluster.derive(refused).found.get(slug, ()):
        yield Hit(rule, it.message, it.at, edits=it.edits)


def hits_of_known_releases(rule: Rule, facts: Facts, slug: str) -> Iterator[Hit]:
    """Likewise, without kinds that the target release may have changed since the schemas were recorded."""
    for it in facts.cluster.derive(refused).found.get(slug, ()):
        of = component(it.object)
        if schemas.covers(of, facts.target[of]):
            yield Hit(rule, it.message, it.at, edits=it.edits)


def component(it: Object) -> str:
    """Whose release decides what an object may look like: kubernetes, kueue or volcano."""
    for end, name in _COMPONENTS.items():
        if it.group.endswith(end):
            return name
    return "kubernetes"
