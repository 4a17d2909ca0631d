"""A kube-scheduler without profile default-scheduler uses the lease of the main scheduler."""

from policygen.core.names import DEFAULT_SCHEDULER, KUBE_SYSTEM
from policygen.core.quoting import some
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.scheduler.leases import MAIN, lease, runs_elsewhere, second_scheduler


def check(facts: Facts) -> Hits:
    """Of all schedulers with one lease, only the leader schedules. It skips pods that name no profile of it.

    A configuration is that of a second scheduler if no profile is named default-scheduler; the main scheduler can lack
    this profile by mistake.
    Source: cmd/kube-scheduler/app/server.go, Run; pkg/scheduler/apis/config/v1/defaults.go.
    """
    for entry in facts.cluster.scheduler_configurations:
        found = lease(entry)
        names = [it.scheduler_name for it in entry.fields.profiles]
        if found is None or found.name != MAIN or found.namespace != KUBE_SYSTEM:
            continue
        if not names or DEFAULT_SCHEDULER in names:
            continue
        profile = names[0]
        waiting: list[str] = []
        if runs_elsewhere(facts.cluster) and len(facts.cluster.scheduler_configurations) == 1:
            waiting = [
                str(it)
                for it in facts.cluster.workloads
                if any(it.scheduler_name(each) in ("", DEFAULT_SCHEDULER) for each in it.templates)
            ]
        if not found.is_written and not (
            second_scheduler(facts.cluster) or (waiting and found.is_election_written)
        ):
            continue  # the command line can set it
        lease_of_main = f"the lease kube-system/{MAIN} of the main scheduler"
        own_lease = f"leaderElection.resourceName: {profile}, and allow this lease in the Role"
        if waiting:
            message = (
                f"this scheduler elects its leader by {lease_of_main}, but no profile is named {DEFAULT_SCHEDULER}; "
                f"if it is the main scheduler, add this profile, because the pods of {some(waiting, 'other workload')} "
                f"stay Pending; if it is a second scheduler, write {own_lease}"
            )
        else:
            message = (
                f"the scheduler of profile {profile} elects its leader by {lease_of_main}, so only one of the two "
                f"schedules pods, and those of the other stay Pending; write {own_lease}"
            )
        yield Hit(RULE, message, found.at)


RULE = ObjectRule(
    "scheduler-lease-shared",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write another leaderElection.resourceName, or add profile default-scheduler to the main scheduler.",
    judges=("KubeSchedulerConfiguration",),
    check=check,
    reads=KINDS,
)
