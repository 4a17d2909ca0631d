"""Kueue's Configuration uses v1beta1, which Kueue is about to remove."""

from policygen.core.quoting import listed
from policygen.kubernetes.kueue_settings import on_command_line
from policygen.lint.kueue.configuration_upgrade import NEW, changes
from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity, Verb


def check(facts: Facts) -> Hits:
    """The edits keep the effect: v1beta2 has other defaults, and sections without `enable`.

    Source: apis/config/v1beta1/configuration_conversion.go and v1beta2/defaults.go.
    """
    on_flags = bool(facts.cluster.derive(on_command_line))
    for entry in facts.cluster.kueue_configurations:
        if entry.object.version != "v1beta1":
            continue
        found = changes(
            entry.object.data, entry.at, facts.target["kueue"], gates_elsewhere=on_flags
        )
        advice = listed([f"apiVersion: {NEW}", *(change.advice for change in found)], "and")
        version = Edit(Verb.REWRITE, entry.at / "apiVersion", NEW)
        edits = (version, *(edit for change in found for edit in change.edits))
        by_hand = [change.advice for change in found if not change.edits]
        if by_hand:
            advice += f"; make the changes by hand, because you must decide about {by_hand[0]}"
        yield Hit(
            RULE,
            f"the Configuration uses v1beta1, which is deprecated; write {advice}",
            entry.at / "apiVersion",
            edits=() if by_hand else edits,
        )


RULE = ObjectRule(
    "kueue-configuration-outdated",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Write apiVersion: config.kueue.x-k8s.io/v1beta2, and the fields that the finding names.",
    judges=("Configuration",),
    reads=("Deployment",),
    check=check,
    fix=Fix.SAFE,
    since={"kueue": (0, 16)},
)
