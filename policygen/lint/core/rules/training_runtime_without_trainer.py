"""No job of a training runtime is the trainer, so what TrainJobs set for their nodes has no effect."""

from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.train_jobs import (
    CLUSTER_RUNTIME,
    GROUP,
    INITIALIZERS,
    JOBS,
    KIND,
    NOT_MODELLED,
    RUNTIME,
    STEP,
    TRAINER,
    runtime_of,
    step_of,
)
from policygen.kubernetes.untyped import mapping, numbered
from policygen.lint.core.server_refusals import refused
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The Trainer finds the job by its label.

    Source: newRuntimeInfo in pkg/runtime/core, and pkg/runtime/framework/plugins, of the Kubeflow Trainer 2.2.1.
    """
    cluster, reported = facts.cluster, facts.cluster.derive(refused).objects
    for runtime in (*cluster.of(GROUP, CLUSTER_RUNTIME), *cluster.of(GROUP, RUNTIME)):
        if runtime.at in reported:
            continue  # the job or its labels may have another type, or a misspelled name
        policy = mapping(runtime.data, "spec", "mlPolicy")
        jobs = [*numbered(runtime.data, "spec", *JOBS)]
        steps = [step_of(job) for _, job in jobs]
        if not jobs or TRAINER in steps or any(it in policy for it in NOT_MODELLED):
            continue
        users = _users(cluster, runtime)
        if not policy and not users:
            continue
        at = runtime.at.to("spec", *JOBS)
        wrong = [i for (i, _), it in zip(jobs, steps, strict=True) if it and it not in INITIALIZERS]
        effect = "so the Trainer ignores numNodes and what TrainJobs set in spec.trainer"
        remedy = "set this label in template.metadata.labels of the job that trains"
        if wrong:
            at = at.to(wrong[0], "template", "metadata", "labels", STEP)
            remedy = f"write {TRAINER}"
        message = f"no job of {runtime} has label {STEP}: {TRAINER}, {effect}; {remedy}"
        yield Hit(RULE, message, at, users)


def _users(cluster: Cluster, runtime: Object) -> tuple[At, ...]:
    """What TrainJobs with this runtime set for their nodes."""
    own = runtime.kind, runtime.name, runtime.namespace
    return tuple(
        job.at.to("spec", "trainer")
        for job in cluster.of(GROUP, KIND)
        if runtime_of(job) == own and mapping(job.data, "spec", "trainer")
    )


RULE = ObjectRule(
    "training-runtime-without-trainer",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy=f"Set label {STEP}: {TRAINER} in template.metadata.labels of the job that trains.",
    judges=(CLUSTER_RUNTIME, RUNTIME),
    check=check,
    reads=(KIND,),
)
