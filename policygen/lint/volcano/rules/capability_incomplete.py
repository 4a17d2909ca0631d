"""A Queue deserves or is guaranteed a resource that its capability does not list."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues

_PREFIXES = ("hugepages-", "attachable-volumes-")
_FIXED = 2
"""The first patch of 1.14 in which a capability limits only what it lists."""


def _counted(name: str) -> bool:
    """Whether Volcano counts the resource.

    Source: pkg/scheduler/api/resource_info.go, NewResource.
    """
    return name in {"cpu", "memory"} or "/" in name or name.startswith(_PREFIXES)


def check(facts: Facts) -> Hits:
    """In 1.13 and up to 1.14.1, a resource that the capability does not list has a limit of 0.

    Source: queues/validate/validate_queue.go, validateResourceOfQueue; volcano-sh/volcano#4995.
    """
    target = facts.target["volcano"]
    if target.release == (1, 14) and target.patch is not None and target.patch >= _FIXED:
        return
    for queue in facts.cluster.queues:
        limits = queue.fields.capability
        fields = queues.amounts(queue.fields)
        reported = set()
        for path in (queues.DESERVED, queues.GUARANTEE):
            for name, amount in fields[path].items():
                if not _counted(name):
                    continue
                if limits and name not in limits and name not in reported and amount > 0:
                    reported.add(name)
                    yield Hit(
                        RULE,
                        f"{queue} has {name} in {path[0]} but not in capability, and Volcano 1.13 to 1.14.1 "
                        "refuses such a queue; list the resource in capability too",
                        queue.at.to("spec", *path, name),
                        (queue.at.to("spec", "capability"),),
                    )


RULE = ObjectRule(
    "capability-incomplete",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="List the resource in capability too.",
    judges=("Queue",),
    check=check,
    since={"volcano": (1, 13)},
    until={"volcano": (1, 15)},
    aliases=("capability-leaves-out",),
)
