"""A ClusterQueue uses admission fair sharing, but Kueue's Configuration does not enable it."""

from policygen.kubernetes.kueue_settings import USAGE_BASED
from policygen.lint.kueue.configuration import all_settings
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue records usage only with admissionFairSharing, and before 0.15 only with its gate.

    Source: tasks/manage/admission_fair_sharing.md; pkg/util/admissionfairsharing.
    """
    sharing = [
        queue
        for queue in facts.cluster.cluster_queues
        if queue.fields.admission_scope
        and queue.fields.admission_scope.admission_mode == USAGE_BASED
    ]
    for entry, rules in all_settings(facts):
        if sharing and not rules.admission_fair_sharing:
            gate_off = entry.fields.admission_fair_sharing is not None
            setting = (
                "featureGates.AdmissionFairSharing: true" if gate_off else "admissionFairSharing"
            )
            yield Hit(
                RULE,
                f"admissionScope of {sharing[0]} is ignored, because admission fair sharing is off "
                f"in Kueue's Configuration; write {setting}",
                entry.at / ("featureGates" if gate_off else "admissionFairSharing"),
                related=tuple(queue.at.to("spec", "admissionScope") for queue in sharing[:10]),
            )


RULE = ObjectRule(
    "admission-fair-sharing-off",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Add admissionFairSharing to Kueue's Configuration, or remove admissionScope.",
    judges=("Configuration",),
    check=check,
    reads=("ClusterQueue", "Deployment"),
)
