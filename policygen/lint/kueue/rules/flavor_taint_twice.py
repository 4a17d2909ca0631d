"""A ResourceFlavor lists two taints with the same key and effect."""

from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity, Verb


def check(facts: Facts) -> Hits:
    """A node has at most one taint with a key and effect, whatever its value.

    Source: pkg/webhooks/resourceflavor_webhook.go, validateNodeTaints.
    """
    for flavor in facts.cluster.flavors:
        seen: dict[tuple[str, str], int] = {}
        for i, taint in enumerate(flavor.fields.node_taints):
            at = flavor.at.to("spec", "nodeTaints")
            first = seen.setdefault((taint.key, taint.effect), i)
            if first != i:
                yield Hit(
                    RULE,
                    f"{flavor} lists taint {taint.key}:{taint.effect} twice, which Kueue refuses; "
                    "remove one of the two",
                    at / i,
                    (at / first,),
                    (Edit(Verb.REMOVE, at / i),)
                    if taint == flavor.fields.node_taints[first]
                    else (),
                )


RULE = ObjectRule(
    "flavor-taint-twice",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Keep only the taint that the nodes have.",
    judges=("ResourceFlavor",),
    check=check,
    fix=Fix.SAFE,
)
