"""A Job's managedBy looks like a misspelled controller name, so no controller runs the Job."""

from difflib import get_close_matches

from policygen.core.quoting import quoted
from policygen.lint.core.known_keys import KUEUE
from policygen.lint.core.webhook_objects import batch_jobs
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_KNOWN = (f"{KUEUE}/multikueue", "kubernetes.io/job-controller")
_CUTOFF = 0.85


def check(facts: Facts) -> Hits:
    """Kubernetes ignores the Job, and no other controller runs it, so no pods are created.

    Source: pkg/controller/job/job_controller.go, controllerName; apis/kueue/v1beta2/multikueue_types.go.
    """
    for job in batch_jobs(facts.cluster):
        name = job.managed_by
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
)
