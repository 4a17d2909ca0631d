"""The controllers that run on a cluster: their versions, and the ConfigMaps that they mount.

Source: the release manifests and charts of Kueue 0.19 and Volcano 1.14 (labels, names of images
and ConfigMaps).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from policygen.core.finding import At
from policygen.core.names import KUEUE_CONFIG_MAP, VOLCANO_CONFIG_MAP
from policygen.core.versions import Version
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mapping, mappings, texts

KUBERNETES, KUEUE, VOLCANO, SCHEDULER = "kubernetes", "kueue", "volcano", "kube-scheduler"
VERSION_LABEL = "app.kubernetes.io/version"

CONFIG_MAPS = (KUEUE_CONFIG_MAP, VOLCANO_CONFIG_MAP)
"""The ConfigMaps with the controllers' files, unless a chart sets other names."""

_IMAGES = {
    "kueue": KUEUE,
    "vc-scheduler": VOLCANO,
    "vc-controller-manager": VOLCANO,
    "vc-webhook-manager": VOLCANO,
    "kube-scheduler": SCHEDULER,
}
"""Components by the last part of the image name, which mirrors do not change."""
COMMAND_LINE = ("command", "args")
"""Keys of a container."""
FLAG = "--feature-gates"
_FLAGS = (FLAG, FLAG.removeprefix("-"))
_TRUE = ("1", "t", "T", "true", "TRUE", "True")
_FALSE = ("0", "f", "F", "false", "FALSE", "False")
_VERSION = re.compile(r"v?(\d{1,3})\.(\d{1,3})(?:\.(\d{1,4}))?(?![\d.])")


class Controller(Struct, frozen=True, eq=False):
    """A Deployment that runs a controller."""

    component: str
    object: Object
    version: Version | None
    """None: neither a label nor the image's tag has it."""
    config_maps: tuple[str, ...]
    """The ConfigMaps that it mounts, in its namespace."""
    gates: Mapping[str, bool]
    """The feature gates that its command line sets."""
    gates_at: At | None
    """The part of its command line with the gates; None: it sets no gates."""


def controllers(objects: Iterable[Object]) -> Iterator[Controller]:
    """The controllers among the objects."""
    for object_ in objects:
        if (object_.group, object_.kind) != ("apps", "Deployment"):
            continue
        spec = mapping(object_.data, "spec", "template", "spec")
        for index, container in enumerate(mappings(spec, "containers")):
            runs = component(container.get("image"))
            if runs is None:
                continue
            _, tag = _image(container.get("image"))
            labels = object_.labels
            settings = [
                (key, found) for key in COMMAND_LINE if (found := gates(texts(container, key)))
            ]
            place = object_.at.to("spec", "template", "spec", "containers", index)
            yield Controller(
                runs,
                object_,
                version(labels.get(VERSION_LABEL, "")) or version(tag),
                tuple(_mounted(spec)),
                {gate: is_on for _, found in settings for gate, is_on in found.items()},
                place / settings[0][0] if settings else None,
            )
            break


def gates(words: Sequence[str]) -> dict[str, bool]:
    """The feature gates that a part of a command line sets: `--feature-gates=A=true,B=false`.

    Invalid ones are skipped. Source: k8s.io/component-base/featuregate.
    """
    switches = {}
    for word, after in zip(words, (*words[1:], ""), strict=False):
        flag, equals, value = word.partition("=")
        if flag not in _FLAGS:
            continue
        for part in (value if equals else after).split(","):
            gate, _, state = part.strip().partition("=")
            if gate and state in (*_TRUE, *_FALSE):
                switches[gate] = state in _TRUE
    return switches


def component(image: Any) -> str | None:
    """The component that an image runs; None if the image is not a known controller."""
    return _IMAGES.get(_image(image)[0])


def detected(server: str, objects: Iterable[Object]) -> dict[str, Version]:
    """The detected versions, by component of a target.

    `server` is the version of the API server. Of several controllers of a component, the oldest
    version counts.
    """
    found: dict[str, Version] = {}
    if (own := version(server)) is not None:
        found[KUBERNETES] = own
    for controller in controllers(objects):
        if controller.version is not None and controller.component != SCHEDULER:
            known = found.get(controller.component, controller.version)
            found[controller.component] = min(known, controller.version, key=_ordered)
    return found


def _ordered(version: Version) -> tuple[int, int, int]:
    return (version.major, version.minor, version.patch or 0)


def version(text: str) -> Version | None:
    """The version in a label, a tag or the answer of a server; None for other text, such as `latest`."""
    match = _VERSION.match(text)
    if not match:
        return None
    major, minor, patch = match.groups()
    return Version(int(major), int(minor), None if patch is None else int(patch))


def _image(image: Any) -> tuple[str, str]:
    """The name and tag of an image: `kueue` and `v0.19.2` of `registry/kueue:v0.19.2@sha256:...`."""
    if not isinstance(image, str):
        return "", ""
    name, _, tag = image.partition("@")[0].rpartition("/")[2].partition(":")
    return name, tag


def _mounted(spec: Mapping[str, Any]) -> Iterator[str]:
    for volume in mappings(spec, "volumes"):
        name = mapping(volume, "configMap").get("name")
        if isinstance(name, str):
            yield name
