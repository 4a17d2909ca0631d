"""No controller runs a Job, because its managedBy is misspelled or its queue has no MultiKueue check."""

from difflib import get_close_matches

from policygen.core.quoting import quoted
from policygen.kubernetes.kueue_jobs import queued
from policygen.lint.core.known_keys import KUEUE
from policygen.lint.core.webhook_objects import batch_jobs
from policygen.lint.kueue.admission_checks import MULTI_KUEUE, checks
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_KNOWN = (f"{KUEUE}/multikueue", "kubernetes.io/job-controller")
_CUTOFF = 0.85


def check(facts: Facts) -> Hits:
    """Kubernetes ignores the Job, and no other controller runs it, so no pods are created.

    MultiKueue runs it in another cluster, if the ClusterQueue has its check.

    Source: pkg/controller/job/job_controller.go, controllerName; apis/kueue/v1beta2/multikueue_types.go.
    """
    queues = {id(it.workload): it.cluster_queue for it in facts.cluster.derive(queued)}
    for job in batch_jobs(facts.cluster):
        name = job.managed_by
        queue = queues.get(id(job.workload))
        if name == MULTI_KUEUE and queue is not None and not any(checks(queue)):
            yield Hit(
                RULE,
                f"{job.workload} has managedBy {name}, but {queue} has no AdmissionCheck of MultiKueue, so "
                "the Job gets quota and no pods are created; remove managedBy, or add the check",
                job.at.to("spec", "managedBy"),
                (queue.at / "spec",),
            )
        if name is None or name in _KNOWN or "/" not in name:
            continue
        near = get_close_matches(name.lower(), _KNOWN, n=1, cutoff=_CUTOFF)
        if near or name.startswith(f"{KUEUE}/"):
            yield Hit(
                RULE,
                f"{job.workload} has managedBy {quoted(name)}, which is not a known controller, so no "
                f'pods are created; did you mean "{near[0] if near else _KNOWN[0]}"?',
                job.at.to("spec", "managedBy"),
            )


RULE = ObjectRule(
    "managed-by-unknown",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the exact name of the controller in managedBy, or remove the field.",
    judges=("CronJob", "Job"),
    check=check,
    reads=("LocalQueue", "ClusterQueue"),
)
