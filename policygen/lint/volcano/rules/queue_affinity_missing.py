"""The jobs of a Queue fit no node, because its affinity names no group of nodes that may take them."""

from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.configuration import settings


def check(facts: Facts) -> Hits:
    """Labelled nodes take only queues that name their group.

    A strict plugin allows no other nodes. With an affinity, also a plugin that is not strict allows no
    other nodes. Queues inherit affinities if the plugin has enableHierarchy.
    Source: pkg/scheduler/plugins/nodegroup/nodegroup.go, predicateFn; `strict` since 1.13.
    """
    configuration = settings(facts)
    plugin = configuration.plugin("nodegroup") if configuration is not None else None
    if plugin is None:
        return
    strict = plugin.arguments.get("strict") is not False
    inherits = plugin.on("enableHierarchy")
    tree = facts.cluster.derive(queues.tree)
    for queue in facts.cluster.queues:
        if tree.inner(queue.name):
            continue
        owner = queues.affinity_owner(facts.cluster, queue, inherits=inherits)
        groups = queues.node_groups(owner.fields.affinity)
        if groups is None and strict:
            yield Hit(
                RULE,
                f"{queue} has no affinity, and plugin nodegroup is strict, so the jobs of the queue fit no node; give the queue an affinity, or "
                "write strict: false in the arguments of nodegroup",
                queue.at / "spec",
                (plugin.at,),
            )
        elif groups is not None and not groups:
            yield Hit(
                RULE,
                f"the jobs of {queue} fit no node, because its affinity only excludes node groups, and plugin "
                "nodegroup uses only groups that the affinity names; write the groups of nodes that the "
                "queue may use in nodeGroupAffinity",
                owner.at.to("spec", "affinity"),
                (plugin.at,),
            )


RULE = ObjectRule(
    "queue-affinity-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Give the queue an affinity to node groups, or set strict: false.",
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
    since={"volcano": (1, 13)},
    aliases=("queue-barred-from-all-nodes",),
)
