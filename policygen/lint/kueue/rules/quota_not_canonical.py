"""A quota is written in another form than the one that the API server gives back."""

from collections.abc import Iterator

from policygen.core import quantity
from policygen.core.finding import Edit, Hit, Verb, at_path
from policygen.core.rule import Severity
from policygen.lint.kueue.quotas import queues_alike, quotas
from policygen.lint.rule import Facts, Family, Fix, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Kueue's webhook writes quantities anew, so that GitOps tools see a difference for ever.

    Only of ClusterQueues: no webhook changes Cohorts. Source: pkg/webhooks/clusterqueue_webhook.go;
    apimachinery, CanonicalizeBytes.
    """
    for alike in facts.cluster.derive(queues_alike):
        first = alike.owners[0]
        for it in quotas(first):
            path = it.at.path[len(first.at.path) :]
            for field in ("nominalQuota", "borrowingLimit", "lendingLimit"):
                text = at_path(first.object.data, (*path, field))
                if not isinstance(text, str):
                    continue
                try:
                    canonical = quantity.canonical(quantity.parse(text))
                except ValueError:
                    continue  # it is refused already
                if canonical == text:
                    continue
                for queue in alike.owners:
                    yield Hit(
                        RULE,
                        f'{queue} has {field} "{text}", which is given back as "{canonical}"; '
                        "write that",
                        queue.at.to(*path, field),
                        edits=(Edit(Verb.REWRITE, queue.at.to(*path, field), canonical),),
                    )


RULE = ObjectRule(
    "quota-not-canonical",
    Severity.INFO,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
    fix=Fix.SAFE,
)
