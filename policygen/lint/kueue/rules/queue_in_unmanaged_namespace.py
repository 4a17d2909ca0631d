"""A LocalQueue is in a namespace whose jobs Kueue does not manage."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.namespaces import selects
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Jobs there are not looked at, whatever queue they name; by default kube-system's and Kueue's.

    Before 0.15 only pods were left out. Source: apis/config/v1beta2/defaults.go;
    pkg/controller/jobframework/reconciler.go.
    """
    managed = settings(facts).managed
    for local in facts.cluster.local_queues:
        if selects(facts.cluster, managed, local.namespace) is False:
            yield Hit(
                RULE,
                f"{local} is in a namespace whose jobs Kueue does not manage "
                "(managedJobsNamespaceSelector); move it, or select the namespace",
                local.at.to("metadata", "namespace"),
            )


RULE = ObjectRule(
    "queue-in-unmanaged-namespace",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("LocalQueue",),
    check=check,
    reads=("Namespace", "Configuration"),
    since={"kueue": (0, 15)},
)
