"""Volumes of a pod that API servers refuse, and the ways in which containers use them.

Source: pkg/apis/core/validation/validation.go of Kubernetes 1.36.3, ValidateVolumes,
validateVolumeSource, ValidateVolumeMounts and ValidateVolumeDevices.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from policygen.core.finding import FaultAt
from policygen.core.quoting import listed, quoted
from policygen.kubernetes.untyped import keyed_texts, mappings
from policygen.lint.core import claim_templates, pod_variables, volume_drivers
from policygen.lint.core.pod_templates import Part, PodPart, named

FIELDS = ("volumes", "volumeMounts", "volumeDevices")
_ONLY_MEMBERS = ("fieldRef", "resourceFieldRef")
_PROJECTED = ("clusterTrustBundle", "configMap", "downwardAPI", "podCertificate", "secret", "serviceAccountToken")  # fmt: skip
_RECURSIVE = ("Disabled", "Enabled", "IfPossible")
_MOST_MODE = 0o777
_USUAL = ("name", "mountPath")
"""The fields that each mount has."""
_ON_DISKS = ("ephemeral", "persistentVolumeClaim")
"""Volumes that a container can use as devices."""


def of_pod(spec: PodPart) -> Iterator[FaultAt]:
    """Refused volumes, mounts and devices."""
    if "volumes" in spec.data:
        yield from _volumes(spec)
    for container in spec.containers:
        if "volumeMounts" in container.data:
            yield from _mounts(container)
        if "volumeDevices" in container.data:
            yield from _devices(spec, container)


def _volumes(spec: PodPart) -> Iterator[FaultAt]:
    seen = set()
    for volume in spec.items("volumes"):
        name = volume.data.get("name")
        if not isinstance(name, str):
            continue
        if name in seen:
            yield (
                volume.at / "name",
                f"{spec.owner} has two volumes named {quoted(name)}, which is refused; rename one of them",
            )
        seen.add(name)
        if not _CHECKED.isdisjoint(volume.data):
            yield from _sources(volume, f"{spec.owner} has volume {name}")


def _sources(volume: Part, which: str) -> Iterator[FaultAt]:
    for source, key in (("secret", "secretName"), ("configMap", "name")):
        named_part = volume.data.get(source)
        if isinstance(named_part, dict) and named_part.get(key) is None:
            yield (
                volume.at / source,
                f"{which} with {source} without {key}, which is refused; write {source}.{key}",
            )
        if isinstance(named_part, dict) and "items" in named_part:
            yield from _reserved_paths(volume.under(source), which)
    image = volume.data.get("image")
    if volume.owner.kind == "Pod" and isinstance(image, dict) and image.get("reference") is None:
        yield (
            volume.at / "image",
            f"{which} with image without reference, which is refused; write image.reference",
        )
    for kind, source in volume.data.items():
        if isinstance(source, dict) and (check := _OF_SOURCES.get(kind)):
            yield from check(volume.under(kind), which)


def _projected(projected: Part, which: str) -> Iterator[FaultAt]:
    paths: set[str] = set()
    for source in projected.items("sources"):
        used = [it for it in _PROJECTED if source.data.get(it) is not None]
        if len(used) > 1:
            yield (
                source.at,
                f"{which} with one source of {listed(used, 'and')}, which is refused; write one source for each",
            )
        for kind in used:
            part = source.under(kind)
            yield from _reserved_paths(part, which)
            if kind == "downwardAPI":
                yield from _downward(part, which)
            own = (part,) if kind == "clusterTrustBundle" else ()
            for item in (*part.items("items"), *own):
                path = item.data.get("path")
                if not isinstance(path, str) or not path:
                    continue
                if path in paths:
                    yield (
                        item.at / "path",
                        f"{which} with two files at {quoted(path)}, which is refused; write another path",
                    )
                paths.add(path)


def _downward(files: Part, which: str) -> Iterator[FaultAt]:
    yield from _reserved_paths(files, which)
    for item in files.items("items"):
        yield from _downward_file(item, which)
        used = [it for it in _ONLY_MEMBERS if item.data.get(it) is not None]
        if len(used) != 1:
            yield (
                item.at,
                f"{which} with a file {pod_variables.count(used)}, which is refused; write {listed(list(_ONLY_MEMBERS))}",
            )
        if "fieldRef" in used:
            yield from pod_variables.field_faults(
                item.under("fieldRef"), pod_variables.IN_FILES, which
            )
        elif "resourceFieldRef" in used:
            ref = item.under("resourceFieldRef")
            if not ref.data.get("containerName"):
                yield (
                    ref.at,
                    f"{which} with a resourceFieldRef without containerName, which is refused; write the name of a container",
                )
            else:
                yield from pod_variables.resource_faults(ref, which)


def _downward_file(item: Part, which: str) -> Iterator[FaultAt]:
    """The path and mode of a file, about which the API server names no entry, so `workload_code` has no facts."""
    path, mode = item.data.get("path"), item.data.get("mode")
    if isinstance(path, str) and (not path or path.startswith("/") or ".." in path.split("/")):
        yield (
            item.at / "path",
            f'{which} with path {quoted(path)}, which is refused; write a path that does not begin with "/" and does not contain ".."',
        )
    if isinstance(mode, int) and not isinstance(mode, bool) and not 0 <= mode <= _MOST_MODE:
        yield (
            item.at / "mode",
            f"{which} with mode {mode}, which is refused; write 0 to {_MOST_MODE}",
        )


def _reserved_paths(files: Part, which: str) -> Iterator[FaultAt]:
    for item in files.items("items"):
        path = item.data.get("path")
        if isinstance(path, str) and path.startswith("..") and ".." not in path.split("/"):
            yield (
                item.at / "path",
                f'{which} with path {quoted(path)}, which is refused; write a path that does not begin with ".."',
            )


def _mounts(container: Part) -> Iterator[FaultAt]:
    devices = [it.data for it in container.items("volumeDevices")]
    names, paths = (
        {it[key] for it in devices if isinstance(it.get(key), str)}
        for key in ("name", "devicePath")
    )
    for mount in container.items("volumeMounts"):
        if len(mount.data) > len(_USUAL):
            yield from _paths_below(container, mount)
            yield from _propagation(container, mount)
        for field, used in (("name", names), ("mountPath", paths)):
            value = mount.data.get(field)
            if isinstance(value, str) and value in used:
                yield (
                    mount.at / field,
                    f"{named(container)} has {field} {quoted(value)} in volumeMounts and in volumeDevices, which is refused; remove one of them",
                )


def _paths_below(container: Part, mount: Part) -> Iterator[FaultAt]:
    for field in ("subPath", "subPathExpr"):
        path = mount.data.get(field)
        if isinstance(path, str) and (path.startswith("/") or ".." in path.split("/")):
            yield (
                mount.at / field,
                f'{named(container)} has {field} {quoted(path)}, which is refused; write a path that does not begin with "/" and does not contain ".."',
            )
    if mount.data.get("subPath") and mount.data.get("subPathExpr"):
        yield (
            mount.at / "subPathExpr",
            f"{named(container)} has a mount with subPath and subPathExpr, which is refused; keep one of them",
        )


def _propagation(container: Part, mount: Part) -> Iterator[FaultAt]:
    spread = mount.data.get("mountPropagation")
    privileged = container.under("securityContext").data.get("privileged")
    if spread == "":
        yield (
            mount.at / "mountPropagation",
            f"{named(container)} has an empty mountPropagation, which is refused; remove mountPropagation",
        )
    if spread == "Bidirectional" and privileged is not True:
        yield (
            mount.at / "mountPropagation",
            f"{named(container)} has mountPropagation Bidirectional without privileged: true, which is refused; write HostToContainer or None",
        )
    recursive = mount.data.get("recursiveReadOnly")
    if isinstance(recursive, str) and recursive not in _RECURSIVE:
        yield (
            mount.at / "recursiveReadOnly",
            f"{named(container)} has recursiveReadOnly {quoted(recursive)}, which is refused; write {listed([*_RECURSIVE])}",
        )
    if recursive not in _RECURSIVE[1:]:
        return
    fault = ""
    if mount.data.get("readOnly") is not True:
        fault = "without readOnly: true, which is refused; write readOnly: true"
    elif spread not in (None, "None"):
        fault = f"and mountPropagation {spread}, which is refused; remove one of them"
    if fault:
        yield (
            mount.at / "recursiveReadOnly",
            f"{named(container)} has a mount with recursiveReadOnly {fault}",
        )


def _devices(spec: PodPart, container: Part) -> Iterator[FaultAt]:
    kinds = {
        str(it.data.get("name")): any(it.data.get(kind) is not None for kind in _ON_DISKS)
        for it in spec.items("volumes")
    }
    if spec.owner.kind == "StatefulSet":
        for claim in mappings(spec.owner.spec, "volumeClaimTemplates"):
            kinds[keyed_texts(claim, "metadata").get("name", "")] = True
    seen: set[tuple[str, str]] = set()
    for device in container.items("volumeDevices"):
        name = device.data.get("name")
        if isinstance(name, str) and not kinds.get(name, False):
            fault = "is not a PersistentVolumeClaim" if name in kinds else "its pod does not have"
            yield (
                device.at / "name",
                f"{named(container)} has a device of volume {quoted(name)}, which {fault}; write the name of a volume with a persistentVolumeClaim",
            )
        for field in ("name", "devicePath"):
            value = device.data.get(field)
            if not isinstance(value, str) or not value:
                continue
            if (field, value) in seen:
                yield (
                    device.at / field,
                    f"{named(container)} has two volumeDevices with {field} {quoted(value)}, which is refused; remove one of them",
                )
            seen.add((field, value))


_OF_SOURCES: Final[Mapping[str, Callable[[Part, str], Iterator[FaultAt]]]] = {
    "csi": volume_drivers.of_csi,
    "downwardAPI": _downward,
    "ephemeral": claim_templates.of_ephemeral,
    "iscsi": volume_drivers.of_iscsi,
    "projected": _projected,
}
"""The checks of one source of a volume."""
_CHECKED = frozenset(("secret", "configMap", "image", *_OF_SOURCES))
"""The sources of volumes that a check is about."""
