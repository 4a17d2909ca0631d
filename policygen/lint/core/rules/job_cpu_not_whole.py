"""A task of Volcano wants cpus of one NUMA node and asks for no whole number of them."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.lint.rule import Facts, Family, ObjectRule

_NONE = ("", "none")


def check(facts: Facts) -> Iterator[Hit]:
    """A container without any request counts with its limits.

    Source: pkg/webhooks/admission/jobs/validate/admit_job.go, validateTaskTopoPolicy.
    """
    for workload in facts.cluster.workloads:
        tasks = workload.spec.get("tasks")
        if workload.object.group != VOLCANO_BATCH or not isinstance(tasks, list):
            continue
        for template in workload.templates:
            task = tasks[int(template.at.path[-2])]
            policy = task.get("topologyPolicy") or ""
            if policy in _NONE or not isinstance(policy, str):
                continue
            for each in (*template.spec.containers, *template.spec.init_containers):
                asked = each.resources.requests or each.resources.limits
                cpu = asked.get("cpu", 0)
                if cpu == 0 or cpu != int(cpu):
                    yield Hit(
                        RULE,
                        f"container {each.name} of {workload} asks for {float(cpu):g} cpu under "
                        f"topologyPolicy {policy}, which is refused; write a whole number",
                        template.at / "spec",
                    )


RULE = ObjectRule(
    "job-cpu-not-whole", Severity.ERROR, Family.INVALID, __doc__, judges=("Job",), check=check
)
