"""A task with a topologyPolicy requests a fraction of a cpu, or no cpu."""

from fractions import Fraction

from policygen.core.amounts import readable
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_NONE = ("", "none")


def check(facts: Facts) -> Hits:
    """A container without requests is counted with its limits.

    Source: pkg/webhooks/admission/jobs/validate/admit_job.go, validateTaskTopoPolicy.
    """
    for workload in facts.cluster.workloads:
        tasks = workload.spec.get("tasks") if workload.object.group == VOLCANO_BATCH else None
        if not isinstance(tasks, list):
            continue
        for template in workload.templates:
            task = tasks[int(template.at.path[-2])]
            policy = task.get("topologyPolicy") or ""
            if policy in _NONE or not isinstance(policy, str):
                continue
            for container in (*template.spec.containers, *template.spec.init_containers):
                amounts = container.resources.requests or container.resources.limits
                cpu = amounts.get("cpu", 0)
                if cpu == 0 or cpu != int(cpu):
                    yield Hit(
                        RULE,
                        f"container {container.name} of {workload} requests {readable('cpu', Fraction(cpu))}, but "
                        f"topologyPolicy {policy} requires an integer number of cpus; write an integer of 1 or more",
                        template.at / "spec",
                    )


RULE = ObjectRule(
    "job-cpu-not-whole",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the cpu of the task as an integer.",
    judges=("Job",),
    check=check,
)
