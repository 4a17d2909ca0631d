"""The preemption strategies of fair sharing are not a list that Kueue accepts."""

from policygen.lint.kueue.configuration import all_settings
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_FINAL, _INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
_VALID = ((_FINAL,), (_INITIAL,), (_FINAL, _INITIAL))


def check(facts: Facts) -> Hits:
    """The manager exits at start. A v1beta1 Configuration without a list gets both.

    Source: pkg/config/validation.go, validateFairSharing.
    """
    for entry, rules in all_settings(facts):
        stanza = entry.fields.fair_sharing
        if stanza is None or not rules.fair_sharing:
            continue
        listed = stanza.get("preemptionStrategies")
        strategies = tuple(str(it or "") for it in listed) if isinstance(listed, list) else ()
        if strategies in _VALID or (not strategies and entry.object.version == "v1beta1"):
            continue
        fault = f"fairSharing.preemptionStrategies is [{', '.join(strategies)}]"
        advice = f"write [{_FINAL}, {_INITIAL}], or one of the two strategies"
        if "preemptionStrategies" not in stanza:
            fault = "fairSharing has no preemptionStrategies"
            advice += ", or remove fairSharing to switch fair sharing off"
        yield Hit(
            RULE,
            f"{fault}, so Kueue does not start; {advice}",
            entry.at.to("fairSharing", "preemptionStrategies"),
        )


RULE = ObjectRule(
    "preemption-strategies-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write LessThanOrEqualToFinalShare, LessThanInitialShare, or both in this order.",
    judges=("Configuration",),
    check=check,
)
