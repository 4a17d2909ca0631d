"""What says whether a pod may be taken from is no truth value, so Volcano takes it for false."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.quoting import quoted
from policygen.core.rule import Severity
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.metadata_keys import written
from policygen.lint.rule import Facts, Family, ObjectRule

_KEY = "volcano.sh/preemptable"
_TRUTHS = frozenset(
    ("1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False")
)
"""As Go's strconv.ParseBool reads them."""


def check(facts: Facts) -> Iterator[Hit]:
    """A pod without the key may be taken from; one with a word that says nothing may not.

    Source: pkg/scheduler/api/pod_info.go, GetPodPreemptable, and job_info.go, extractPreemptable.
    """
    for workload in facts.cluster.workloads:
        for each in written(workload):
            value = each.keys.get(_KEY)
            if value is not None and value not in _TRUTHS:
                yield Hit(
                    RULE,
                    f"{workload} has {_KEY} {quoted(value)}, which Volcano reads as false: nobody "
                    'may take from it; write "true" or "false"',
                    each.at / _KEY,
                )


RULE = ObjectRule(
    "preemptable-ignored",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=KINDS,
    check=check,
    aliases=("preemptable-unread",),
)
