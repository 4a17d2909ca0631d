"""The words of an error about a name that Kubernetes refuses.

Source of the grammars: k8s.io/apimachinery `pkg/util/validation` (RFC 1123 label, subdomain).
"""

import re

from policygen.core.quoting import quoted

MAX_LABEL = 63

_LABEL_CHAR = re.compile(r"[-a-z0-9]")
_SUBDOMAIN_CHAR = re.compile(r"[-a-z0-9.]")


def label_fault(text: str) -> str:
    """Say why a text is no DNS label, and what would be one."""
    allowed = 'lower-case letters, digits and "-"'
    fault = _bad_character(text, _LABEL_CHAR, allowed) or (
        "it must begin and end with a letter or digit"
    )
    return f"{quoted(text)} is no DNS label: {fault}{_such_as(text, _mended(text))}"


def subdomain_fault(text: str) -> str:
    """Say why a text is no DNS subdomain (labels joined by dots), and what would be one."""
    allowed = 'lower-case letters, digits, "-" and "."'
    fault = _bad_character(text, _SUBDOMAIN_CHAR, allowed) or (
        "each part between dots must begin and end with a letter or digit"
    )
    mended = ".".join(filter(None, map(_mended, text.split("."))))
    return f"{quoted(text)} is no DNS name: {fault}{_such_as(text, mended)}"


def _bad_character(text: str, good: re.Pattern[str], allowed: str) -> str | None:
    for number, char in enumerate(text, start=1):
        if not good.fullmatch(char):
            return f"character {number}, {quoted(char)}, is not allowed; write {allowed}"
    return None


def _mended(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _such_as(text: str, name: str) -> str:
    """Offer the mended name, unless the text is too odd to guess what was meant."""
    plain = text.isascii() and text.isprintable()
    return f', such as "{name}"' if plain and 0 < len(name) <= MAX_LABEL else ""
