"""A Queue has an affinity to node groups, but the plugin that reads it is not enabled."""

from policygen.core.quoting import some
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano.configuration import settings


def check(facts: Facts) -> Hits:
    """Only nodegroup reads spec.affinity.

    Source: pkg/scheduler/plugins/nodegroup/nodegroup.go.
    """
    configuration = settings(facts)
    if configuration is None or configuration.plugin("nodegroup") is not None:
        return
    queues = [it for it in facts.cluster.queues if it.fields.affinity]
    if queues:
        first, *others = [it.at.to("spec", "affinity").on_key() for it in queues]
        has, of = ("has", "the queue") if len(queues) == 1 else ("have", "these queues")
        yield Hit(
            RULE,
            f"{some([str(it) for it in queues], 'other Queue')} {has} an affinity to node groups, but plugin "
            f"nodegroup is not enabled, so the jobs of {of} run on any nodes; add the plugin",
            first,
            (*others, configuration.entry.at / "tiers"),
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
