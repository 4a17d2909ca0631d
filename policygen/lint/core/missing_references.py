"""The ConfigMaps, Secrets, ServiceAccounts and Services that pods use and that the manifests lack."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from msgspec import Struct

from policygen.core.finding import At
from policygen.core.quoting import quoted, some
from policygen.core.suggest import SEPARATORS, Names, is_near
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import text
from policygen.lint.core.references import Reference, references
from policygen.lint.rule import Facts, Need

REFERENCED = ("ConfigMap", "Secret", "Service", "ServiceAccount")
"""The kinds that pods and StatefulSets name."""
_PULL = "imagePullSecrets"
_EFFECT = {
    "ServiceAccount": "so the API server refuses its pods",
    "Service": "so its pods have no DNS names",
    _PULL: "so the kubelet cannot pull private images",
}
"""What a missing object does, by kind, or by the field that names it."""

KnownObjects = Mapping[tuple[str, str], Mapping[str, Object]]
"""Objects by kind and namespace, then by name."""


class MissingObject(Struct, frozen=True, eq=False):
    """An object that does not exist, although the manifests have others of its kind."""

    references: Sequence[Reference]
    """The places that name it, at least one."""
    similar: Object | None
    """The only object of the namespace with a similar name."""
    others: Names
    """The names of all objects of its kind in the namespace."""
    elsewhere: Sequence[Object]
    """The objects with this kind and name in other namespaces."""

    @property
    def first(self) -> Reference:
        """The first reference."""
        return self.references[0]

    @property
    def message(self) -> str:
        """The fault without a remedy."""
        it = self.first
        users = [*dict.fromkeys(str(each.owner) for each in self.references)]
        use = "uses" if len(users) == 1 else "use"
        return (
            f"{some(users, 'other workload')} {use} {it.kind} {quoted(it.name)}, which does not exist, "
            f"{_EFFECT.get(_PULL if _PULL in it.steps else it.kind, 'so its containers do not start')}"
        )

    @property
    def related(self) -> tuple[At, ...]:
        """The other references, and the object with a similar name."""
        similar = (self.similar.at,) if self.similar else ()
        return (*similar, *(it.at for it in self.references[1:]))


def missing_objects(facts: Facts) -> Sequence[MissingObject]:
    """All that manifests lack, in namespaces that have objects of the kind. Use it with `facts.derive`.

    A ServiceAccount is also missing if it exists only in another namespace. Empty for a cluster, whose
    Secrets are not read. Names of optional references are not in the result.
    """
    if facts.cluster.seen is not None:
        return ()
    return tuple(_missing(facts, facts.cluster.derive(known_objects)))


def known_objects(cluster: Cluster) -> KnownObjects:
    """The objects that pods can name; use it with `cluster.derive`."""
    found: dict[tuple[str, str], dict[str, Object]] = {}
    for obj in cluster.objects:
        if obj.kind in REFERENCED and not obj.group:
            found.setdefault((obj.kind, obj.namespace), {})[obj.name] = obj
    return found


def _missing(facts: Facts, known: KnownObjects) -> Iterator[MissingObject]:
    everywhere: dict[tuple[str, str], list[Object]] = {}
    for (kind, _), objects in known.items():
        for name, obj in objects.items():
            everywhere.setdefault((kind, name), []).append(obj)
    found: dict[tuple[str, str, str], list[Reference]] = {}
    namespaces = {it.namespace for it in facts.cluster.workloads} if known else set[str]()
    for it in references(facts.cluster, namespaces):
        names = known.get((it.kind, it.owner.namespace), {})
        is_elsewhere = it.kind == "ServiceAccount" and (it.kind, it.name) in everywhere
        if it.name in names or not (names or is_elsewhere):
            continue
        found.setdefault((it.kind, it.owner.namespace, it.name), []).append(it)
    is_built = Need.BUILT in facts.given

    @cache
    def index(kind: str, namespace: str) -> tuple[Names, Mapping[str, set[str]]]:
        names = known.get((kind, namespace), {})
        by_key: dict[str, set[str]] = {}
        for name in names:
            for key in _keys(name):
                by_key.setdefault(key, set()).add(name)
        return Names(names), by_key

    for (kind, namespace, name), users in found.items():
        others, by_key = index(kind, namespace)
        candidates = {each for key in _keys(name) for each in by_key.get(key, ())}
        similar = [each for each in candidates if is_near(name, each, letters=is_built)]
        yield MissingObject(
            users,
            known[kind, namespace][similar[0]] if len(similar) == 1 else None,
            others,
            everywhere.get((kind, name), ()),
        )


def _keys(name: str) -> set[str]:
    """The name without separators, complete and without each letter: similar names share one of them."""
    word = name.lower().translate(SEPARATORS)
    return {word, *(word[:i] + word[i + 1 :] for i in range(len(word)))}


def is_pull_secret(it: Reference) -> bool:
    """Whether the kubelet pulls images with the Secret."""
    return _PULL in it.steps


def holds_registries(obj: Object) -> bool:
    """Whether a Secret has credentials of registries."""
    return text(obj.data, "type").startswith("kubernetes.io/dockerc")
