"""Kubernetes' grammar of label keys and values, taints and tolerations.

Source: k8s.io/apimachinery `pkg/util/validation` and the CRD of Kueue's ResourceFlavor
(`config/components/crd/bases/kueue.x-k8s.io_resourceflavors.yaml`).
"""

from collections.abc import Iterator

from policygen.core.finding import At, Hit
from policygen.core.label_grammar import key_fault, value_fault
from policygen.core.names import HOSTNAME, MANAGED_BY, SET
from policygen.core.quoting import quoted
from policygen.core.rule import Rule
from policygen.spec.programs import MonitoringSettings
from policygen.spec.rules import INVALID_LABEL, INVALID_TAINT, INVALID_TOLERATION, INVALID_TOPOLOGY
from policygen.spec.types import Pool, Toleration


def check_rules(settings: MonitoringSettings) -> Iterator[Hit]:
    """Faults of the labels of PrometheusRules."""
    if settings.at is None:
        return
    for key, value in settings.rule_labels:
        at = settings.at.to("ruleLabels", key)
        if key in (MANAGED_BY, SET):
            message = (
                f"policygen itself sets the label {key} on all rendered objects; remove it here"
            )
            yield Hit(INVALID_LABEL, message, at.on_key())
        yield from _hit(INVALID_LABEL, key_fault(key), at.on_key())
        yield from _hit(INVALID_LABEL, value_fault(value), at)


def check(pool: Pool) -> Iterator[Hit]:
    """Faults of a pool's nodeSelector, taints, tolerations and topology levels."""
    spec = pool.at / "spec"
    for key, value in pool.node_selector:
        yield from _hit(INVALID_LABEL, key_fault(key), (spec / "nodeSelector" / key).on_key())
        yield from _hit(INVALID_LABEL, value_fault(value), spec / "nodeSelector" / key)
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(pool.taints):
        at = spec / "taints" / index
        yield from _hit(INVALID_TAINT, key_fault(taint.key), at / "key")
        yield from _hit(INVALID_TAINT, value_fault(taint.value or ""), at / "value")
        if (taint.key, taint.effect) in seen:
            yield Hit(
                INVALID_TAINT,
                f"taint {quoted(taint.key)} with effect {taint.effect} is set twice; remove one of the two",
                at / "key",
            )
        seen.add((taint.key, taint.effect))
    for index, toleration in enumerate(pool.tolerations or ()):
        yield from _toleration(toleration, spec / "tolerations" / index)
    levels = pool.topology_levels
    for index, level in enumerate(levels):
        at = spec / "topology" / "levels" / index
        yield from _hit(INVALID_TOPOLOGY, key_fault(level), at)
        if len(level) > 63:
            yield Hit(
                INVALID_TOPOLOGY,
                f"topology level {quoted(level)} has {len(level)} characters, but Kueue supports "
                "at most 63; write a shorter label key",
                at,
            )
        if level in levels[:index]:
            yield Hit(
                INVALID_TOPOLOGY,
                f"topology level {quoted(level)} is listed twice; remove one of the two",
                at,
            )
        elif level == HOSTNAME and index + 1 < len(levels):
            yield Hit(
                INVALID_TOPOLOGY,
                f"topology level {HOSTNAME} must be the last level; move this level to the end",
                at,
            )


def _toleration(toleration: Toleration, at: At) -> Iterator[Hit]:
    if toleration.key is not None:
        yield from _hit(INVALID_TOLERATION, key_fault(toleration.key), at / "key")
    elif toleration.operator != "Exists":
        yield Hit(
            INVALID_TOLERATION,
            "a toleration without a key tolerates every taint, so it needs operator: Exists; "
            "write operator: Exists, or the key of the taint",
            at,
        )
    if toleration.operator != "Exists":
        yield from _hit(INVALID_TOLERATION, value_fault(toleration.value or ""), at / "value")
    elif toleration.value is not None:  # Kueue refuses an empty one too
        yield Hit(
            INVALID_TOLERATION,
            "operator: Exists allows no value; remove the value, or write operator: Equal",
            at / "value",
        )
    if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
        yield Hit(
            INVALID_TOLERATION,
            "tolerationSeconds needs effect: NoExecute; write this effect, or remove tolerationSeconds",
            at / "tolerationSeconds",
        )


def _hit(rule: Rule, fault: str | None, at: At) -> Iterator[Hit]:
    if fault:
        yield Hit(rule, fault, at)
