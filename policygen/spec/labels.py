"""Kubernetes' grammar of label keys and values, taints and tolerations.

Source: k8s.io/apimachinery `pkg/util/validation` and the CRD of Kueue's ResourceFlavor
(`config/components/crd/bases/kueue.x-k8s.io_resourceflavors.yaml`).
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from policygen.finding import At, Hit
from policygen.spec.echo import quoted
from policygen.spec.types import Pool, Toleration
from policygen.well_known import HOSTNAME

_KNOWN = 1 << 16
"""Texts that are remembered. Several rules ask for all labels in turn: what does not fit is judged
each time."""

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_PREFIX = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


@lru_cache(_KNOWN)
def key_fault(key: str) -> str | None:
    """What is wrong with a label key; None when nothing is."""
    prefix, slash, name = key.rpartition("/")
    if slash and (len(prefix) > 253 or not _PREFIX.fullmatch(prefix)):
        return f'{quoted(key)} is no label key: write a lower-case domain before the "/"'
    if not _NAME.fullmatch(name):
        return (
            f'{quoted(key)} is no label key: write letters, digits, "-", "_" and ".", at most 63, '
            "beginning and ending with a letter or digit"
        )
    return None


@lru_cache(_KNOWN)
def value_fault(value: str) -> str | None:
    """What is wrong with a label value; None when nothing is."""
    if value and not _NAME.fullmatch(value):
        return (
            f'{quoted(value)} is no label value: write letters, digits, "-", "_" and ".", at most 63, '
            "beginning and ending with a letter or digit"
        )
    return None


def check(pool: Pool) -> Iterator[Hit]:
    """Faults of a pool's nodeSelector, taints, tolerations and topology levels."""
    spec = pool.at / "spec"
    for key, value in pool.node_selector:
        yield from _hit("bad-label", key_fault(key), (spec / "nodeSelector" / key).on_key())
        yield from _hit("bad-label", value_fault(value), spec / "nodeSelector" / key)
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(pool.taints):
        at = spec / "taints" / index
        yield from _hit("bad-taint", key_fault(taint.key), at / "key")
        yield from _hit("bad-taint", value_fault(taint.value or ""), at / "value")
        if (taint.key, taint.effect) in seen:
            yield Hit(
                "bad-taint",
                f"a node has one taint of key {quoted(taint.key)} and effect {taint.effect}; "
                "remove one",
                at / "key",
            )
        seen.add((taint.key, taint.effect))
    for index, toleration in enumerate(pool.tolerations or ()):
        yield from _toleration(toleration, spec / "tolerations" / index)
    levels = pool.topology_levels
    for index, level in enumerate(levels):
        at = spec / "topology" / "levels" / index
        yield from _hit("bad-topology", key_fault(level), at)
        if len(level) > 63:
            yield Hit(
                "bad-topology",
                f"{quoted(level)} has {len(level)} characters, and a Workload can ask for at most "
                "63; write a shorter label key",
                at,
            )
        if level in levels[:index]:
            yield Hit("bad-topology", f"{quoted(level)} stands here twice; remove one", at)
        elif level == HOSTNAME and index + 1 < len(levels):
            yield Hit(
                "bad-topology",
                f"{HOSTNAME} can only be the last level; move it to the end",
                at,
            )


def _toleration(toleration: Toleration, at: At) -> Iterator[Hit]:
    if toleration.key is not None:
        yield from _hit("bad-toleration", key_fault(toleration.key), at / "key")
    elif toleration.operator != "Exists":
        yield Hit(
            "bad-toleration",
            "a toleration without key tolerates everything, which needs operator: Exists; "
            "write that, or the key of the taint",
            at,
        )
    if toleration.operator != "Exists":
        yield from _hit("bad-toleration", value_fault(toleration.value or ""), at / "value")
    elif toleration.value is not None:  # Kueue refuses an empty one too
        yield Hit(
            "bad-toleration",
            "operator Exists takes no value; remove the value or write operator: Equal",
            at / "value",
        )
    if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
        yield Hit(
            "bad-toleration",
            "tolerationSeconds counts only with effect: NoExecute; write that, or remove it",
            at / "tolerationSeconds",
        )


def _hit(rule: str, fault: str | None, at: At) -> Iterator[Hit]:
    if fault:
        yield Hit(rule, fault, at)
