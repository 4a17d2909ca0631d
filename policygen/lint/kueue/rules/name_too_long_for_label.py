"""The name of a LocalQueue or WorkloadPriorityClass is too long for a label value."""

from policygen.core.names import LOCAL_QUEUE
from policygen.kubernetes.cluster import KUEUE
from policygen.kubernetes.kueue_jobs import PRIORITY
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_LABELS = {"LocalQueue": LOCAL_QUEUE, "WorkloadPriorityClass": PRIORITY}


def check(facts: Facts) -> Hits:
    """Object names may have 253 characters, label values 63.

    Source: pkg/controller/constants/constants.go; apimachinery, IsValidLabelValue.
    """
    for kind, label in _LABELS.items():
        for entry in facts.cluster.of(KUEUE, kind):
            if len(entry.name) > 63:
                yield Hit(
                    RULE,
                    f"{entry} has a name of {len(entry.name)} characters, but a value of "
                    f"label {label} can have at most 63, so no job can select this object; "
                    "shorten the name",
                    entry.at.to("metadata", "name"),
                )


RULE = ObjectRule(
    "name-too-long-for-label",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Shorten the name to at most 63 characters.",
    judges=tuple(_LABELS),
    check=check,
)
