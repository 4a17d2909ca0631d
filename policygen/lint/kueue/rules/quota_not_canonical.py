"""A quota is not in canonical form, so Git and the cluster always differ."""

from collections.abc import Iterator

from policygen.core import quantity
from policygen.core.finding import Edit, Hit, Verb, at_path
from policygen.core.rule import Severity
from policygen.lint.kueue.quotas import queues_alike, quotas
from policygen.lint.rule import Facts, Family, Fix, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Kueue's webhook rewrites quantities, so GitOps tools always see a difference.

    It rewrites only ClusterQueues, not Cohorts. Source: pkg/webhooks/clusterqueue_webhook.go;
    apimachinery, CanonicalizeBytes.
    """
    for alike in facts.cluster.derive(queues_alike):
        first = alike.owners[0]
        for placed in quotas(first):
            path = placed.at.path[len(first.at.path) :]
            for field in ("nominalQuota", "borrowingLimit", "lendingLimit"):
                text = at_path(first.object.data, (*path, field))
                if not isinstance(text, str):
                    continue
                try:
                    canonical = quantity.canonical(quantity.parse(text))
                except ValueError:
                    continue  # the API server refuses it
                if canonical == text:
                    continue
                for queue in alike.owners:
                    yield Hit(
                        RULE,
                        f'{queue} has {field} "{text}", which Kueue rewrites as "{canonical}"; '
                        f"write {canonical}",
                        queue.at.to(*path, field),
                        edits=(Edit(Verb.REWRITE, queue.at.to(*path, field), canonical),),
                    )


RULE = ObjectRule(
    "quota-not-canonical",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Write the canonical form.",
    judges=("ClusterQueue",),
    check=check,
    fix=Fix.SAFE,
)
