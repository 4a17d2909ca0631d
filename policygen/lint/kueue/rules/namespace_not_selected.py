"""A LocalQueue is in a namespace that its ClusterQueue does not select."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from policygen.core.finding import At, Path
from policygen.core.label_grammar import value_fault
from policygen.core.names import NAMESPACE_NAME
from policygen.core.quoting import quoted, some
from policygen.core.suggest import Names
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import LabelSelector
from policygen.kubernetes.kueue import ClusterQueueView, LocalQueueView
from policygen.kubernetes.namespaces import selects
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.misplaced_queues import misplaced_queues
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, ObjectRule, Severity, written

_SHOWN = 3
"""The most queues that the advice names."""


def check(facts: Facts) -> Hits:
    """Its workloads are inadmissible, because the namespace does not match.

    Checked only if the namespace's labels are known, or its name is enough to decide.
    Source: pkg/workload/resources.go, ValidateAdmissibility; issue 301.
    """
    misplaced = facts.derive(misplaced_queues)
    equal: dict[tuple[str, str, str], list[_Unselected]] = {}
    for local in facts.cluster.local_queues:
        queue = facts.cluster.cluster_queues.get(local.fields.cluster_queue)
        if queue is None or queue.fields.namespace_selector is None:
            continue  # other rules report it
        namespace = facts.cluster.namespaces.get(local.namespace)
        if namespace and any(map(value_fault, namespace.labels.values())):
            continue  # invalid-label reports it
        if any(
            it.operator in ("In", "NotIn") and not it.values
            for it in queue.fields.namespace_selector.match_expressions
        ):
            continue  # selector-refused reports it
        if selects(facts.cluster, queue.fields.namespace_selector, local.namespace) is False:
            users = misplaced.get(local.at, ())
            advice = _advice(facts.cluster, local.namespace)
            at = local.at.to("spec", "clusterQueue")
            meant: tuple[Edit, ...] = ()
            if users:
                names = some([str(it) for it in users], "other workload")
                uses = "names" if len(users) == 1 else "name"
                advice = (
                    f"write namespace: {users[0].namespace}, where {names} {uses} this LocalQueue"
                )
                at = local.at.to("metadata", "namespace")
                if namespace is not None:  # otherwise, namespace-missing is the cause
                    meant = written(at, users[0].namespace)
            labels = namespace.labels if namespace else None
            unmet = _unmet(queue.fields.namespace_selector, local.namespace, labels)
            if unmet and unmet.meant and not users:
                advice = f'did you mean "{unmet.meant}" in namespaceSelector?'
                at = queue.at.to("spec", "namespaceSelector", *unmet.path)
            related = (
                queue.at.to("spec", "namespaceSelector", *(unmet.path if unmet else ())),
                *([namespace.at.to("metadata", "labels")] if namespace else []),
            )
            fact = unmet.fact if unmet else ""
            one = _Unselected(local, queue, fact, advice, at, related, meant)
            equal.setdefault((local.namespace, fact or queue.name, advice), []).append(one)
    yield from map(_hit, equal.values())


class _Unselected(NamedTuple):
    """A LocalQueue whose namespace its ClusterQueue does not select."""

    local: Entry[LocalQueueView]
    queue: Entry[ClusterQueueView]
    fact: str
    advice: str
    at: At
    related: tuple[At, ...]
    meant: tuple[Edit, ...]


def _hit(found: Sequence[_Unselected]) -> Hit:
    """One hit for all LocalQueues of a namespace with one cause: then it is probably the namespace."""
    first, *others = found
    names = some([str(it.local) for it in found], "other LocalQueue")
    verb = "are" if others else "is"
    whose = "their ClusterQueues do" if others else f"{first.queue} does"
    return Hit(
        RULE,
        f"{names} {verb} in namespace {first.local.namespace}, which {whose} not select{first.fact}, so "
        f"{'their' if others else 'its'} workloads are never admitted; {first.advice}",
        first.related[-1] if others else first.at,
        tuple(dict.fromkeys(at for it in found for at in it.related)),
        meant=tuple(edit for it in found for edit in it.meant),
    )


class _UnmetLabel(NamedTuple):
    """What a selector requires and a namespace does not have."""

    path: Path
    """The place in the selector."""
    fact: str
    meant: str = ""
    """The value of the namespace's label, if it is similar to a required one."""


def _unmet(
    selector: LabelSelector, name: str, labels: Mapping[str, str] | None
) -> _UnmetLabel | None:
    """The first requirement about a label that the labels of a namespace do not meet; None as labels: unknown.

    Its name counts only if the requirement has a similar name: otherwise the queue is for other namespaces.
    """
    wanted: list[tuple[Path, str, tuple[str, ...]]] = [
        (("matchLabels", key), key, (value,)) for key, value in selector.match_labels.items()
    ]
    for number, it in enumerate(selector.match_expressions):
        if it.operator == "In":
            wanted.append((("matchExpressions", number, "values"), it.key, it.values))
    for path, key, values in wanted:
        is_name = key == NAMESPACE_NAME
        if labels is None and not is_name:
            continue
        value = name if is_name else (labels or {}).get(key)
        is_other = is_name and not any(Names([name]).meant(it) for it in values)
        if is_other or value in values:
            continue
        required = f" (namespaceSelector requires {key}: {' or '.join(values[:_SHOWN])}"
        if value is None:
            return _UnmetLabel(path, f"{required}, but the namespace lacks this label)")
        meant = any(Names([value]).meant(it) for it in values)
        return _UnmetLabel(
            path, f"{required}, but the label is {quoted(value)})", value if meant else ""
        )
    return None


def _advice(cluster: Cluster, namespace: str) -> str:
    """Proposes ClusterQueues that select the namespace; the named one may be that of another team."""
    own = [
        queue.name
        for queue in cluster.cluster_queues
        if (selector := queue.fields.namespace_selector) is not None
        and selects(cluster, selector, namespace)
    ]
    if own:
        return f"write clusterQueue: {' or '.join(own[:_SHOWN])}, which {'selects' if len(own) == 1 else 'select'} it"
    return "add the namespace to namespaceSelector, or label the namespace"


RULE = ObjectRule(
    "namespace-not-selected",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Name a ClusterQueue that selects the namespace, or add the namespace to namespaceSelector.",
    judges=("LocalQueue",),
    check=check,
    reads=("ClusterQueue", "Namespace", *KINDS),
)
