"""A pod uses a ConfigMap, Secret, ServiceAccount or Service whose name looks misspelled."""

from collections.abc import Mapping, Sequence
from functools import cache

from policygen.core.finding import At
from policygen.core.quoting import quoted
from policygen.core.suggest import is_slip
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.references import references
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_KINDS = ("ConfigMap", "Secret", "Service", "ServiceAccount")
_SEPARATORS = str.maketrans("", "", "-._")
_EFFECT = {
    "ServiceAccount": "so the API server refuses its pods",
    "Service": "so its pods have no DNS names",
}
"""What a missing object does, by kind."""


def check(facts: Facts) -> Hits:
    """Containers do not start without their ConfigMap or Secret; admitted pods then hold GPUs unused.

    Checks only manifests, because Secrets of a cluster are not read. Reports a name only if a similar
    one in the same namespace is not used by any pod.
    Source: pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables; the admission plugin ServiceAccount.
    """
    if facts.cluster.seen is not None:
        return
    known = _known(facts)
    if not known:
        return
    found = [
        it
        for it in references(facts.cluster, {namespace for _, namespace in known})
        if (it.kind, it.owner.namespace) in known
    ]
    used = {(it.kind, it.owner.namespace, it.name) for it in found}

    @cache
    def unused(kind: str, namespace: str) -> Mapping[int, Sequence[str]]:
        by_size: dict[int, list[str]] = {}
        for it in known[kind, namespace]:
            if (kind, namespace, it) not in used:
                by_size.setdefault(_size(it), []).append(it)
        return by_size

    for it in found:
        names = known[it.kind, it.owner.namespace]
        if it.name in names:
            continue
        by_size, size = unused(it.kind, it.owner.namespace), _size(it.name)
        candidates = [each for n in range(-1, 2) for each in by_size.get(size + n, ())]
        similar = [each for each in candidates if _is_similar(it.name, each)]
        if len(similar) == 1:
            yield Hit(
                RULE,
                f"{it.owner} uses {it.kind} {quoted(it.name)}, which does not exist, "
                f'{_EFFECT.get(it.kind, "so its containers do not start")}; did you mean "{similar[0]}"?',
                it.at,
                (names[similar[0]],),
            )


def _size(name: str) -> int:
    """The number of characters without separators. Those of similar names differ by at most one."""
    return len(name) - sum(map(name.count, "-._"))


def _is_similar(word: str, name: str) -> bool:
    return is_slip(word, name) or word.translate(_SEPARATORS) == name.translate(_SEPARATORS)


def _known(facts: Facts) -> Mapping[tuple[str, str], Mapping[str, At]]:
    """The names of objects by kind and namespace."""
    found: dict[tuple[str, str], dict[str, At]] = {}
    for obj in facts.cluster.objects:
        if obj.kind in _KINDS and not obj.group:
            found.setdefault((obj.kind, obj.namespace), {})[obj.name] = obj.at
    return found


RULE = ObjectRule(
    "reference-misspelt",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the name of the existing object.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.WHOLE}),
)
