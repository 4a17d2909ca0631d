"""A flavor lists a taint twice."""

from collections.abc import Iterator

from policygen.core.finding import Edit, Hit, Verb
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, Fix, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """A node has one taint of a key and effect, whatever its value.

    Source: pkg/webhooks/resourceflavor_webhook.go, validateNodeTaints.
    """
    for flavor in facts.cluster.flavors:
        seen: dict[tuple[str, str], int] = {}
        for i, taint in enumerate(flavor.it.node_taints):
            at = flavor.at.to("spec", "nodeTaints")
            first = seen.setdefault((taint.key, taint.effect), i)
            if first != i:
                yield Hit(
                    RULE,
                    f"{flavor} has the taint {taint.key}:{taint.effect} twice, which is refused; "
                    "keep one",
                    at / i,
                    (at / first,),
                    (Edit(Verb.REMOVE, at / i),) if taint == flavor.it.node_taints[first] else (),
                )


RULE = ObjectRule(
    "flavor-taint-twice",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("ResourceFlavor",),
    check=check,
    fix=Fix.SAFE,
)
