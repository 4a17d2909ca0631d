"""A tier before the one that knows the queues' shares chooses whom reclaim evicts."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.rule import Claim, Facts, Family, Rule
from policygen.lint.volcano_settings import QUEUE_PLUGINS, all_settings

_VOTERS = ("cdp", "conformance", "gang", "pdb")
"""Plugins that name victims of reclaim without looking at queues."""


def check(facts: Facts) -> Iterator[Claim]:
    """The first tier that names victims decides; later ones are not asked.

    Source: pkg/scheduler/framework/session_plugins.go, Reclaimable.
    """
    for each in all_settings(facts):
        if "reclaim" not in each.actions:
            continue
        shares = [it for it in each.plugins if it.name in QUEUE_PLUGINS]
        voters = [it for it in each.plugins if it.name in _VOTERS and it.on("enableReclaimable")]
        if len(shares) == 1 and voters and voters[0].tier < shares[0].tier:
            yield Claim(
                f"{voters[0].name} in an earlier tier chooses the victims of reclaim, so "
                f"{shares[0].name} is not asked whether their queue has more than its share; move "
                f"{shares[0].name} into tier {voters[0].tier + 1}",
                shares[0].at / "name",
                (voters[0].at,),
            )


RULE = Rule(
    "victims-chosen-before-shares",
    Severity.ERROR,
    Family.INERT,
    judges=("volcano-scheduler.conf",),
    check=check,
)
