"""A LocalQueue is in a namespace whose jobs Kueue does not manage."""

from policygen.core.quoting import some
from policygen.kubernetes.kueue import LocalQueueView
from policygen.kubernetes.namespaces import selects
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.configuration import settings
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_FIELD = "managedJobsNamespaceSelector"


def check(facts: Facts) -> Hits:
    """Kueue ignores jobs there; by default those of kube-system and of its own namespace.

    Several queues of one namespace are one hit, at the selector if it is written.
    Before 0.15 it ignored only pods. Source: apis/config/v1beta2/defaults.go;
    pkg/controller/jobframework/reconciler.go.
    """
    running = settings(facts)
    by_namespace: dict[str, list[Entry[LocalQueueView]]] = {}
    for local in facts.cluster.local_queues:
        by_namespace.setdefault(local.namespace, []).append(local)
    for name, queues in by_namespace.items():
        if selects(facts.cluster, running.managed, name) is not False:
            continue
        entry, namespace = running.entry, facts.cluster.namespaces.get(name)
        are = "are" if len(queues) > 1 else "is"
        at = queues[0].at.to("metadata", "namespace")
        others = [it.at for it in queues[1:]]
        if queues[1:] and entry is not None and _FIELD in entry.object.data:
            at, others = entry.at / _FIELD, [it.at for it in queues]
        yield Hit(
            RULE,
            f"{some([str(it) for it in queues], 'other LocalQueue')} {are} in a namespace whose jobs Kueue does not "
            f"manage; select namespace {name} in {_FIELD}, or move {'them' if queues[1:] else 'the queue'}",
            at,
            related=(*others, *(it.at for it in (entry, namespace) if it)),
        )


RULE = ObjectRule(
    "queue-in-unmanaged-namespace",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Move the queue, or select its namespace in managedJobsNamespaceSelector.",
    judges=("LocalQueue",),
    check=check,
    reads=("Namespace", "Configuration"),
    since={"kueue": (0, 15)},
)
