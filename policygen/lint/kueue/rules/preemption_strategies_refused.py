"""The strategies of fair sharing are none of the three lists that Kueue takes."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.kubernetes.untyped import texts
from policygen.lint.kueue.configuration import all_settings
from policygen.lint.rule import Claim, Facts, Family, Rule

_FINAL, _INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
_VALID = ((_FINAL,), (_INITIAL,), (_FINAL, _INITIAL))


def check(facts: Facts) -> Iterator[Claim]:
    """The manager exits at start. A v1beta1 Configuration without a list gets both.

    Source: pkg/config/validation.go, validateFairSharing.
    """
    for entry, rules in all_settings(facts):
        stanza = entry.it.fair_sharing
        if stanza is None or not rules.fair_sharing:
            continue
        strategies = texts(stanza.get("preemptionStrategies"))
        if strategies in _VALID or (not strategies and entry.object.version == "v1beta1"):
            continue
        said = f"[{', '.join(strategies)}]" if strategies else "no strategy"
        yield Claim(
            f"Kueue does not start with fairSharing and {said}; write preemptionStrategies: "
            f"[{_FINAL}, {_INITIAL}], or one of the two",
            entry.at.to("fairSharing", "preemptionStrategies"),
        )


RULE = Rule(
    "preemption-strategies-refused",
    Severity.ERROR,
    Family.INVALID,
    judges=("Configuration",),
    check=check,
)
