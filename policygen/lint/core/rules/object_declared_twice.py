"""Two objects in the input have the same kind, namespace and name."""

from policygen.core.finding import THERE
from policygen.kubernetes.object import Object
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, shared
from policygen.spec.rules import OBJECT_DECLARED_TWICE


def check(facts: Facts) -> Hits:
    """The last one that is applied replaces the other silently.

    Source: how the API server stores objects, by group, kind, namespace and name.
    """
    first: dict[tuple[str, str, str, str], Object] = {}
    for obj in facts.cluster.objects:
        if not obj.name:
            continue
        earlier = first.setdefault(obj.identity, obj)
        if earlier is not obj:
            yield Hit(
                RULE,
                f"{obj} is in the input twice, first at {THERE}, and the object that is applied "
                "last replaces the other; remove or rename one of the two objects",
                obj.at.to("metadata", "name"),
                related=(earlier.at.to("metadata", "name"),),
            )


RULE = ObjectRule(
    *shared(OBJECT_DECLARED_TWICE, Family.INERT),
    judges=(),
    check=check,
)
