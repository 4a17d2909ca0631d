"""A container names a file or key that the ConfigMap of its volume or variable does not have."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from policygen.core.finding import Path
from policygen.core.quoting import quoted
from policygen.core.suggest import suggest
from policygen.kubernetes import controllers
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mapping, numbered, text
from policygen.lint.core.pod_templates import KINDS, Part, PodPart, named, pod_specs
from policygen.lint.core.pod_variables import sourced
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_PATH = re.compile(r"(?:--?[\w.-]+=)?(/[\w./@-]*[\w@-])")
_FLAGS: Final = {
    controllers.SCHEDULER: ("--config",),
    controllers.VOLCANO: ("--scheduler-conf",),
}
"""The flags with a file that the image of a program does not contain."""
_KEYS = ("data", "binaryData")

_Maps = Mapping[tuple[str, str], Object]
"""The ConfigMaps of the input by namespace and name."""


class _Mount(Struct, frozen=True, eq=False):
    """A mount of a container."""

    path: str
    """Without a slash at its end."""
    map: Object | None
    """The ConfigMap that it shows, if its keys are known."""
    files: frozenset[str]
    """Their paths in the mount."""
    sub_path: str
    part: Part


def check(facts: Facts) -> Hits:
    """The program does not find its file, or the container does not start. Checks only manifests.

    A path counts if it is a complete word of the command line or the value of a variable. ConfigMaps
    without keys are skipped, because a controller may write them.
    Source: pkg/volume/configmap/configmap.go, MakePayload, and pkg/kubelet/kubelet_pods.go,
    makeEnvironmentVariables, of Kubernetes 1.36.3; the images of kube-scheduler and Volcano.
    """
    if facts.cluster.seen is not None:
        return
    variables = facts.cluster.derive(sourced)
    maps = {(it.namespace, it.name): it for it in facts.cluster.of("", "ConfigMap")}
    for spec in pod_specs(facts.cluster):
        volumes: dict[str, Part] = {}
        if "volumes" in spec.data:
            volumes = {text(it.data, "name"): it for it in spec.items("volumes")}
        shows_maps = any("configMap" in it.data for it in volumes.values())
        if shows_maps:
            yield from _missing_items(spec, maps)
        for container in spec.containers:
            if maps and container in variables:
                yield from _missing_variables(container, variables[container], maps)
            flags = _flags(container)
            if flags and not isinstance(container.data.get("volumeMounts", []), list):
                flags = ()
            mounts = [*_mounts(container, volumes, maps)] if flags or shows_maps else []
            if flags or any(it.map for it in mounts):
                yield from _missing_sub_paths(container, mounts)
                yield from _missing_files(container, mounts, flags)


def _missing_items(spec: PodPart, maps: _Maps) -> Hits:
    for volume in spec.items("volumes"):
        if "items" not in mapping(volume.data, "configMap"):
            continue
        source = volume.under("configMap")
        found = maps.get((spec.owner.namespace, text(source.data, "name")))
        if source.data.get("optional") is not True:
            for item in source.items("items"):
                who = f"volume {text(volume.data, 'name')} of {spec.owner}"
                yield from _missing_key(item, found, who)


def _missing_variables(container: Part, variables: Sequence[Part], maps: _Maps) -> Hits:
    for variable in variables:
        source = variable.under("valueFrom").under("configMapKeyRef")
        found = maps.get((container.owner.namespace, text(source.data, "name")))
        if source.data.get("optional") is not True:
            who = f"variable {text(variable.data, 'name')} of {named(container)}"
            yield from _missing_key(source, found, who)


def _missing_key(source: Part, found: Object | None, who: str) -> Hits:
    key, known = text(source.data, "key"), _keys(found)
    if found is not None and key and known and key not in known:
        yield Hit(
            RULE,
            f"{who} needs key {quoted(key)} of {found}, which does not exist, so the container does "
            f"not start; {suggest(key, known, 'key')}",
            source.at / "key",
            (found.at,),
        )


def _keys(found: Object | None) -> frozenset[str]:
    """The keys of a ConfigMap; empty if they are not known."""
    data = found.data if found is not None else {}
    return frozenset(key for field in _KEYS for key in mapping(data, field))


def _mounts(container: Part, volumes: Mapping[str, Part], maps: _Maps) -> Iterator[_Mount]:
    for mount in container.items("volumeMounts") if "volumeMounts" in container.data else ():
        volume = volumes.get(text(mount.data, "name"))
        source = mapping(volume.data, "configMap") if volume is not None else {}
        found = maps.get((container.owner.namespace, text(source, "name")))
        files = _keys(found)
        if volume is not None and "items" in source:
            items = volume.under("configMap").items("items")
            files = frozenset(text(it.data, "path") for it in items)
        at = text(mount.data, "mountPath").rstrip("/")
        known = found if files and "subPathExpr" not in mount.data else None
        yield _Mount(at, known, files, text(mount.data, "subPath"), mount)


def _missing_sub_paths(container: Part, mounts: list[_Mount]) -> Hits:
    for it in mounts:
        if it.map is None or not it.sub_path or _has(it.files, it.sub_path.strip("/")):
            continue
        yield Hit(
            RULE,
            f"{named(container)} mounts {quoted(it.sub_path)} of {it.map}, which has no such file, so an empty "
            f"directory is mounted at {it.path}; {suggest(it.sub_path, it.files, 'file')}",
            it.part.at / "subPath",
            (it.map.at,),
        )


def _missing_files(container: Part, mounts: list[_Mount], flags: tuple[str, ...]) -> Hits:
    before = ""
    for steps, word in _words(container):
        flag, equals, _ = word.partition("=")
        flag, before = (flag if equals else before), word
        if "/" not in word:
            continue
        path = found[1] if (found := _PATH.fullmatch(word)) else ""
        if not path or "/." in path:
            continue
        above = [it for it in mounts if f"{path}/".startswith(f"{it.path}/")]
        it = max(above, key=lambda each: len(each.path), default=None)
        if it is None and flag in flags:
            yield Hit(
                RULE,
                f"{named(container)} reads {path} ({flag}), but no volume is mounted there, so the program exits; "
                f"{_advice(path, mounts)}",
                container.at.to(*steps),
            )
        elif it is not None and it.map is not None and not it.sub_path and path != it.path:
            file = path[len(it.path) + 1 :]
            if not _has(it.files, file):
                yield Hit(
                    RULE,
                    f"{named(container)} names file {path}, but {it.map}, which is mounted at {it.path}, has no "
                    f"{quoted(file)}; {suggest(file, it.files, 'file')}",
                    container.at.to(*steps),
                    (it.map.at,),
                )


def _has(files: frozenset[str], name: str) -> bool:
    """Whether a file or directory is among these files."""
    return name in files or any(it.startswith(f"{name}/") for it in files)


def _flags(container: Part) -> tuple[str, ...]:
    program = controllers.component(container.data.get("image"))
    return _FLAGS.get(program, ()) if program is not None else ()


def _words(container: Part) -> Iterator[tuple[Path, str]]:
    """The words of the command line and the values of variables, with their paths."""
    for field in controllers.COMMAND_LINE:
        words = container.data.get(field)
        for i, word in enumerate(words if isinstance(words, list) else ()):
            if isinstance(word, str):
                yield (field, i), word
    for i, variable in numbered(container.data, "env"):
        yield ("env", i, "value"), text(variable, "value")


def _advice(path: str, mounts: list[_Mount]) -> str:
    """Where the file is, if another mount has it; else where to mount it."""
    folder, _, name = path.rpartition("/")
    known = {
        f"{it.path}/{file}" for it in mounts for file in it.files if it.map and not it.sub_path
    }
    meant = sorted(it for it in known if it.rpartition("/")[2] == name) or sorted(known)
    if len(meant) == 1:
        return f"write {meant[0]}"
    return f"mount the volume with {name} at {folder or '/'}"


RULE = ObjectRule(
    "config-file-missing",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write a file or key that the ConfigMap has, or mount the ConfigMap at this path.",
    judges=KINDS,
    check=check,
    reads=("ConfigMap",),
)
