"""The grammar of names, of label keys and values, and of keys of ConfigMaps.

Source: k8s.io/apimachinery `pkg/util/validation`.
"""

import re
from functools import lru_cache

from policygen.core.quoting import quoted

_CACHED = 1 << 16
"""The number of cached texts. Several rules check all labels in turn."""

DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = rf"{DNS_LABEL}(\.{DNS_LABEL})*"
"""DNS labels joined by dots. Both are patterns without their bounds of length, 63 and 253."""
ENDS = "beginning and ending with a letter or digit"
"""The end of the advice for a name."""

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_PREFIX = re.compile(SUBDOMAIN)
_CONFIG_KEY = re.compile(r"[-._a-zA-Z0-9]+")
_LONGEST_CONFIG_KEY = 253
_WRITE = f'write at most 63 letters, digits, "-", "_" and ".", {ENDS}'


@lru_cache(_CACHED)
def key_fault(key: str) -> str | None:
    """The fault of a label key and its remedy; None for a valid key."""
    prefix, slash, name = key.rpartition("/")
    if slash and (len(prefix) > 253 or not _PREFIX.fullmatch(prefix)):
        return f'{quoted(key)} is not a valid label key; write a lower-case domain before the "/"'
    if not _NAME.fullmatch(name):
        return f"{quoted(key)} is not a valid label key; {_WRITE}"
    return None


@lru_cache(_CACHED)
def value_fault(value: str) -> str | None:
    """The fault of a label value and its remedy; None for a valid value."""
    if value and not _NAME.fullmatch(value):
        return f"{quoted(value)} is not a valid label value; {_WRITE}"
    return None


def config_key_fault(key: str) -> str | None:
    """The fault of a key of a ConfigMap or Secret and its remedy; None for a valid key."""
    if not _CONFIG_KEY.fullmatch(key):
        return f'{quoted(key)} is not a valid key; write letters, digits, "-", "_" and "."'
    if len(key) > _LONGEST_CONFIG_KEY:
        return f"the key has {len(key)} characters; write at most {_LONGEST_CONFIG_KEY}"
    if key == "." or key.startswith(".."):
        return f'{quoted(key)} is not a valid key, because it is "." or begins with ".."; write another key'
    return None
