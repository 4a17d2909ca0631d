"""The child queues of a Queue together have larger amounts than the Queue itself."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from policygen.core.amounts import amount_of, readable
from policygen.core.finding import At, Path
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import QueueView
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues

_MISSING_IS_ZERO = (1, 14)
"""The first release in which a resource that a parent does not list counts as 0."""
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
    cluster = facts.cluster
    tree = cluster.derive(queues.tree)
    missing_is_zero = facts.target["volcano"].release >= _MISSING_IS_ZERO
    for parent in cluster.queues:
        children = tree.children.get(parent.name, ())
        if parent.name == queues.ROOT or not children:
            continue
        for path in (queues.DESERVED, queues.GUARANTEE):
            parts = [(child, queues.amounts(child.fields)[path]) for child in children]
            has = queues.amounts(parent.fields)[path]
            yield from _sums(parent, path, parts, has, missing_is_zero=missing_is_zero)
    for queue in cluster.queues:
        yield from _limits(cluster, queue)


def _limits(cluster: Cluster, queue: Entry[QueueView]) -> Hits:
    """Compares each limit with that of the nearest ancestor that has one; 0 means unlimited."""
    for name, amount in queue.fields.capability.items():
        for above in queues.ancestors(cluster, queue):
            limit = above.fields.capability.get(name, Fraction(0))
            if above.name == queues.ROOT:
                break
            if amount > limit > 0:
                yield Hit(
                    RULE,
                    f"{queue} has a capability of {amount_of(name, amount, limit)}, above the "
                    f"{readable(name, limit, amount)} of its ancestor {above}; lower the capability "
                    f"of {queue}, or raise the capability of {above}",
                    queue.at.to("spec", "capability", name),
                    (above.at.to("spec", "capability", name),),
                )
            if limit > 0:
                break


def _sums(
    parent: Entry[QueueView],
    path: Path,
    parts: Sequence[tuple[Entry[QueueView], Mapping[str, Fraction]]],
    has: Mapping[str, Fraction],
    *,
    missing_is_zero: bool,
) -> Hits:
    missing: dict[str, str] = {}
    children = tuple(child.at.to("spec", *path) for child, amounts in parts if amounts)
    for name in sorted({name for _, amounts in parts for name in amounts}):
        total = sum((amounts.get(name, Fraction(0)) for _, amounts in parts), Fraction(0))
        if total <= has.get(name, Fraction(0)):
            continue
        own = has.get(name)
        sums = amount_of(name, total, own)
        if own is not None:
            has_own = f"{amount_of(name, own, total)} as {path[0]}"
            yield _above(parent, (*path, name), has_own, f"together have {sums}", children)
        elif missing_is_zero:
            missing[name] = sums
    if missing:
        adjective, verb = _WORDS[path]
        # The sum of one resource does not name it again.
        sums = ", ".join(missing.values()).removesuffix(f" {', '.join(missing)}")
        has_own = f"no {adjective} {', '.join(missing)}"
        at = (*path, next(iter(missing)))
        yield _above(parent, at, has_own, f"{verb} {sums}", children)


def _above(
    parent: Entry[QueueView], path: Path, own: str, sums: str, children: tuple[At, ...]
) -> Hit:
    return Hit(
        RULE,
        f"{parent} has {own}, but its child queues {sums}; raise {path[0]} of {parent} to this sum",
        parent.at.to("spec", *path),
        related=children,
    )


RULE = ObjectRule(
    "children-exceed-parent",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Raise the amounts of the parent to the sums of its children.",
    judges=("Queue",),
    check=check,
    may_exist=True,
)
