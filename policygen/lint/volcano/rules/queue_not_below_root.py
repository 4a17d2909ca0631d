"""The parent of a Queue does not exist, or its parents form a cycle."""

from policygen.api_validation.metadata import is_subdomain
from policygen.core.finding import Edit, Verb
from policygen.core.suggest import Names, suggest
from policygen.lint.core.renamed_objects import NameUse, renamed_objects
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity, written
from policygen.lint.volcano import queues as volcano_queues


def check(facts: Facts) -> Hits:
    """The webhook refuses such a queue; with enableHierarchy an existing one stops all scheduling.

    invalid-value reports names that no Queue can have.

    Source: pkg/scheduler/plugins/capacity/capacity.go, updateAncestors;
    pkg/webhooks/admission/queues/validate/validate_queue.go, validateHierarchicalQueue.
    """
    queues = facts.cluster.queues
    lost = facts.cluster.derive(volcano_queues.tree).lost
    below_root = Names([volcano_queues.ROOT, *(it.name for it in queues if it.name not in lost)])
    reported: set[str] = set()
    parents = (NameUse(it, it.fields.parent, it.at.to("spec", "parent")) for it in queues)
    uses = facts.cluster.derive(volcano_queues.queue_uses) if lost else ()
    renamed = renamed_objects(parents, queues, (*volcano_queues.MADE, *(it.queue for it in uses)))
    for one in renamed.values():
        yield from one.hits(facts, RULE)
    for queue in queues:
        name = queue.fields.parent
        if queue.name not in lost or queue.name in reported or not is_subdomain(name):
            continue
        at = queue.at.to("spec", "parent")
        if name in renamed:
            continue
        if not queues.knows(name) and name not in volcano_queues.MADE:
            yield Hit(
                RULE,
                f'{queue} has parent "{name}", which does not exist, so Volcano refuses the '
                f"queue, or stops scheduling all queues; {suggest(name, below_root)}",
                at,
                meant=written(at, below_root.meant(name)),
            )
            continue
        ring = [
            queue.name,
            *(above.name for above in volcano_queues.ancestors(facts.cluster, queue)),
        ]
        last = queues.get(ring[-1])
        if last is not None and last.fields.parent == queue.name:
            reported.update(ring)
            yield Hit(
                RULE,
                f"the parents of queues {', '.join(ring)} form a cycle, so these queues are not below root; "
                "remove the parent of one of these queues",
                at,
                meant=(Edit(Verb.REMOVE, at),),
            )


RULE = ObjectRule(
    "queue-not-below-root",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Create the parent, or remove the cycle.",
    judges=("Queue",),
    check=check,
    may_exist=True,
    needs=frozenset({Need.WHOLE}),
    reads=volcano_queues.SENDERS,
)
