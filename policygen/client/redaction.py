"""Redacts a snapshot so that it can be shared: replaces each name by a keyed hash.

- Replaced are the names of objects, namespaces, nodes, pods and their owners, and names that policy
  objects refer to; also inside messages and configuration files. A name always has the same hash.
- Not replaced are common names (`default`, `kube-system`, `system-...`), names of resources, label
  keys and other label values.
- In the name of a scheduler, the name of the set is replaced; rules read the rest (`binpack`).
- Images are reduced to one word, except those of controllers.

Without the key, it is impossible to check whether a guessed name is in the snapshot. The key is
discarded, or stored in a private file with the replaced names, so that later snapshots have the same
hashes.
"""

import hmac
import re
from collections.abc import Iterable, Iterator
from secrets import token_hex
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from policygen.core.names import (
    DEFAULT_SCHEDULER,
    KUEUE_NAMESPACE,
    LOCAL_QUEUE,
    SET,
    SYSTEM_NAMESPACES,
    VOLCANO_NAMESPACE,
)
from policygen.kubernetes.controllers import CONFIG_MAPS, component
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import Gap, Pod, Snapshot
from policygen.kubernetes.untyped import mapping, mappings
from policygen.kubernetes.workloads import Container, PodSpec

_COMMON_NAMES = frozenset(
    {
        "default", "root", *SYSTEM_NAMESPACES, KUEUE_NAMESPACE, VOLCANO_NAMESPACE,
        DEFAULT_SCHEDULER, "volcano", "kubernetes", *CONFIG_MAPS,
    }
)  # fmt: skip
_REFERENCES = frozenset(
    {
        "cohortName", "cohort", "parentName", "parent", "clusterQueue", "queue", "queueName",
        "priorityClassName", "priorityClass", "runtimeClassName", "nodeName",
        "claimName", "volumeName", "storageClassName", "topologyName", "topology",
        LOCAL_QUEUE, SET,
    }
)  # fmt: skip
"""Fields whose text is a name, also the name of an object that does not exist."""
_NEVER_NAMES = frozenset(
    {"apiVersion", "kind", "operator", "effect", "type", "status", "reason",
     "manager", "operation", "resourceVersion", "coveredResources", "time"}
)  # fmt: skip
"""Fields whose text is never a name."""
_PROSE = frozenset({"annotations", "message", "data"})
"""Fields with texts that can contain names."""
_TOKEN = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?")
_RESOURCES = frozenset({"allocatable", "capacity", "requests", "limits", "hard", "deserved"})
_HOSTNAME = "kubernetes.io/hostname"
_ANSWERED = re.compile(r"\b(\d{3}): .*")
_QUOTED = re.compile(r"""'[^']*'|"[^"]*"|<[^>]*>""")
_DIGITS = 12


class Key(Struct):
    """The key for hashes, and the names that were replaced with it, by their hashes.

    A name that was replaced once is replaced in all later snapshots, also if it is only a word there.
    """

    key: str
    names: dict[str, str] = field(default_factory=dict)

    @classmethod
    def new(cls) -> "Key":
        """A key of random bytes, which cannot be guessed."""
        return cls(token_hex())

    @property
    def name(self) -> str:
        """An identifier of the key that does not reveal it."""
        return self.hide("")

    def hide(self, name: str) -> str:
        """A DNS label that begins with a letter."""
        hashed = hmac.digest(self.key.encode(), name.encode(), "sha256").hex()
        return f"n{hashed[:_DIGITS]}"


def redacted(snapshot: Snapshot, key: Key) -> Snapshot:
    """The snapshot with names replaced by hashes with this key; the key stores the names."""
    known = frozenset(_names(snapshot)) - _COMMON_NAMES - frozenset(_resources(snapshot)) - {""}
    context = snapshot.seen.context
    hidden = {name: key.hide(name) for name in known if not name.startswith(("system-", "system:"))}
    key.names |= {hashed: name for name, hashed in (hidden | {context: key.hide(context)}).items()}
    swap = _Swap(
        {name: hashed for hashed, name in key.names.items() if name != context} | hidden,
        frozenset(str(mapping(it.data, "metadata", "labels").get(SET)) for it in snapshot.objects),
    )
    return Snapshot(
        replace(
            snapshot.seen,
            context=key.hide(context),
            gaps=tuple(
                Gap(gap.group, gap.kind, swap.name(gap.namespace), swap.prose(_cut(gap.reason)))
                for gap in snapshot.seen.gaps
            ),
            no_server=swap.prose(_cut(snapshot.seen.no_server)),
            namespaces=tuple(map(swap.name, snapshot.seen.namespaces)),
            config_maps=frozenset(CONFIG_MAPS),  # other names come from the spec
            redacted=True,
            key=key.name,
        ),
        tuple(_object(it, swap) for it in snapshot.objects),
        tuple(_pod(pod, swap) for pod in snapshot.pods),
    )


def _cut(reason: str) -> str:
    """Why something was not read, without messages of servers, which can contain users and roles."""
    return _QUOTED.sub('"..."', _ANSWERED.sub(r"\1", reason))


