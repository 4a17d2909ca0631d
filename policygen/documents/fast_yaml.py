"""Fast path for YAML that `yaml_lines` does not read: the data of documents without positions.

If such a document has a finding, a second pass makes its outline. So positions are computed only for
documents that have findings, and no document needs the full parse without an unusual part.
"""

from collections.abc import Callable
from typing import Any

import yaml

from policygen.documents.outline import NodeKind, Outline
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


def outline(next_event: Callable[[], Any], offset: int) -> Outline:
    """The outline of a document whose data `read` has returned; `next_event` begins inside it.

    `offset` is where the parser's text begins in ours.
    """
    made = Outline()
    start, end, after, shape, key = made.start, made.end, made.after, made.shape, made.key
    scalar, mapping, sequence = map(int, (NodeKind.SCALAR, NodeKind.MAPPING, NodeKind.SEQUENCE))
    scalar_event, end_event = yaml.ScalarEvent, yaml.DocumentEndEvent
    mapping_event, sequence_event = yaml.MappingStartEvent, yaml.SequenceStartEvent
    stack: list[tuple[int, bool]] = []
    in_mapping = at_key = False
    while (event := next_event()).__class__ is not end_event:
        kind = event.__class__
        if kind is not scalar_event and kind is not mapping_event and kind is not sequence_event:
            node, in_mapping = stack.pop()
            end[node], after[node] = offset + event.end_mark.index, len(shape)
            at_key = in_mapping
            continue
        node = len(shape)
        start.append(offset + event.start_mark.index)
        end.append(offset + event.end_mark.index)
        after.append(node + 1)
        if kind is scalar_event:
            shape.append(scalar)
            if at_key:
                key[node] = event.value
            at_key = in_mapping and not at_key
        else:
            shape.append(mapping if kind is mapping_event else sequence)
            stack.append((node, in_mapping))
            in_mapping = at_key = kind is mapping_event
    return made
