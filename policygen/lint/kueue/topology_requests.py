"""The topology annotations of pod templates that Kueue's webhooks refuse.

Source: pkg/controller/jobframework/tas_validation.go of Kueue 0.19.2.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from policygen.core import go_values
from policygen.core.label_grammar import key_fault
from policygen.core.quoting import counted, quoted
from policygen.kubernetes.kueue_settings import Settings
from policygen.lint.kueue.topologies import LEVELS, PREFIX, UNCONSTRAINED

REQUIRED, PREFERRED, SLICE_REQUIRED = LEVELS
SLICE_SIZE = f"{PREFIX}slice-size"
GROUP = f"{PREFIX}group-name"
LAYERS = f"{PREFIX}slice-required-topology-constraints"
KEYS = (*LEVELS, UNCONSTRAINED, SLICE_SIZE, GROUP, LAYERS)
"""Every annotation that requests a topology."""
_MOST_LAYERS = 3

AnnotationFault = tuple[str, str]
"""The key of an annotation, and a message about its value."""


def faults(
    annotations: Mapping[str, str], count: int | None, settings: Settings
) -> Iterator[AnnotationFault]:
    """Every fault that Kueue would refuse, each once. `count` is the number of pods, if known."""
    if annotations.keys().isdisjoint(KEYS):
        return
    modes = [key for key in (REQUIRED, PREFERRED, UNCONSTRAINED) if key in annotations]
    if len(modes) > 1:
        yield modes[1], f"{modes[0]} and {modes[1]} exclude each other; remove one of them"
    for key in LEVELS:
        level = annotations.get(key)
        if level is not None and (fault := key_fault(level)):
            yield key, f"{key}: {fault}"
    unconstrained = annotations.get(UNCONSTRAINED)
    if unconstrained is not None and go_values.boolean(unconstrained) is None:
        yield UNCONSTRAINED, f'{UNCONSTRAINED} is {quoted(unconstrained)}; write "true"'
    yield from _group(annotations)
    yield from _slices(annotations, count)
    if LAYERS in annotations:
        yield from ((LAYERS, message) for message in _layers(annotations, count, settings))


def _group(annotations: Mapping[str, str]) -> Iterator[AnnotationFault]:
    name = annotations.get(GROUP)
    if name is None:
        return
    if name.isascii() and name.isdigit():
        yield GROUP, f"{GROUP} is {quoted(name)}, but must not be a number; write another name"
    beside = next((key for key in (SLICE_SIZE, SLICE_REQUIRED, LAYERS) if key in annotations), None)
    if beside:
        yield GROUP, f"{GROUP} and {beside} exclude each other; remove one of them"
    if REQUIRED not in annotations and PREFERRED not in annotations:
        yield (
            GROUP,
            f"{GROUP} requires {REQUIRED} or {PREFERRED}; add one of the two, or remove {GROUP}",
        )


def _slices(annotations: Mapping[str, str], count: int | None) -> Iterator[AnnotationFault]:
    text = annotations.get(SLICE_SIZE)
    if text is None:
        if SLICE_REQUIRED in annotations:
            yield (
                SLICE_REQUIRED,
                f"{SLICE_REQUIRED} requires {SLICE_SIZE}; add {SLICE_SIZE} with the number of pods in a slice",
            )
        return
    size = go_values.integer(text)
    if size is None or not 0 < size < 2**31:
        yield SLICE_SIZE, f"{SLICE_SIZE} is {quoted(text)}; write an integer, 1 or more"
    elif count is not None and size > count:
        yield (
            SLICE_SIZE,
            f"{SLICE_SIZE} is {text}, but the template creates {counted(count, 'pod')}; write at most {count}",
        )
    if SLICE_REQUIRED not in annotations and LAYERS not in annotations:
        yield (
            SLICE_SIZE,
            f"{SLICE_SIZE} requires {SLICE_REQUIRED}; add {SLICE_REQUIRED}, or remove {SLICE_SIZE}",
        )


def _layers(annotations: Mapping[str, str], count: int | None, settings: Settings) -> Iterator[str]:
    if not settings.gate("TASMultiLayerTopology"):
        yield (
            f"{LAYERS} requires feature gate TASMultiLayerTopology; enable the gate, or remove the "
            "annotation"
        )
        return
    beside = next((key for key in (SLICE_REQUIRED, SLICE_SIZE) if key in annotations), None)
    if beside:
        yield f"{LAYERS} and {beside} exclude each other; remove one of them"
    layers = _read(annotations[LAYERS])
    if layers is None:
        example = '[{"topology": "example.com/rack", "size": 4}]'
        yield f"{LAYERS} is not a list of layers; write JSON such as {example}"
    elif not 1 <= len(layers) <= _MOST_LAYERS:
        yield f"{LAYERS} has {counted(len(layers), 'layer')}; write 1 to {_MOST_LAYERS} layers"
    else:
        yield from _of_layers(layers, count)


def _of_layers(layers: list[tuple[str, int]], count: int | None) -> Iterator[str]:
    seen: set[str] = set()
    for level, size in layers:
        if fault := key_fault(level):
            yield f"{LAYERS}: {fault}"
        elif level in seen:
            yield f"{LAYERS} lists level {quoted(level)} twice; remove one of the two layers"
        seen.add(level)
        if size < 1:
            yield f"{LAYERS} has a layer of size {size}; write a size of 1 or more"
    sizes = [size for _, size in layers]
    for above, below in pairwise(sizes):
        if below > 0 and above % below:
            yield (
                f"{LAYERS} has a layer of size {above}, which is not a multiple of the size "
                f"{below} of the next layer; change one of the two sizes"
            )
    if count is not None and sizes[0] > count:
        yield (
            f"{LAYERS} has a layer of size {sizes[0]}, but the template creates {counted(count, 'pod')}; write at "
            f"most {count}"
        )


def _read(text: str) -> list[tuple[str, int]] | None:
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list):
        return None
    layers = []
    for layer in found:
        if not isinstance(layer, dict):
            return None
        folded = {key.lower(): value for key, value in layer.items()}  # as Go matches fields
        level, size = folded.get("topology", ""), folded.get("size", 0)
        if not isinstance(level, str) or not isinstance(size, int) or isinstance(size, bool):
            return None
        layers.append((level, size))
    return layers
