"""A queue is guaranteed more than it deserves."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.amounts import shown
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """From 1.14.2 on each resource of the guarantee must be in deserved, and not above it.

    Source: pkg/webhooks/admission/queues/validate/validate_queue.go; volcano-sh/volcano#4995.
    """
    for queue in facts.cluster.queues:
        it = queue.it
        for name, amount in it.guarantee.resource.items():
            deserved = it.deserved.get(name)
            if deserved is None or amount > deserved:
                has = "nothing" if deserved is None else shown(name, deserved)
                yield Claim(
                    f"{queue} is guaranteed {shown(name, amount)} {name} and deserves {has}; write "
                    f"at least as much into deserved",
                    queue.at.to("spec", "guarantee", "resource", name),
                    (queue.at.to("spec", "deserved"),),
                )


RULE = Rule(
    "guarantee-above-deserved",
    Severity.ERROR,
    Family.INVALID,
    judges=("Queue",),
    check=check,
    since={"volcano": (1, 14)},
)
