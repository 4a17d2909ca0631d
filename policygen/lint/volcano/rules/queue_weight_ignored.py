"""A Queue has a weight, but the plugin capacity ignores weight and uses deserved."""

from policygen.core.quoting import some
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, Need, ObjectRule, Severity, written
from policygen.lint.volcano.configuration import settings


def check(facts: Facts) -> Hits:
    """Capacity does not read weights. If no queue has deserved, the plugin proportion was probably meant.

    Source: pkg/scheduler/plugins/capacity/capacity.go; volcano-sh/volcano#3305.
    """
    configuration = settings(facts)
    if configuration is None or configuration.capacity is None:
        return
    plugin = configuration.capacity
    weighted = [it for it in facts.cluster.queues if it.fields.weight > 1]
    if not weighted:
        return
    first, *others = [it.at.to("spec", "weight") for it in weighted]
    names = some([f"{it} has weight {it.fields.weight}" for it in weighted], "other Queue")
    ignores = "which plugin capacity ignores"
    if any(it.fields.deserved for it in facts.cluster.queues):
        message = f"{names}, {ignores}; write deserved, and remove the weight"
        meant: tuple[Edit, ...] = ()
    else:
        message = (
            f"{names}, {ignores}, and no Queue has deserved; write plugin proportion instead of capacity, or "
            "deserved in each Queue, and remove the weight"
        )
        meant = written(plugin.at / "name", "proportion")
    yield Hit(RULE, message, first, (*others, plugin.at), meant=meant)


RULE = ObjectRule(
    "queue-weight-ignored",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set deserved, and remove the weight.",
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
)
