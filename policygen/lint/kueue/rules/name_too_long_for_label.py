"""A name that jobs carry as a label is longer than a label may be."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.names import LOCAL_QUEUE
from policygen.core.rule import Severity
from policygen.kubernetes.cluster import KUEUE
from policygen.lint.kueue.queue_names import PRIORITY
from policygen.lint.rule import Facts, Family, ObjectRule

_LABELS = {"LocalQueue": LOCAL_QUEUE, "WorkloadPriorityClass": PRIORITY}


def check(facts: Facts) -> Iterator[Hit]:
    """Object names may have 253 characters, label values 63.

    Source: pkg/controller/constants/constants.go; apimachinery, IsValidLabelValue.
    """
    for kind, label in _LABELS.items():
        for it in facts.cluster.of(KUEUE, kind):
            if len(it.name) > 63:
                yield Hit(
                    RULE,
                    f"no job can name {it}: label {label} holds 63 characters, the name has "
                    f"{len(it.name)}; shorten it",
                    it.at.to("metadata", "name"),
                )


RULE = ObjectRule(
    "name-too-long-for-label",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=tuple(_LABELS),
    check=check,
)
