"""A pod uses a ConfigMap, Secret, ServiceAccount or Service whose name looks misspelled."""

from policygen.core.quoting import quoted
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.missing_references import missing_objects
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Containers do not start without their ConfigMap or Secret; admitted pods then hold GPUs unused.

    Checks only manifests, because Secrets of a cluster are not read.
    Source: pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables; the admission plugin ServiceAccount.
    """
    for it in facts.derive(missing_objects):
        if it.similar:
            message = f"{it.message}; did you mean {quoted(it.similar.name)}?"
            yield Hit(RULE, message, it.first.at, it.related)


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
