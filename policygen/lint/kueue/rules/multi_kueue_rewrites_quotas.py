"""With quotaManagement: Automated, Kueue overwrites quotas that the manifests set."""

from policygen.lint.kueue.admission_checks import MULTI_KUEUE, users
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.quotas import quotas
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

GATE = "MultiKueueManagerQuotaAutomation"


def check(facts: Facts) -> Hits:
    """Kueue replaces the quotas of the manager's queues and removes their limits; Git reverts both.

    Source: pkg/controller/admissionchecks/multikueue/clusterqueue.go.
    """
    if not settings(facts).gate(GATE):
        return
    queues = users(facts.cluster, MULTI_KUEUE)
    for config in facts.cluster.multi_kueue_configs:
        if config.fields.quota_management != "Automated":
            continue
        for queue in queues.get(config.name, ()):
            if any(it.quota.nominal_quota for it in quotas(queue)):
                yield Hit(
                    RULE,
                    f"{config} has quotaManagement Automated, so Kueue overwrites the quotas of "
                    f"{queue}; write quotaManagement: Manual, or keep the quotas out of Git",
                    config.at.to("spec", "quotaManagement"),
                    related=(queue.at.to("spec", "resourceGroups"),),
                )


RULE = ObjectRule(
    "multi-kueue-rewrites-quotas",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set quotaManagement to Manual, or keep the quotas of these queues out of Git.",
    judges=("MultiKueueConfig",),
    check=check,
    needs=frozenset({Need.KUEUE_CONFIGURATION}),
    reads=("AdmissionCheck", "ClusterQueue", "Deployment"),
    since={"kueue": (0, 18)},
)
