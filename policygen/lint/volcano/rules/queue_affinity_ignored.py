"""A Queue has an affinity to node groups, but the plugin that reads it is not enabled."""

from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano.configuration import settings


def check(facts: Facts) -> Hits:
    """Only nodegroup reads spec.affinity.

    Source: pkg/scheduler/plugins/nodegroup/nodegroup.go.
    """
    configuration = settings(facts)
    if configuration is None or configuration.plugin("nodegroup") is not None:
        return
    for queue in facts.cluster.queues:
        if queue.fields.affinity:
            yield Hit(
                RULE,
                f"{queue} has an affinity to node groups, but plugin "
                "nodegroup is not enabled, so the jobs of the queue run on any nodes; add the plugin",
                queue.at.to("spec", "affinity").on_key(),
                (configuration.entry.at / "tiers",),
            )


RULE = ObjectRule(
    "queue-affinity-ignored",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Add the plugin nodegroup.",
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
)
