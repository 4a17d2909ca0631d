"""A LocalQueue is in a namespace whose jobs Kueue does not manage."""

from policygen.kubernetes.namespaces import selects
from policygen.lint.kueue.configuration import settings
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue ignores jobs there; by default those of kube-system and of its own namespace.

    Before 0.15 it ignored only pods. Source: apis/config/v1beta2/defaults.go;
    pkg/controller/jobframework/reconciler.go.
    """
    running = settings(facts)
    for local in facts.cluster.local_queues:
        namespace = facts.cluster.namespaces.get(local.namespace)
        if selects(facts.cluster, running.managed, local.namespace) is False:
            yield Hit(
                RULE,
                f"{local} is in a namespace whose jobs Kueue does not manage; move the queue, or select "
                "the namespace in managedJobsNamespaceSelector",
                local.at.to("metadata", "namespace"),
                related=tuple(it.at for it in (running.entry, namespace) if it),
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
