"""Finds the placeholders of templates in manifests, as Helm and envsubst use them."""

import re
from typing import Final

from policygen.core.finding import Finding
from policygen.documents.files import Source
from policygen.documents.positions import Lines
from policygen.documents.rules import YAML_SYNTAX

MESSAGE: Final = "this looks like a template; render the template, and use the output as input"

_BLANK = re.compile(r"\{\{[^\n]*\}\}|\$\{[A-Za-z_]\w*(?::?-[^}\n]*)?\}|\A\$[A-Z][A-Z0-9_]+\Z")
_OF_HELM = re.compile(
    r"\{\{[^}\n]*(?:\.(?:Values|Release|Chart|Capabilities)\b|\binclude\s+\")[^}\n]*\}\}"
)


def is_blank(value: object) -> bool:
    """Whether a value is one line of text with a placeholder."""
    return isinstance(value, str) and "\n" not in value and _BLANK.search(value) is not None


def of_helm(source: Source) -> Finding | None:
    """The only message about a Helm template that is not valid YAML by itself."""
    match = _OF_HELM.search(source.text)
    if match is None:
        return None
    place = Lines(source.name, source.text).place(*match.span())
    message = "this is a template of a Helm chart; use the output of `helm template`"
    return Finding(YAML_SYNTAX, message, place)
