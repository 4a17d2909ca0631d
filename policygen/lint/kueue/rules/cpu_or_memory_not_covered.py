"""A ClusterQueue has quota for GPUs, but not for cpu and memory."""

from fractions import Fraction

from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.resource_names import extended, meant
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.coverage import pod_requests
from policygen.lint.kueue.quotas import groups_at
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Nearly every job requests both, and one resource without quota makes it inadmissible.

    Source: pkg/scheduler/flavorassigner/flavorassigner.go; issue 4848.
    """
    rules = settings(facts)
    if rules.ignores_undeclared:
        return
    # Queues whose jobs are in the input: request-not-covered checks these jobs.
    checked = {request.queue.name for request in pod_requests(facts)}
    for queue in facts.cluster.cluster_queues:
        known = {name for group in queue.fields.resource_groups for name in group.covered_resources}
        devices = sorted(name for name in known if extended(name))
        slips = {meant(name) for name in known}
        missing = [
            name
            for name in ("cpu", "memory")
            if name in rules.charged({name: Fraction(1)})  # else it is excluded, or transformed
            and name not in known | slips
        ]
        if devices and missing and queue.name not in checked:
            yield Hit(
                RULE,
                f"{queue} covers {devices[0]} but not {' and '.join(missing)}, so Kueue never "
                f"admits jobs that request {' or '.join(missing)}; cover {' and '.join(missing)} too, "
                f"or add {' and '.join(missing)} to excludeResourcePrefixes",
                groups_at(queue),
            )


RULE = ObjectRule(
    "cpu-or-memory-not-covered",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Cover cpu and memory in the group of the GPUs, or add both to excludeResourcePrefixes.",
    judges=("ClusterQueue",),
    check=check,
    reads=("Configuration", "LocalQueue", *KINDS),
)
