"""Parts that Helm, kustomize and similar tools replace before they apply an object."""

import re
from collections.abc import Iterator
from typing import Any

from policygen.core.finding import Path
from policygen.core.quoting import quoted
from policygen.kubernetes.object import Object
from policygen.patch.draft import Contradiction

_BLANK = re.compile(r"\{\{.*?\}\}|\$\{[A-Za-z_]\w*(?::?-[^}\n]*)?\}|\A\$\(?[A-Z][A-Z0-9_]+\)?\Z")
"""A placeholder of Helm, of envsubst, or of variables of kustomize."""
_PROGRAMS = frozenset({"command", "args", "env", "annotations"})
"""Fields whose texts programs read, which may have such placeholders themselves."""
_DIRECTIVES = ("$patch", "$retainKeys", "$setElementOrder", "$deleteFromPrimitiveList")
_INCOMPLETE = "so this is not a complete object"
_HELM = "render the template, for example with `helm template`, and patch its output"
_VARIABLES = "replace the variables, for example with `envsubst`, and patch the output"


def faults(object_: Object) -> Iterator[Contradiction]:
    """The placeholders and patch directives in an object."""
    yield from _faults(object_.data, ())


def _faults(data: Any, path: Path) -> Iterator[Contradiction]:
    if isinstance(data, dict):
        for key, value in data.items():
            if key.startswith(_DIRECTIVES):
                why = f"{key} is a directive of kustomize, {_INCOMPLETE}"
                yield Contradiction((*path, key), why, "patch the object that it changes")
            elif key not in _PROGRAMS:
                yield from _faults(value, (*path, key))
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from _faults(value, (*path, number))
    elif isinstance(data, str) and (found := _BLANK.search(data)) is not None:
        why = f"{quoted(found[0])} is a placeholder of a template"
        yield Contradiction(path, why, _HELM if found[0].startswith("{{") else _VARIABLES)
