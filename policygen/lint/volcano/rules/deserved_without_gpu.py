"""A Queue may use GPUs that other Queues deserve, but its deserved does not list them."""

from collections.abc import Iterable

from policygen.core.quoting import listed
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import QueueView
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.configuration import settings


def check(facts: Facts) -> Hits:
    """A pod is a victim if its queue has more than it deserves of a resource that deserved lists and the pod requests.

    Source: pkg/scheduler/plugins/capacity/capacity.go, checkDeservedExceedance;
    GreaterPartlyWithRelevantDimensions in pkg/scheduler/api/resource_info.go of Volcano 1.14.1.
    """
    configuration = settings(facts)
    if configuration is None or configuration.capacity is None:
        return
    if "reclaim" not in configuration.evicts:
        return  # reclaim-never-runs reports it
    cluster = facts.cluster
    inner = cluster.derive(queues.tree).inner
    for queue in cluster.queues:
        if not queue.fields.deserved or not queue.fields.reclaimable or inner(queue.name):
            continue
        names = _unlisted(queue, (it for it in cluster.queues if it is not queue))
        if names:
            gpus, them = listed(names, "and"), "it" if len(names) == 1 else "them"
            yield Hit(
                RULE,
                f"{queue} may use {gpus}, but its deserved does not list {them}, so other queues cannot reclaim {them} while the "
                f"queue has no more of other resources than it deserves; list {them} in deserved, with 0 if other queues may "
                "reclaim all",
                queue.at.to("spec", "deserved"),
            )


def _unlisted(queue: Entry[QueueView], others: Iterable[Entry[QueueView]]) -> list[str]:
    """The accelerators that others deserve, and that a queue may use but does not list."""
    deserved = {name for it in others for name, amount in it.fields.deserved.items() if amount > 0}
    own = queue.fields
    return sorted(
        name
        for name in deserved - own.deserved.keys() - own.guarantee.resource.keys()
        # Without a capability, it may use all. capability-without-gpu reports one without GPUs.
        if is_one(name) and (not own.capability or own.capability.get(name, 0) > 0)
    )


RULE = ObjectRule(
    "deserved-without-gpu",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="List each GPU resource in deserved, with 0 if other queues may reclaim all of it.",
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
)
