"""The grammar of label keys and values.

Source: k8s.io/apimachinery `pkg/util/validation`.
"""

import re
from functools import lru_cache

from policygen.core.quoting import quoted

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
