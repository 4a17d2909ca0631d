"""The queues below one have more than it has itself."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from policygen.core.finding import Hit, Path
from policygen.core.rule import Severity
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import Queue
from policygen.lint.core.amounts import shown
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano import queues

_ABSENT_IS_NONE = (1, 14)
"""The first release that takes what a parent does not list for 0."""


def check(facts: Facts) -> Iterator[Hit]:
    """Sums of deserved and guarantee, and each capability. Below `root` nothing is compared.

    Refused from 1.14.2 on; in 1.12 and 1.13 the scheduler gives up its tree.
    Source: queues/validate/validate_queue.go; volcano-sh/volcano#5634, #4818.
    """
    cluster = facts.cluster
    tree = cluster.derive(queues.tree)
    absent = facts.target["volcano"].release >= _ABSENT_IS_NONE
    for parent in cluster.queues:
        children = tree.children.get(parent.name, ())
        if parent.name == queues.ROOT or not children:
            continue
        for path in (queues.DESERVED, queues.GUARANTEE):
            of = [queues.amounts(child.it)[path] for child in children]
            has = queues.amounts(parent.it)[path]
            yield from _sums(parent, path, of, has, absent=absent)
    for queue in cluster.queues:
        yield from _limits(cluster, queue)


def _limits(cluster: Cluster, queue: Entry[Queue]) -> Iterator[Hit]:
    """Each limit beside that of the nearest queue above that has one; 0 is none."""
    for name, amount in queue.it.capability.items():
        for above in queues.ancestors(cluster, queue):
            limit = above.it.capability.get(name, Fraction(0))
            if above.name == queues.ROOT:
                break
            if amount > limit > 0:
                yield Hit(
                    RULE,
                    f"{queue} may use {shown(name, amount)} {name}, and {above} above it "
                    f"{shown(name, limit)}; lower it, or raise the capability there",
                    queue.at.to("spec", "capability", name),
                    (above.at.to("spec", "capability", name),),
                )
            if limit > 0:
                break


def _sums(
    parent: Entry[Queue],
    path: Path,
    of: Sequence[Mapping[str, Fraction]],
    has: Mapping[str, Fraction],
    *,
    absent: bool,
) -> Iterator[Hit]:
    lacking: dict[str, str] = {}
    for name in sorted({name for amounts in of for name in amounts}):
        total = sum((amounts.get(name, Fraction(0)) for amounts in of), Fraction(0))
        if total <= has.get(name, Fraction(0)):
            continue
        said = f"{shown(name, total)} {name}"
        if name in has:
            yield _above(parent, (*path, name), said, shown(name, has[name]))
        elif absent:
            lacking[name] = said
    if lacking:
        yield _above(parent, (*path, next(iter(lacking))), ", ".join(lacking.values()), "none")


def _above(parent: Entry[Queue], path: Path, sums: str, own: str) -> Hit:
    return Hit(
        RULE,
        f"the queues below {parent} have {sums} as {path[0]} together, and it has {own} itself; "
        "raise it to their sum",
        parent.at.to("spec", *path),
    )


RULE = ObjectRule(
    "children-exceed-parent",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("Queue",),
    check=check,
    stands=True,
)
