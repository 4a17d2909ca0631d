"""The child queues of a Queue together have larger amounts than the Queue itself."""

from fractions import Fraction

from policygen.core.amounts import amount_of, readable, total
from policygen.core.finding import At, Path
from policygen.core.versions import Version
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import Amounts, QueueView
from policygen.lint.other_rules import places
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.queues import Webhook
from policygen.lint.volcano.rules import guarantee_above_deserved

_CHECKED = (1, 14)
"""The first release whose webhook compares children with their parent."""
_WORDS = {
    queues.DESERVED: ("deserved", "deserve"),
    queues.GUARANTEE: ("guaranteed", "are guaranteed"),
}
"""For each kind of amount, an adjective, and a verb for child queues."""


def check(facts: Facts) -> Hits:
    """Compares sums of deserved and guarantee, and each capability, but not with `root`.

    Refused from 1.14 on; in 1.12 and 1.13 the scheduler drops the whole tree.
    Source: queues/validate/validate_queue.go; volcano-sh/volcano#5634, #4818.
    """
    cluster, target = facts.cluster, facts.target["volcano"]
    wrong = set(places(facts, (guarantee_above_deserved.RULE,)))
    tree = cluster.derive(queues.tree)
    for parent in cluster.queues:
        children = tree.children.get(parent.name, ())
        if parent.name == queues.ROOT or not children:
            continue
        for path in (queues.DESERVED, queues.GUARANTEE):
            parts = [queues.counted(queues.amounts(child.fields)[path]) for child in children]
            at = tuple(
                child.at.to("spec", *path)
                for child, own in zip(children, parts, strict=True)
                if own
            )
            # guarantee-above-deserved also advises what the parent needs.
            sums = {
                name: amount
                for name, amount in total(parts).items()
                if not any(it.at.to("spec", *path, name) in wrong for it in children)
            }
            yield from _sums(facts, parent, path, sums, at)
    for queue in cluster.queues:
        yield from _capability(cluster, queue, target)


def _sums(
    facts: Facts,
    parent: Entry[QueueView],
    path: Path,
    sums: Amounts,
    children: tuple[At, ...],
) -> Hits:
    cluster, target = facts.cluster, facts.target["volcano"]
    has = queues.amounts(parent.fields)[path]
    webhooks = queues.webhooks(target)
    listed = queues.above(sums, has)
    complete: list[str] = []
    if target.release < _CHECKED:
        listed = complete = [name for name in listed if name in has]
    elif limit := has or parent.fields.capability:
        complete = queues.above(sums, limit)
    missing: dict[frozenset[Webhook], list[str]] = {}
    for name in sorted({*listed, *complete}):
        by = webhooks & {
            webhook
            for webhook, names in ((Webhook.COMPLETE, complete), (Webhook.LISTED, listed))
            if name in names
        }
        own = has.get(name)
        if not by:
            continue
        if own is None:
            missing.setdefault(by, []).append(name)
            continue
        has_own = f"{amount_of(name, own, sums[name])} as {path[0]}"
        end = f"{amount_of(name, sums[name], own)}{queues.refusing(by, target)}"
        end += f"; {_advice(cluster, parent, path, name, sums[name])}"
        yield _above(parent, (*path, name), has_own, f"together have {end}", children)
    adjective, verb = _WORDS[path]
    for by, names in missing.items():
        # The sum of one resource does not name it again.
        amounts = ", ".join(amount_of(name, sums[name]) for name in names)
        amounts = amounts.removesuffix(f" {', '.join(names)}")
        has_own = f"no {adjective} {', '.join(names)}"
        end = f"{queues.refusing(by, target)}; {_advice(cluster, parent, path, names[0], sums[names[0]])}"
        yield _above(parent, (*path, names[0]), has_own, f"{verb} {amounts}{end}", children)


