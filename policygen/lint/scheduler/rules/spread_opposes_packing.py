"""Pods have a hard topology spread constraint, but their scheduler packs nodes."""

from policygen.kubernetes.untyped import integer
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.scheduler.scoring import profiles
from policygen.lint.volcano.configuration import settings
from policygen.lint.volcano.queues import SCHEDULER


def check(facts: Facts) -> Hits:
    """Checked only if the pods' scheduler packs, or a spec requests packing without a scheduler.

    Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go.
    """
    packing = {profile.name for profile in profiles(facts.cluster) if profile.scoring.packs}
    configuration = settings(facts)
    if configuration is not None and configuration.plugin("binpack") is not None:
        packing.add(SCHEDULER)
    pools = facts.plan.pools if facts.plan is not None else ()
    if any(pool.policy.bin_pack for pool in pools):
        packing.add("")
    if not packing:
        return
    for workload in facts.cluster.workloads:
        for template in workload.templates:
            name = workload.scheduler_name(template)
            if name not in packing:
                continue
            for i, constraint in enumerate(template.spec.topology_spread_constraints):
                skew = integer(constraint.get("maxSkew"))
                if skew is not None and skew < 1:
                    continue  # pod-field-refused reports it
                if constraint.get("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule":
                    packer = f'scheduler "{name}"' if name else "a pool of the spec"
                    yield Hit(
                        RULE,
                        f"{workload} must spread its pods over {constraint.get('topologyKey')}, but "
                        f"{packer} packs nodes; write whenUnsatisfiable: ScheduleAnyway, or remove the constraint if "
                        "packing is more important",
                        template.at.to("spec", "topologySpreadConstraints", i),
                    )


RULE = ObjectRule(
    "spread-opposes-packing",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Write whenUnsatisfiable: ScheduleAnyway, or remove the constraint.",
    judges=KINDS,
    check=check,
    reads=("KubeSchedulerConfiguration", "volcano-scheduler.conf"),
)
