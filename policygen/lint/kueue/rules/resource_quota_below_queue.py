"""A ResourceQuota allows less than the namespace's ClusterQueue admits."""

from fractions import Fraction

from policygen.core.amounts import amount_of, readable, total, written
from policygen.kubernetes.kueue_jobs import target
from policygen.lint.kueue.quotas import quotas
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue admits jobs whose pods the API server refuses; they hold the queue's quota unused.

    Checked only if the queue serves no other namespace, since the quota may be a share of it.
    Source: issues 696, 1403.
    """
    cluster = facts.cluster
    in_namespace, of_queue = cluster.local_queues.by_namespace, cluster.local_queues.by(target)
    for entry in cluster.resource_quotas:
        if not entry.fields.counts_all:
            continue
        for local in in_namespace.get(entry.namespace, ()):
            queue = cluster.cluster_queues.get(local.fields.cluster_queue)
            if queue is None or len({it.namespace for it in of_queue[queue.name]}) > 1:
                continue
            nominal = total({it.resource: it.quota.nominal_quota} for it in quotas(queue))
            for key, hard in entry.fields.hard.items():
                resource = key.removeprefix("requests.")
                if "/" in resource and resource == key:
                    continue  # `gpu-quota-counts-nothing` reports it
                if 0 <= hard < nominal.get(resource, Fraction(0)):
                    yield Hit(
                        RULE,
                        f"{entry} allows {amount_of(resource, hard, nominal[resource])}, but "
                        f"{queue} admits {readable(resource, nominal[resource], hard)} in this "
                        "namespace, so the API server refuses pods of admitted jobs; write at least "
                        f"{written(resource, nominal[resource])}, or remove {key} from the "
                        "ResourceQuota",
                        entry.at.to("spec", "hard", key),
                        related=(queue.at.to("spec", "resourceGroups"), local.at),
                    )


RULE = ObjectRule(
    "resource-quota-below-queue",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Raise the amounts in spec.hard, or remove the compute resources from spec.hard.",
    judges=("ResourceQuota",),
    check=check,
    reads=("LocalQueue", "ClusterQueue"),
)
