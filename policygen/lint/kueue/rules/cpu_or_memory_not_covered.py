"""A ClusterQueue has quota for GPUs, but not for cpu and memory."""

from collections.abc import Iterator
from fractions import Fraction

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.resource_names import extended, meant
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.coverage import pod_requests
from policygen.lint.kueue.quotas import queues_alike
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Nearly every job requests both, and one resource without quota makes it inadmissible.

    Source: pkg/scheduler/flavorassigner/flavorassigner.go; issue 4848.
    """
    rules = settings(facts)
    if rules.ignores_undeclared:
        return
    # Queues whose jobs are in the input: request-not-covered checks these jobs.
    checked = {request.queue.name for request in pod_requests(facts)}
    for alike in facts.cluster.derive(queues_alike):
        known = {name for group in alike.groups for name in group.covered_resources}
        devices = sorted(name for name in known if extended(name))
        slips = {meant(name) for name in known}
        missing = [
            name
            for name in ("cpu", "memory")
            if name in rules.charged({name: Fraction(1)})  # else it is excluded, or transformed
            and name not in known | slips
        ]
        for queue, at in alike.at() if devices and missing else ():
            if queue.name not in checked:
                yield Hit(
                    RULE,
                    f"{queue} covers {devices[0]} but not {' and '.join(missing)}, so Kueue never "
                    "admits jobs that request both; cover them, or add them to "
                    "excludeResourcePrefixes",
                    at,
                )


RULE = ObjectRule(
    "cpu-or-memory-not-covered",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy=(
        "Cover cpu and memory in the same resource group, or exclude them in Kueue's Configuration."
    ),
    judges=("ClusterQueue",),
    check=check,
    reads=("Configuration", *KINDS),
)
