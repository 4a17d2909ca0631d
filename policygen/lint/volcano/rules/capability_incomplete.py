"""A Queue deserves or is guaranteed a resource that its capability does not list."""

from policygen.core.quoting import listed
from policygen.kubernetes.accelerators import is_one
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.mistaken_gpus import READS, mistaken_gpus


def check(facts: Facts) -> Hits:
    """In 1.13 and up to 1.14.1, a resource that the capability does not list has a limit of 0.

    Source: queues/validate/validate_queue.go, validateResourceOfQueue; volcano-sh/volcano#4995.
    """
    if not queues.refuses_unlisted(facts.target["volcano"]):
        return
    for queue in facts.cluster.queues:
        unlisted = queues.unlisted(queue.fields)
        if not unlisted:
            continue
        names = listed([*unlisted], "and")
        shares = listed(sorted({f"{path[0]}" for path in unlisted.values()}), "and")
        advice = "list the resource in capability too"
        if any(map(is_one, unlisted)):
            advice = "list every GPU resource in capability, with 0 to forbid its use"
        wrong = facts.cluster.derive(mistaken_gpus).get(queue.name)
        if wrong:
            advice = f"write {wrong.meant} instead of {wrong.name}"
        places = [queue.at.to("spec", *path, name) for name, path in unlisted.items()]
        yield Hit(
            RULE,
            f"{queue} has {names} in {shares} but not in capability, and Volcano 1.13 to 1.14.1 "
            f"refuses such a queue; {advice}",
            wrong.places[0] if wrong else places[0],
            (*places[1:], queue.at.to("spec", "capability")),
            meant=wrong.edits if wrong else (),
        )


RULE = ObjectRule(
    "capability-incomplete",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="List the resource in capability too.",
    judges=("Queue",),
    check=check,
    reads=READS,
    since={"volcano": (1, 13)},
    until={"volcano": (1, 15)},
    aliases=("capability-leaves-out",),
)