def _above(
    parent: Entry[QueueView], path: Path, own: str, sums: str, children: tuple[At, ...]
) -> Hit:
    return Hit(
        RULE,
        f"{parent} has {own}, but its child queues {sums}",
        parent.at.to("spec", *path),
        related=children,
    )


def _advice(
    cluster: Cluster, parent: Entry[QueueView], path: Path, name: str, needed: Fraction
) -> str:
    """To raise the amount of the parent, if its capability, its own parent and the nodes have room for it."""
    limit = parent.fields.capability.get(name, Fraction(0))
    if 0 < limit < needed:
        return f"lower the amounts of the child queues, because {parent} has a capability of {readable(name, limit)}"
    above = parent.fields.parent or queues.ROOT
    beside = [
        queues.amounts(it.fields)[path].get(name, Fraction(0))
        for it in cluster.queues
        if it.name not in (queues.ROOT, parent.name) and (it.fields.parent or queues.ROOT) == above
    ]
    owner = cluster.queues.get(above) if above != queues.ROOT else None
    have = (
        queues.amounts(owner.fields)[path].get(name)
        if owner is not None
        else total(it.fields.status.allocatable for it in cluster.nodes).get(name)
    )
    if have is not None and needed + sum(beside) > have:
        of = f"{owner} has" if owner is not None else "all nodes together have"
        other = (
            f" and other queues have {readable(name, sum(beside, Fraction(0)))}"
            if any(beside)
            else ""
        )
        return (
            f"lower {path[0]} of the child queues to the amount of {parent}, because {of} only "
            f"{amount_of(name, have)}{other}"
        )
    return f"raise {path[0]} of {parent} to this sum"


def _capability(cluster: Cluster, queue: Entry[QueueView], target: Version) -> Hits:
    """Compares a capability with that of the parent, and of the nearest ancestor with a limit."""
    name = queue.fields.parent
    parent = cluster.queues.get(name)
    known = parent is not None or name == queues.DEFAULT
    own = parent.fields.capability if parent else {}
    complete: list[str] = []
    if known and name not in ("", queues.ROOT) and target.release >= _CHECKED:
        complete = queues.above(queues.counted(queue.fields.capability), own)
    webhooks = queues.webhooks(target)
    missing = []
    for resource, amount in queue.fields.capability.items():
        limiting = _limiting(cluster, queue, resource)
        limit = limiting.fields.capability[resource] if limiting else None
        of_parent = limiting is not None and limiting is parent
        if resource in complete and not of_parent and Webhook.COMPLETE in webhooks:
            missing.append(resource)
        by = webhooks if resource not in missing else webhooks - {Webhook.COMPLETE}
        if by and limiting is not None and limit is not None and amount > limit:
            yield Hit(
                RULE,
                f"{queue} has a capability of {amount_of(resource, amount, limit)}, above the "
                f"{readable(resource, limit, amount)} of its ancestor {limiting}{queues.refusing(by, target)}; lower the capability "
                f"of {queue}, or raise the capability of {limiting}",
                queue.at.to("spec", "capability", resource),
                (limiting.at.to("spec", "capability", resource),),
            )
    if missing:
        yield Hit(
            RULE,
            f"{queue} has a capability of {', '.join(missing)}, but its parent {name} does not have as much"
            f"{queues.refusing({Webhook.COMPLETE}, target)}; raise the capability of {name}",
            queue.at.to("spec", "capability", missing[0]),
            (parent.at / "spec",) if parent else (),
        )


def _limiting(cluster: Cluster, queue: Entry[QueueView], resource: str) -> Entry[QueueView] | None:
    """The nearest ancestor below `root` with a limit of a resource; 0 means unlimited."""
    for above in queues.ancestors(cluster, queue):
        if above.name == queues.ROOT:
            return None
        if above.fields.capability.get(resource, Fraction(0)) > 0:
            return above
    return None


RULE = ObjectRule(
    "children-exceed-parent",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Raise the amounts of the parent to the sums of its children.",
    judges=("Queue",),
    check=check,
    reads=("Node",),
    may_exist=True,
)
