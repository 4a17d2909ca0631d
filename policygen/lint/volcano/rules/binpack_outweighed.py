"""What spreads pods weighs as much as binpack, so Volcano does not pack."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano.configuration import all_settings

_OPPONENTS = {"leastrequested": 1, "balancedresource": 1, "podtopologyspread": 2}
"""Scores of nodeorder that favour emptier nodes, with their default weights."""

_STEP = 8
"""GPUs of a node: one more in use is worth an eighth of binpack's score."""


def check(facts: Facts) -> Iterator[Hit]:
    """Scores are 100 times their weight; one GPU of eight moves binpack's by an eighth of that.

    Only where GPUs count at all; else see binpack-without-gpu.
    Source: pkg/scheduler/plugins/{binpack,nodeorder}; volcano-sh/volcano#887, #4416.
    """
    for each in all_settings(facts):
        packs, order = each.plugin("binpack"), each.plugin("nodeorder")
        if packs is None or order is None or not packs.on("enableNodeOrder"):
            continue
        listed = packs.arguments.get("binpack.resources")
        weight = packs.number("binpack.weight", 1)
        if not (isinstance(listed, str) and listed) or weight <= 0:
            continue
        against = {
            name: order.number(f"{name}.weight", default) for name, default in _OPPONENTS.items()
        }
        against = {name: it for name, it in against.items() if it > 0}
        total = sum(against.values())
        if order.on("enableNodeOrder") and weight < _STEP * total:
            shown = ", ".join(f"{name} {it}" for name, it in against.items())
            yield Hit(
                RULE,
                f"binpack has weight {weight}, and nodeorder's {shown} favour emptier nodes: one "
                f"GPU more in use does not outweigh them; set their weights to 0, or "
                f"binpack.weight to more than {_STEP * total}",
                packs.at,
                (order.at,),
            )


RULE = ObjectRule(
    "binpack-outweighed",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("volcano-scheduler.conf",),
    check=check,
)
