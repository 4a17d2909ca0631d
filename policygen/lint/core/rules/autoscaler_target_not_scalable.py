"""An autoscaler scales a Job or another kind whose number of pods autoscalers cannot set."""

from policygen.core.quoting import quoted
from policygen.kubernetes.untyped import text
from policygen.lint.core.autoscalers import is_scalable, targets
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The kind has no scale subresource, so the autoscaler cannot read or set its replicas.

    Source: pkg/controller/podautoscaler/horizontal.go of Kubernetes 1.36.3, FailedGetScale.
    """
    for entry, target in targets(facts.cluster):
        if not is_scalable(target):
            kind, name = text(target, "kind"), quoted(text(target, "name"))
            yield Hit(
                RULE,
                f"{entry} scales {kind} {name}, but a {kind} has no scale subresource, so the autoscaler has no "
                "effect; scale a Deployment, or remove the autoscaler",
                entry.at.to("spec", "scaleTargetRef", "kind"),
            )


RULE = ObjectRule(
    "autoscaler-target-not-scalable",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Remove the autoscaler, or write a Deployment or another kind with replicas as its target.",
    judges=("HorizontalPodAutoscaler", "ScaledObject"),
    check=check,
)
