"""Refused sources of environment variables, and of files with fields of a pod.

Source: pkg/apis/core/validation/validation.go of Kubernetes 1.36.3, validateEnvVarValueFrom,
ValidateEnvFrom, validateObjectFieldSelector and validateContainerResourceFieldSelector.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from policygen.api_validation.metadata import is_subdomain
from policygen.api_validation.plain_pods import FIELD_PATHS
from policygen.core import quantity
from policygen.core.amounts import HUGE_PAGES
from policygen.core.finding import FaultAt
from policygen.core.label_grammar import key_fault
from policygen.core.quoting import listed, quoted
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.lint.core.pod_templates import Part, PodPart, named, pod_specs

FIELDS = ("env", "envFrom")
_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_NAMED = ("configMapKeyRef", "secretKeyRef")
_FROM = ("configMapRef", "secretRef")
_KEYED = ("metadata.labels", "metadata.annotations")
"""Fields of which a path names one entry."""
IN_FILES = (*(it for it in FIELD_PATHS if it.startswith("metadata.")), *_KEYED)
_SUBSCRIPT = re.compile(r"([^\[]*)\['(.*)'\]", re.DOTALL)
_RESOURCES = tuple(
    f"{field}.{name}"
    for field in ("limits", "requests")
    for name in ("cpu", "memory", "ephemeral-storage")
)
_HUGE = (f"limits.{HUGE_PAGES}", f"requests.{HUGE_PAGES}")
_CPU = ("1", "1m")
_BYTES = ("1", *(f"1{it}" for it in ("k", "M", "G", "T", "P", "E")), *(f"1{it}i" for it in "KMGTPE"))  # fmt: skip


def sourced(cluster: Cluster) -> Mapping[Part, Sequence[Part]]:
    """The containers with variables that have a source, and these variables; use it with `cluster.derive`."""
    return {
        container: found
        for spec in pod_specs(cluster)
        for container in spec.containers
        if "env" in container.data and (found := container.items("env", having="valueFrom"))
    }


def of_pod(spec: PodPart) -> Iterator[FaultAt]:
    """Refused sources in the environment of containers."""
    for container in spec.containers:
        for variable in container.items("env", having="valueFrom"):
            yield from _variable(container, variable)
        for entry in _env_from(container) if "envFrom" in container.data else ():
            used = [it for it in _FROM if entry.data.get(it) is not None]
            if len(used) != 1:
                yield (
                    entry.at,
                    f"{named(container)} has an envFrom {count(used)}, which is refused; write {listed(list(_FROM))}",
                )
            for kind in used:
                if isinstance(entry.data[kind], dict):
                    yield from _source_name(entry.under(kind), f"{named(container)} has an envFrom")


def _env_from(container: Part) -> Iterator[Part]:
    """The entries of envFrom. An API server reads null as an empty entry; `wrong-type` reports it in custom kinds."""
    yield from container.items("envFrom")
    entries = container.data["envFrom"]
    if isinstance(entries, list) and container.owner.object.group != VOLCANO_BATCH:
        for i, entry in enumerate(entries):
            if entry is None:
                yield Part(container.owner, {}, ("envFrom", i), container)


def count(used: list[str]) -> str:
    """How many sources there are: `with a and b`, `without a source`."""
    return f"with {listed(used, 'and')}" if used else "without a source"


def _variable(container: Part, variable: Part) -> Iterator[FaultAt]:
    if not isinstance(variable.data.get("valueFrom"), dict):
        return
    source = variable.under("valueFrom")
    used = [it for it in _SOURCES if source.data.get(it) is not None]
    name = variable.data.get("name")
    which = f"{named(container)} has variable {name}" if name else f"{named(container)} has a variable"  # fmt: skip
    if len(used) != 1:
        yield (
            source.at,
            f"{which} with valueFrom {count(used)}, which is refused; write one of {listed(list(_SOURCES))}",
        )
    elif variable.data.get("value"):
        yield source.at, f"{which} with value and valueFrom, which is refused; remove one of them"
    for kind in used:
        is_read = isinstance(source.data[kind], dict)
        if is_read and kind in _NAMED and source.under(kind).data.get("name") is None:
            yield from _source_name(source.under(kind), which)  # other names: `workload_code`
    if "fieldRef" in used:
        yield from field_faults(source.under("fieldRef"), FIELD_PATHS, which)
    if "resourceFieldRef" in used:
        yield from resource_faults(source.under("resourceFieldRef"), which)


def _source_name(source: Part, which: str) -> Iterator[FaultAt]:
    """The fault of the name of a ConfigMap or Secret."""
    name = source.data.get("name", "")
    name = "" if name is None else name
    if isinstance(name, str) and not is_subdomain(name):
        fault = f"name {quoted(name)}, which is not valid" if name else "no name, which is refused"
        yield source.at, f"{which} with {source.steps[-1]} with {fault}; write a valid name"


def field_faults(ref: Part, valid: tuple[str, ...], which: str) -> Iterator[FaultAt]:
    """The faults of a `fieldRef`; each message begins with `which`."""
    version, path = ref.data.get("apiVersion") or "v1", ref.data.get("fieldPath")
    if isinstance(version, str) and version != "v1":
        yield (
            ref.at / "apiVersion",
            f"{which} with fieldRef.apiVersion {quoted(version)}, which is refused; write v1",
        )
        return
    if not isinstance(path, str):
        return
    subscript = _SUBSCRIPT.fullmatch(path)
    if subscript and subscript[1] in _KEYED:
        key = subscript[2].lower() if subscript[1] == _KEYED[1] else subscript[2]
        if fault := key_fault(key):
            yield ref.at / "fieldPath", f"{which} with fieldPath {quoted(path)}: {fault}"
    elif path not in valid and not (path == "spec.host" and "spec.nodeName" in valid):
        words = (*valid, *(f"{it}['<key>']" for it in _KEYED))
        yield (
            ref.at / "fieldPath",
            f"{which} with fieldPath {quoted(path)}, which is refused; {suggest(path, words)}",
        )


def resource_faults(ref: Part, which: str) -> Iterator[FaultAt]:
    """The faults of a `resourceFieldRef`; each message begins with `which`."""
    name, divisor = ref.data.get("resource"), ref.data.get("divisor")
    if not isinstance(name, str):
        return
    if name not in _RESOURCES and not name.startswith(_HUGE):
        yield (
            ref.at / "resource",
            f"{which} with resource {quoted(name)}, which is refused; {suggest(name, _RESOURCES)}",
        )
        return
    if divisor is None or isinstance(divisor, bool) or not isinstance(divisor, str | int | float):
        return
    valid = _CPU if name.endswith(".cpu") else _BYTES
    try:
        amount = quantity.read(divisor)
    except ValueError:
        return  # `invalid-value` reports it
    if amount.value and quantity.canonical(amount) not in valid:
        yield (
            ref.at / "divisor",
            f"{which} with divisor {divisor} of {name}, which is refused; write {listed(list(valid))}",
        )
