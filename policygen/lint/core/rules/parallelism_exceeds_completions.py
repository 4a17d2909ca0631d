"""The parallelism of a Job is above its completions, so some of its pods never run."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core.finding import At, Path
from policygen.core.quoting import counted
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mapping, numbered
from policygen.kubernetes.workloads import APP_WRAPPER, Workload, wrapped
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, ObjectRule, Severity, Verb


def check(facts: Facts) -> Hits:
    """A Job never runs more pods than it has completions left.

    The pods of an Indexed Job are ranks, which wait for each other. JobSet makes its Jobs Indexed.
    Source: pkg/controller/job/job_controller.go, manageJob; jobset_webhook.go of JobSet, Default.
    """
    for owner, job, spec in _jobs(facts.cluster):
        pods, ends = spec.get("parallelism", 1), spec.get("completions")
        if not (type(pods) is type(ends) is int and pods > ends > 0):
            continue
        at, width = job / "completions", job / "parallelism"
        is_indexed = "replicatedJobs" in job.path
        if (spec.get("completionMode") or ("Indexed" if is_indexed else "")) == "Indexed":
            yield Hit(
                RULE,
                f"{owner} has parallelism {pods} and completions {ends}, so only "
                f"{ends} of {pods} ranks run and wait forever for the others; write completions: {pods}",
                at,
                (width,),
                meant=(Edit(Verb.REWRITE, at, pods),),
            )
        else:
            yield Hit(
                RULE,
                f"{owner} has parallelism {pods} and completions {ends}, so at most {counted(ends, 'pod')} "
                f"{'runs' if ends == 1 else 'run'} at once; write parallelism: {ends}, or, if the pods are ranks "
                f"that wait for each other, completions: {pods} and completionMode: Indexed",
                width,
                (at,),
                meant=(Edit(Verb.REWRITE, width, ends),),
                severity=Severity.WARNING,
            )


def _jobs(cluster: Cluster) -> Iterator[tuple[Workload | Object, At, Mapping[str, Any]]]:
    """The specs of Jobs, of those that CronJobs and JobSets create, and of those in AppWrappers."""
    for workload in cluster.workloads_of("batch"):
        steps = ("spec", "jobTemplate", "spec") if workload.kind == "CronJob" else ("spec",)
        job = mapping(workload.object.data, *steps)
        if "completions" in job:
            yield workload, workload.at.to(*steps), job
    for job_set in cluster.of("jobset.x-k8s.io", "JobSet"):
        for path, spec in _replicated(job_set.data):
            yield job_set, job_set.at.to(*path), spec
    for wrapper in cluster.of("workload.codeflare.dev", APP_WRAPPER):
        for it in wrapped(wrapper.data):
            if (it.group, it.kind) == ("batch", "Job"):
                yield wrapper, wrapper.at.to(*it.path, "spec"), mapping(it.data, "spec")
            elif (it.group, it.kind) == ("jobset.x-k8s.io", "JobSet"):
                for path, spec in _replicated(it.data):
                    yield wrapper, wrapper.at.to(*it.path, *path), spec


def _replicated(job_set: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for i, job in numbered(job_set, "spec", "replicatedJobs"):
        yield ("spec", "replicatedJobs", i, "template", "spec"), mapping(job, "template", "spec")


RULE = ObjectRule(
    "parallelism-exceeds-completions",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write as many completions as ranks, and completionMode: Indexed, or lower the parallelism.",
    judges=("AppWrapper", "CronJob", "Job", "JobSet"),
    check=check,
    aliases=("job-runs-too-few",),
)
