"""Nothing ends the workers of an MPI job when its master is done, so they keep their GPUs."""

import re
from collections.abc import Iterator

from policygen.kubernetes import accelerators
from policygen.kubernetes.controllers import COMMAND_LINE
from policygen.kubernetes.untyped import integer, mapping, mappings, text, texts
from policygen.kubernetes.workloads import Workload
from policygen.lint.core.pod_templates import Part
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import jobs

_ROLE = re.compile(r"--?(master|worker)=(\S+)")
_SERVES = re.compile(r"\bsshd\b[^;&|]*\s-\w*D\w*(?![^;]*&)")
"""sshd in the foreground, which never ends."""
_SHORT_S = 300
"""Until this time after the end of an MPIJob, idle workers can be intended."""


def check(facts: Facts) -> Hits:
    """A Job of Volcano is complete when all its pods have ended, unless a policy or minSuccess ends it before.

    An MPIJob of Kubeflow is complete when its launcher has ended. With cleanPodPolicy None, its workers
    keep running until the MPIJob is deleted.
    Pods without a command run sshd: the operator writes it, and mpirun needs it.
    Source: pkg/controllers/job/state/running.go of Volcano 1.14.1; pkg/controller/mpi_job_controller.go of mpi-operator 0.8.2.
    """
    for spec in jobs.specs(facts.cluster):
        yield from _of_volcano(spec)
    for workload in facts.cluster.workloads_of("kubeflow.org"):
        if workload.kind == "MPIJob":
            yield from _of_kubeflow(facts, workload)


def _of_volcano(spec: Part) -> Iterator[Hit]:
    plugins = spec.data.get("plugins")
    if not isinstance(plugins, dict) or "mpi" not in plugins or "minSuccess" in spec.data:
        return
    words = (_ROLE.fullmatch(word) for word in texts(plugins, "mpi"))
    roles = {match[1]: match[2] for match in words if match}
    worker = roles.get("worker", "worker")
    tasks = dict(jobs.tasks(spec))
    task = tasks.get(worker)
    if task is None or len(tasks) < 2 or jobs.ends_with_a_task(spec):
        return
    pod = mapping(task.data, "template", "spec")
    if _serves_ssh(pod) and pod.get("activeDeadlineSeconds") is None:
        first = roles.get("master", "master")
        if first not in tasks:
            return  # the webhook refuses it
        yield Hit(
            RULE,
            f"the pods of task {worker} of {spec.owner} serve ssh to mpirun and do not end, so the Job never completes and "
            "keeps their resources; write policies: [{event: TaskCompleted, action: CompleteJob}] in task "
            f"{first}",
            tasks[first].at,
            (task.at,),
        )


def _of_kubeflow(facts: Facts, workload: Workload) -> Iterator[Hit]:
    policy = mapping(workload.spec, "runPolicy")
    ttl = integer(policy.get("ttlSecondsAfterFinished"))
    if text(policy, "cleanPodPolicy") != "None" or (ttl is not None and ttl <= _SHORT_S):
        return
    until = "" if ttl is None else f", until ttlSecondsAfterFinished deletes them {ttl} s later"
    for template in workload.templates:
        if "Worker" not in template.at.path or not accelerators.requested(facts.cluster, template):
            continue
        if _serves_ssh(mapping(workload.spec, "mpiReplicaSpecs", "Worker", "template", "spec")):
            yield Hit(
                RULE,
                f"{workload} has cleanPodPolicy None, so its workers run sshd and keep their GPUs after the launcher has "
                f"ended{until}; write cleanPodPolicy: Running",
                workload.at.to("spec", "runPolicy", "cleanPodPolicy"),
            )


def _serves_ssh(pod: object) -> bool:
    """Whether the pod runs sshd in the foreground, or what its image runs by default."""
    commands = [
        " ".join(word for field in COMMAND_LINE for word in texts(it, field))
        for it in mappings(pod, "containers")
    ]
    return not any(commands) or any(map(_SERVES.search, commands))


RULE = ObjectRule(
    "mpi-workers-keep-running",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="End a Volcano Job with its master by a policy for TaskCompleted, and write cleanPodPolicy: Running in an MPIJob.",
    judges=("Job", "MPIJob"),
    check=check,
)
