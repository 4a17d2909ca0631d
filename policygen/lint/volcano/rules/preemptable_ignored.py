"""volcano.sh/preemptable is not a valid boolean, so Volcano reads it as false."""

from policygen.core import go_values
from policygen.core.quoting import quoted
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.metadata_keys import written
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_KEY = "volcano.sh/preemptable"


def check(facts: Facts) -> Hits:
    """Pods without the key may be preempted; pods with an invalid value may not.

    Source: pkg/scheduler/api/pod_info.go, GetPodPreemptable, and job_info.go, extractPreemptable.
    """
    for metadata in written(facts.cluster):
        value = metadata.keys.get(_KEY)
        if value is not None and go_values.boolean(value) is None:
            yield Hit(
                RULE,
                f"{metadata.workload} has {_KEY} {quoted(value)}, which Volcano reads as false, so "
                'its pods are never preempted; write "true" or "false"',
                metadata.at / _KEY,
            )


RULE = ObjectRule(
    "preemptable-ignored",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy='Write "true" or "false".',
    judges=KINDS,
    check=check,
    aliases=("preemptable-unread",),
)
