"""Messages about a name that Kubernetes refuses.

Source of the grammars: k8s.io/apimachinery `pkg/util/validation` (RFC 1123 label, subdomain).
"""

import re

from policygen.core.quoting import quoted

MAX_LABEL = 63

_LABEL_CHAR = re.compile(r"[-a-z0-9]")
_SUBDOMAIN_CHAR = re.compile(r"[-a-z0-9.]")


def label_fault(text: str) -> str:
    """Why a text is not a DNS label, and a name that is one."""
    allowed = 'lower-case letters, digits and "-"'
    fault = _bad_character(text, _LABEL_CHAR, allowed) or (
        "the label must begin and end with a letter or digit"
    )
    return f"{quoted(text)} is not a valid DNS label: {fault}{_such_as(text, _corrected(text))}"


def subdomain_fault(text: str) -> str:
    """Why a text is not a DNS subdomain (labels joined by dots), and a name that is one."""
    allowed = 'lower-case letters, digits, "-" and "."'
    fault = _bad_character(text, _SUBDOMAIN_CHAR, allowed) or (
        "each part between dots must begin and end with a letter or digit"
    )
    corrected = ".".join(filter(None, map(_corrected, text.split("."))))
    return f"{quoted(text)} is not a valid DNS name: {fault}{_such_as(text, corrected)}"


def _bad_character(text: str, good: re.Pattern[str], allowed: str) -> str | None:
    for number, char in enumerate(text, start=1):
        if not good.fullmatch(char):
            return f"character {quoted(char)} at position {number} is not allowed; write {allowed}"
    return None


def _corrected(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _such_as(text: str, name: str) -> str:
    """A suggested name; empty if the text is too unusual to guess what was meant."""
    plain = text.isascii() and text.isprintable()
    return f', such as "{name}"' if plain and 0 < len(name) <= MAX_LABEL else ""