class _Swap:
    def __init__(self, hidden: dict[str, str], sets: frozenset[str]) -> None:
        self._hidden = hidden
        self._sets = sets & hidden.keys()
        self._specs: dict[int, PodSpec] = {}

    def name(self, text: str) -> str:
        """A text that is a complete name, or not a name."""
        return self._hidden.get(text, text)

    def scheduler(self, text: str) -> str:
        """The name of a scheduler, which can begin with the name of a set: `research.binpack`."""
        head, dot, tail = text.partition(".")
        return f"{self._hidden[head]}.{tail}" if dot and head in self._sets else text

    def prose(self, text: str) -> str:
        """A text that can contain names."""
        return _TOKEN.sub(
            lambda match: self._hidden.get(match[0]) or self.scheduler(match[0]), text
        )

    def value(self, value: Any, key: str = "") -> Any:
        """The value of a key."""
        if isinstance(value, str):
            if key in _NEVER_NAMES:
                return value
            if key == "schedulerName":
                return self.scheduler(value)
            if key == "image":
                return value if component(value) else "image"
            return self.prose(value) if key in _PROSE else self.name(value)
        if isinstance(value, list):
            return [self.value(each, key) for each in value]
        if isinstance(value, dict):
            inner = key if key in _PROSE else ""
            return {self.key(name): self.value(each, inner or name) for name, each in value.items()}
        return value

    def spec(self, spec: PodSpec) -> PodSpec:
        """The redacted spec; pods that shared a spec still share it."""
        if id(spec) not in self._specs:
            self._specs[id(spec)] = replace(
                spec,
                containers=tuple(map(self._container, spec.containers)),
                init_containers=tuple(map(self._container, spec.init_containers)),
                node_selector=self.value(spec.node_selector),
                affinity=self.value(spec.affinity),
                priority_class_name=self.name(spec.priority_class_name),
                runtime_class_name=self.name(spec.runtime_class_name),
                scheduler_name=self.scheduler(spec.scheduler_name),
                topology_spread_constraints=tuple(
                    map(self.value, spec.topology_spread_constraints)
                ),
                resource_claims=tuple(map(self.value, spec.resource_claims)),
            )
        return self._specs[id(spec)]

    def _container(self, container: Container) -> Container:
        return replace(
            container, name=self.name(container.name), image=self.value(container.image, "image")
        )

    def key(self, name: str) -> str:
        """A redacted key: keys of managedFields contain the names of list entries."""
        return self.prose(name) if name.startswith(("k:{", 'v:"')) else name


def _object(original: Object, swap: _Swap) -> Object:
    return Object.read(swap.value(original.data), original.at) or original


def _pod(pod: Pod, swap: _Swap) -> Pod:
    owner = replace(pod.owner, name=swap.name(pod.owner.name)) if pod.owner else None
    return replace(
        pod,
        namespace=swap.name(pod.namespace),
        name=swap.name(pod.name),
        node=swap.name(pod.node),
        owner=owner,
        labels={key: swap.name(value) for key, value in pod.labels.items()},
        annotations={key: swap.prose(value) for key, value in pod.annotations.items()},
        unscheduled_why=swap.prose(pod.unscheduled_why),
        spec=swap.spec(pod.spec),
    )


def _names(snapshot: Snapshot) -> Iterator[str]:
    for listed in snapshot.objects:
        yield from (listed.name, listed.namespace)
        if listed.kind == "Node":
            yield listed.labels.get(_HOSTNAME, "")  # can be the first part of the name
        yield from _referred(listed.data)
    for pod in snapshot.pods:
        yield from (pod.name, pod.namespace, pod.node)
        yield from (pod.spec.priority_class_name, pod.spec.runtime_class_name)
        yield from _referred(pod.labels)
        yield from (each.name for each in (*pod.spec.containers, *pod.spec.init_containers))
        if pod.owner:
            yield pod.owner.name
    yield from (gap.namespace for gap in snapshot.seen.gaps)
    yield from snapshot.seen.namespaces


def _referred(data: Any) -> Iterator[str]:
    """Names in the fields of an object, for any kind of target."""
    if isinstance(data, dict):
        for key, value in data.items():
            if isinstance(value, str) and key in _REFERENCES:
                yield value
            elif key == "ownerReferences":
                yield from (str(each.get("name", "")) for each in mappings(value))
            elif key in {"flavors", "containers", "initContainers", "podSets", "admissionChecks"}:
                yield from (str(each.get("name", "")) for each in mappings(value))
                yield from _referred(value)
            else:
                yield from _referred(value)
    elif isinstance(data, list):
        for item in data:
            yield from _referred(item)


def _resources(snapshot: Snapshot) -> Iterator[str]:
    """Names of resources, complete and after their slash; these words are not replaced."""
    for listed in snapshot.objects:
        for name in _amounts(listed.data):
            yield name
            yield from name.split("/")


def _amounts(data: Any, key: str = "") -> Iterable[str]:
    if isinstance(data, dict):
        if key in _RESOURCES:
            yield from data
        for name, value in data.items():
            yield from _amounts(value, name)
    elif isinstance(data, list):
        for item in data:
            if key == "coveredResources" and isinstance(item, str):
                yield item
            yield from _amounts(item)
