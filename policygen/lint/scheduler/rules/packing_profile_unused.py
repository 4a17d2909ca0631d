"""A kube-scheduler profile packs GPUs, but no GPU pod uses it."""

from policygen.kubernetes.schedulers import meant_scheduler
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.scheduler.rules.scheduler_missing import reported
from policygen.lint.scheduler.scoring import gpu_schedulers, profiles


def check(facts: Facts) -> Hits:
    """A pod without a schedulerName goes to default-scheduler.

    Source: pkg/scheduler/scheduler.go, profiles by name.
    """
    used = facts.cluster.derive(gpu_schedulers)
    if "scheduler-name-misspelt" in facts.run:  # it reports pods with a wrong name
        used |= {meant_scheduler(facts.cluster, name) for name in used}
    if "scheduler-missing" in facts.run:
        used |= facts.cluster.derive(reported)
    for profile in profiles(facts.cluster):
        if profile.scoring.packs and used and profile.name not in used:
            yield Hit(
                RULE,
                f"profile {profile.name} packs GPUs, but no pod with GPUs uses the profile; write "
                f"schedulerName: {profile.name} in the pod templates",
                profile.at / "schedulerName",
            )


RULE = ObjectRule(
    "packing-profile-unused",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the name of the profile as schedulerName in the pod templates.",
    judges=("KubeSchedulerConfiguration",),
    check=check,
    needs=frozenset({Need.WORKLOADS, Need.WHOLE}),
)
