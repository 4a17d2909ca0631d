"""Fast path for YAML: the data of documents without positions, if nothing in them needs the full parse.

It saves a sixth of the processor time of linting 10,000 mixed manifests (`benchmarks/lint_mixed.py`),
because positions are computed only for documents that have findings.
"""

from collections.abc import Callable
from typing import Any

import yaml

from policygen.documents.parsed import MAX_DEPTH, UNUSUAL
from policygen.documents.scalars import AmbiguousScalar, Plains


def read(  # noqa: C901, PLR0912 - function calls would double the time
    next_event: Callable[[], Any], seen: list[Any], plains: Plains
) -> Any:
    """The data of the next document, or UNUSUAL if it needs the full parse.

    Unusual are anchors, aliases, tags, keys that are not strings or are duplicates, scalars that
    are refused, and nesting beyond MAX_DEPTH. A Builder then reads the events in `seen`, which
    were read here, and the others.
    """
    # This loop runs for each event of each document; local names are faster.
    scalar_event, end_event = yaml.ScalarEvent, yaml.DocumentEndEvent
    mapping_event, sequence_event = yaml.MappingStartEvent, yaml.SequenceStartEvent
    alias_event = yaml.AliasEvent
    note = seen.append
    stack: list[Any] = []
    container: Any = []
    key: str | None = None
    while True:
        event = next_event()
        note(event)
        kind = event.__class__
        if kind is scalar_event:
            value = event.value
            if not event.style:
                value = plains[value]
                if value.__class__ is AmbiguousScalar:
                    return UNUSUAL
            if event.tag is not None or event.anchor is not None:
                return UNUSUAL
        elif kind is mapping_event or kind is sequence_event:
            if event.anchor is not None or event.tag is not None or len(stack) >= MAX_DEPTH:
                return UNUSUAL
            value = {} if kind is mapping_event else []
        elif kind is end_event:
            return container[0]
        elif kind is alias_event:
            return UNUSUAL
        else:
            container = stack.pop()
            continue
        if container.__class__ is list:
            container.append(value)
        elif key is not None:
            container[key] = value
            key = None
        elif value.__class__ is str and value not in container:
            key = value
            continue
        else:
            return UNUSUAL
        if kind is not scalar_event:
            stack.append(container)
            container = value
