"""A second kube-scheduler uses the lease of the main scheduler."""

from policygen.core.names import DEFAULT_SCHEDULER, KUBE_SYSTEM
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.scheduler.leases import MAIN, lease, second_scheduler


def check(facts: Facts) -> Hits:
    """Of all schedulers with one lease, only the leader schedules.

    A configuration is that of a second scheduler if no profile is named default-scheduler.
    Source: cmd/kube-scheduler/app/server.go, Run; pkg/scheduler/apis/config/v1/defaults.go.
    """
    for entry in facts.cluster.scheduler_configurations:
        found = lease(entry)
        names = {it.scheduler_name for it in entry.fields.profiles}
        if found is None or found.name != MAIN or found.namespace != KUBE_SYSTEM:
            continue
        if not names or DEFAULT_SCHEDULER in names:
            continue
        if not found.is_written and second_scheduler(facts.cluster) is None:
            continue  # the command line can set it
        profile = next(iter(names))
        yield Hit(
            RULE,
            f"the scheduler of profile {profile} elects its leader by the lease kube-system/{MAIN} of the main "
            "scheduler, so only one of the two schedules pods, and those of the other stay Pending; write "
            f"leaderElection.resourceName: {profile}, and allow this lease in the Role",
            found.at,
        )


RULE = ObjectRule(
    "scheduler-lease-shared",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write another leaderElection.resourceName.",
    judges=("KubeSchedulerConfiguration",),
    check=check,
    reads=("Deployment",),
)
