"""The sources of device class mappings that Kueue's manager refuses.

Source: pkg/config/validation.go, validateDeviceClassMappings and validateDeviceClassSource of Kueue 0.19.2.
"""

import re
from collections.abc import Container, Iterator, Mapping
from typing import Any

from policygen.core.finding import Fault, Path
from policygen.core.label_grammar import DNS_LABEL, SUBDOMAIN
from policygen.core.quoting import quoted
from policygen.kubernetes.untyped import mapping, numbered

SOURCE_GATES = ("KueueDRAIntegrationPartitionableDevices", "KueueDRAIntegrationConsumableCapacity")
"""The feature gates of counters and of capacities."""
_LABEL = re.compile(rf"(?=.{{1,63}}$){DNS_LABEL}")
_DRIVER = re.compile(rf"(?=.{{1,63}}$){SUBDOMAIN}")
_C_NAME = re.compile("(?=.{1,32}$)[A-Za-z_][A-Za-z0-9_]*")


def source_faults(data: Mapping[str, Any], gates: Container[str]) -> Iterator[Fault]:
    """Every fault of the sources; `gates` are the gates of SOURCE_GATES that are on."""
    for i, mapped in numbered(data, "resources", "deviceClassMappings"):
        root: Path = ("resources", "deviceClassMappings", i, "sources")
        kinds: set[str] = set()
        for j, source in numbered(mapped, "sources"):
            found = [it for it in ("counter", "capacity") if isinstance(source.get(it), dict)]
            if len(found) != 1:
                continue  # reported as a source without, or with two kinds
            kind = found[0]
            kinds.add(kind)
            gate = SOURCE_GATES[kind == "capacity"]
            if gate in gates:
                named = _fault_of_name(kind, source[kind])
                for path, fault in (*named, *_faults(source[kind])):
                    yield (*root, j, kind, *path), fault
            else:
                yield (
                    (*root, j, kind),
                    f"feature gate {gate} is off; in featureGates, write {gate}: true",
                )
        if len(kinds) > 1:
            yield root, "counters cannot be combined with capacities; write two mappings"


def _fault_of_name(kind: str, source: Mapping[str, Any]) -> Iterator[Fault]:
    name = source.get("name") or ""
    if not isinstance(name, str):
        return
    if kind == "counter":
        valid = _LABEL.fullmatch(name) is not None
    else:
        domain, slash, last = name.partition("/")
        valid = "/" in last or (_C_NAME.fullmatch(last if slash else domain) is not None)
        valid = valid and (
            not slash or "/" in last or _DRIVER.fullmatch(domain.lower()) is not None
        )
    if not valid:
        yield (
            ("name",),
            f"{quoted(name)} is not a valid name of a {kind}; write a name such as memory",
        )


def _faults(source: Mapping[str, Any]) -> Iterator[Fault]:
    driver = source.get("driver") or ""
    if isinstance(driver, str) and not _DRIVER.fullmatch(driver):
        yield (
            ("driver",),
            f"{quoted(driver)} is not a valid driver; write a domain such as gpu.nvidia.com",
        )
    cel = mapping(source, "deviceSelector", "cel")
    if not cel.get("expression"):
        path: Path = ("deviceSelector", "cel", "expression")
        yield path, "the expression is not set; write a CEL expression, such as true"
