"""The plugin nodeorder spreads pods at least as strongly as binpack packs them, or binpack has weight 0."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.configuration import ListedPlugin, all_settings

_OPPONENTS = {"leastrequested": 1, "balancedresource": 1, "podtopologyspread": 2}
"""Scores of nodeorder that prefer emptier nodes, with their default weights."""

_STEP = 8
"""GPUs of a node: one more in use changes binpack's score by an eighth."""


def check(facts: Facts) -> Hits:
    """A score is 100 times its weight. One GPU of eight changes that of binpack by an eighth.

    Only if binpack counts GPUs at all; otherwise see binpack-without-gpu.
    Source: pkg/scheduler/plugins/{binpack,nodeorder}; volcano-sh/volcano#887, #4416.
    """
    for configuration in all_settings(facts):
        packs, order = configuration.plugin("binpack"), configuration.plugin("nodeorder")
        if packs is None or not packs.on("enableNodeOrder"):
            continue
        listed = packs.arguments.get("binpack.resources")
        weight = packs.number("binpack.weight", 1)
        if not (isinstance(listed, str) and listed):
            continue
        opponents = _opponents(order)
        total = sum(opponents.values())
        if weight <= 0:
            effect = "so it scores no node" if weight == 0 else "so it prefers emptier nodes"
            yield Hit(
                RULE,
                f"plugin binpack has weight {weight}, {effect}, although it lists {listed}; set binpack.weight above "
                f"{_STEP * total}",
                packs.at.to("arguments", "binpack.weight"),
            )
        elif order is not None and weight < _STEP * total:
            shown = ", ".join(f"{name} {score}" for name, score in opponents.items())
            yield Hit(
                RULE,
                f"plugin binpack has weight {weight}, but these weights of plugin nodeorder prefer emptier nodes: "
                f"{shown}; set these weights to 0, or set binpack.weight above "
                f"{_STEP * total}",
                packs.at,
                (order.at,),
            )


def _opponents(order: ListedPlugin | None) -> dict[str, int]:
    """The positive weights of scores that prefer emptier nodes."""
    if order is None or not order.on("enableNodeOrder"):
        return {}
    scores = {name: order.number(f"{name}.weight", default) for name, default in _OPPONENTS.items()}
    return {name: score for name, score in scores.items() if score > 0}


RULE = ObjectRule(
    "binpack-outweighed",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set leastrequested.weight, balancedresource.weight and podtopologyspread.weight of nodeorder to 0, or give binpack a larger weight.",
    judges=("volcano-scheduler.conf",),
    check=check,
)
