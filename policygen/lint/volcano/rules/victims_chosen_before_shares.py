"""A tier before the one that knows the queues' shares chooses whom reclaim evicts."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano.configuration import QUEUE_PLUGINS, all_settings


def check(facts: Facts) -> Iterator[Hit]:
    """The first tier that names victims decides, and conformance names all but the system's.

    Where gang votes beside it, a tier names few or none, and the next one is mostly asked.
    Source: pkg/scheduler/framework/session_plugins.go, Reclaimable; plugins/conformance.
    """
    for each in all_settings(facts):
        if "reclaim" not in each.actions:
            continue
        shares = [it for it in each.plugins if it.name in QUEUE_PLUGINS]
        on = {it.name: it for it in each.plugins if it.on("enableReclaimable")}
        voter, gang = on.get("conformance"), on.get("gang")
        if voter is None or len(shares) != 1 or voter.tier >= shares[0].tier:
            continue
        if gang is None or gang.tier != voter.tier:
            yield Hit(
                RULE,
                f"{voter.name} in an earlier tier chooses the victims of reclaim, so "
                f"{shares[0].name} is not asked whether their queue has more than its share; move "
                f"{shares[0].name} into tier {voter.tier + 1}",
                shares[0].at / "name",
                (voter.at,),
            )


RULE = ObjectRule(
    "victims-chosen-before-shares",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("volcano-scheduler.conf",),
    check=check,
)
