"""Pods use GPUs of a pool that packs, but not the scheduler profile of the pool."""

from policygen.core.names import DEFAULT_SCHEDULER
from policygen.core.quoting import listed
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.pod_demands import READS
from policygen.lint.core.rules.two_schedulers_one_pool import conflicts
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.scheduler.packing import unpacked


def check(facts: Facts) -> Hits:
    """The default profile of kube-scheduler spreads pods over the nodes.

    Source: pkg/scheduler/apis/config/v1/default_plugins.go, getDefaultPlugins.
    """
    found = facts.derive(unpacked)
    reported: set[int] = set()
    if found and "two-schedulers-one-pool" in facts.run:
        reported = {id(workload) for workload, _ in facts.derive(conflicts)}
    for number, it in found.items():
        if number in reported:
            continue
        where = f"{'pool' if len(it.pools) == 1 else 'pools'} {listed([*it.pools])}"
        yield Hit(
            RULE,
            f"the pods of {it.pods.workload} use GPUs of {where}, which the spec packs, but "
            f"{DEFAULT_SCHEDULER} spreads them over the nodes; write schedulerName: {it.profile}, "
            "after a scheduler loads this profile",
            it.pods.template.at / "spec",
        )


RULE = ObjectRule(
    "pod-without-packing-profile",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Write the name of the profile as schedulerName in the pod template.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.SPEC}),
    reads=(*READS, "KubeSchedulerConfiguration", "Node"),
)
