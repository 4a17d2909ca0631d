"""Parts that Helm, kustomize and similar tools replace before they apply an object."""

import re
from collections.abc import Iterator
from typing import Any

from policygen.core.finding import Fault, Path
from policygen.core.quoting import quoted
from policygen.kubernetes.object import Object

_BLANK = re.compile(r"\{\{.*?\}\}|\$\{[A-Za-z_]\w*(?::?-[^}\n]*)?\}|\A\$\(?[A-Z][A-Z0-9_]+\)?\Z")
"""A placeholder of Helm, of envsubst, or of variables of kustomize."""
_PROGRAMS = frozenset({"command", "args", "env", "annotations"})
"""Fields whose texts programs read, which may have such placeholders themselves."""
_DIRECTIVES = ("$patch", "$retainKeys", "$setElementOrder", "$deleteFromPrimitiveList")
_INCOMPLETE = "so this is not a complete object; patch the object that it changes"
_RENDER = "render the template, for example with `helm template`, and patch its output"


def faults(object_: Object) -> Iterator[Fault]:
    """The placeholders and patch directives in an object."""
    yield from _faults(object_.data, ())


def _faults(data: Any, path: Path) -> Iterator[Fault]:
    if isinstance(data, dict):
        for key, value in data.items():
            if key.startswith(_DIRECTIVES):
                yield (*path, key), f"{key} is a directive of kustomize, {_INCOMPLETE}"
            elif key not in _PROGRAMS:
                yield from _faults(value, (*path, key))
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from _faults(value, (*path, number))
    elif isinstance(data, str) and (found := _BLANK.search(data)) is not None:
        yield path, f"{quoted(found[0])} is a placeholder of a template; {_RENDER}"
