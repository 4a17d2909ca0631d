"""The jobs of a Queue without an affinity fit no node, because the plugin nodegroup is strict."""

from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.configuration import settings


def check(facts: Facts) -> Hits:
    """Labelled nodes take only queues that name their group.

    A strict plugin allows no other nodes. Queues inherit affinities if the plugin has
    enableHierarchy.
    Source: pkg/scheduler/plugins/nodegroup/nodegroup.go, predicateFn; `strict` since 1.13.
    """
    configuration = settings(facts)
    plugin = configuration.plugin("nodegroup") if configuration is not None else None
    if plugin is None or plugin.arguments.get("strict") is False:
        return
    tree = facts.cluster.derive(queues.tree)
    for queue in facts.cluster.queues:
        if queue.fields.affinity or tree.inner(queue.name):
            continue
        above = queues.ancestors(facts.cluster, queue)
        if plugin.on("enableHierarchy") and any(ancestor.fields.affinity for ancestor in above):
            continue
        yield Hit(
            RULE,
            f"{queue} has no affinity, and plugin nodegroup is strict, so the jobs of the queue fit no node; give the queue an affinity, or "
            "write strict: false in the arguments of nodegroup",
            queue.at / "spec",
            (plugin.at,),
        )


RULE = ObjectRule(
    "queue-affinity-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Give the queue an affinity, or set strict: false.",
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
    since={"volcano": (1, 13)},
    aliases=("queue-barred-from-all-nodes",),
)
