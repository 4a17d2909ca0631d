"""Two autoscalers scale one workload, so neither of them reads its metric."""

from typing import Any

from policygen.core.quoting import quoted
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import text
from policygen.lint.core.autoscalers import targets
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_TRANSFER = "scaledobject.keda.sh/transfer-hpa-ownership"
"""With this annotation, KEDA takes over a HorizontalPodAutoscaler of the user."""


def check(facts: Facts) -> Hits:
    """KEDA creates a HorizontalPodAutoscaler for a ScaledObject, and refuses it if one has its target.

    Source: pkg/controller/podautoscaler/horizontal.go of Kubernetes 1.36.3, AmbiguousSelector;
    apis/keda/v1alpha1/scaledobject_webhook.go of KEDA 2.20.
    """
    first: dict[tuple[str, str, str], Entry[Any]] = {}
    for entry, target in targets(facts.cluster):
        if entry.object.is_made or entry.object.annotations.get(_TRANSFER) == "true":
            continue
        key = entry.namespace, text(target, "kind"), text(target, "name")
        other = first.setdefault(key, entry)
        if other is not entry:
            yield Hit(
                RULE,
                f"{other} and {entry} scale {key[1]} {quoted(key[2])}, so neither of them reads its metric; remove "
                "one of the two",
                entry.at.to("spec", "scaleTargetRef"),
                (other.at.to("spec", "scaleTargetRef"),),
            )


RULE = ObjectRule(
    "autoscalers-share-target",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Remove one of the two autoscalers. One autoscaler can have several metrics.",
    judges=("HorizontalPodAutoscaler", "ScaledObject"),
    check=check,
)
