"""The plugin conformance is in an earlier tier than capacity or proportion, so reclaim ignores the shares of Queues."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.configuration import QUEUE_PLUGINS, all_settings


def check(facts: Facts) -> Hits:
    """The first tier that names victims decides, and conformance names all but system pods.

    If gang votes in the same tier, it names few victims, and mostly the next tier decides.
    Source: pkg/scheduler/framework/session_plugins.go, Reclaimable; plugins/conformance.
    """
    for configuration in all_settings(facts):
        if "reclaim" not in configuration.actions:
            continue
        shares = [plugin for plugin in configuration.plugins if plugin.name in QUEUE_PLUGINS]
        on = {
            plugin.name: plugin
            for plugin in configuration.plugins
            if plugin.on("enableReclaimable")
        }
        voter, gang = on.get("conformance"), on.get("gang")
        if voter is None or len(shares) != 1 or voter.tier >= shares[0].tier:
            continue
        if gang is None or gang.tier != voter.tier:
            yield Hit(
                RULE,
                f"plugin {voter.name} in an earlier tier selects the pods that reclaim evicts, so "
                f"{shares[0].name} cannot protect the shares of the queues; move "
                f"{shares[0].name} into tier {voter.tier + 1}",
                shares[0].at / "name",
                (voter.at,),
            )


RULE = ObjectRule(
    "reclaim-ignores-queue-shares",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Move capacity or proportion into the tier of conformance.",
    judges=("volcano-scheduler.conf",),
    check=check,
    aliases=("victims-chosen-before-shares",),
)
