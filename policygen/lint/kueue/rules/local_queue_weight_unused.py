"""A LocalQueue has a weight, but its ClusterQueue has no usage-based fair sharing."""

from policygen.kubernetes.kueue_settings import USAGE_BASED
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue uses these weights only in a ClusterQueue with usage-based admission.

    Source: tasks/manage/admission_fair_sharing.md of Kueue's documentation.
    """
    for local in facts.cluster.local_queues:
        sharing = local.fields.fair_sharing
        queue = facts.cluster.cluster_queues.get(local.fields.cluster_queue)
        if sharing is None or sharing.weight == 1 or sharing.weight <= 0 or queue is None:
            continue
        scope = queue.fields.admission_scope
        if scope is None or scope.admission_mode != USAGE_BASED:
            yield Hit(
                RULE,
                f"{local} has weight {sharing.weight}, which {queue} ignores; write "
                f"admissionScope.admissionMode: {USAGE_BASED} in the ClusterQueue, or remove the "
                "weight",
                local.at.to("spec", "fairSharing", "weight"),
                related=(queue.at / "spec",),
            )


RULE = ObjectRule(
    "local-queue-weight-unused",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set admissionScope in the ClusterQueue, or remove the weight.",
    judges=("LocalQueue",),
    check=check,
    reads=("ClusterQueue",),
)
