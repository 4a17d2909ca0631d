"""A Kubernetes object as it was read: its identity, its data and its place."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

from msgspec import Struct, structs

from policygen.core.finding import At
from policygen.kubernetes.scopes import OF_THE_CLUSTER
from policygen.kubernetes.untyped import keyed_texts, mappings


class _GroupCache(dict[str, str]):
    """A cache of API groups by apiVersion."""

    def __missing__(self, api_version: str) -> str:
        group = self[api_version] = api_version.rpartition("/")[0]
        return group


_GROUPS = _GroupCache()


class Object(Struct, frozen=True, eq=False, dict=True):
    """An object of the input, or a configuration file with apiVersion and kind."""

    at: At
    """Its root: a document of the input, and the path to it inside a List."""
    api_version: str
    kind: str
    name: str
    namespace: str
    """Empty for kinds without a namespace."""
    data: dict[str, Any]
    group: str = ""
    """Its API group, of `api_version`; empty for core kinds."""

    def __post_init__(self) -> None:
        structs.force_setattr(self, "group", _GROUPS[self.api_version])

    @classmethod
    def read(cls, data: Any, at: At) -> Self | None:
        """The object in the data; None if the data has no apiVersion or kind."""
        if not isinstance(data, dict):
            return None
        api_version, kind, metadata = data.get("apiVersion"), data.get("kind"), data.get("metadata")
        if not isinstance(api_version, str) or not isinstance(kind, str) or not kind:
            return None
        metadata = metadata if isinstance(metadata, dict) else {}
        name, namespace = metadata.get("name"), metadata.get("namespace")
        if namespace is not None and (_GROUPS[api_version], kind) in OF_THE_CLUSTER:
            namespace = None  # kustomize sets one on every object
        return cls(
            at,
            api_version,
            kind,
            name if isinstance(name, str) else "",
            namespace if isinstance(namespace, str) else "",
            data,
        )

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """Group, kind, namespace and name: all versions of a kind are one object."""
        return self.group, self.kind, self.namespace, self.name

    @property
    def version(self) -> str:
        """Its API version without the group: `v1beta2`."""
        return self.api_version.rpartition("/")[2]

    @property
    def is_made(self) -> bool:
        """Whether it has ownerReferences, so that a controller writes it."""
        return bool(mappings(self.data, "metadata", "ownerReferences"))

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """`metadata.labels` whose values are strings."""
        return keyed_texts(self.data, "metadata", "labels")

    @cached_property
    def annotations(self) -> Mapping[str, str]:
        """`metadata.annotations` whose values are strings."""
        return keyed_texts(self.data, "metadata", "annotations")

    def __str__(self) -> str:
        """Its name in messages: `LocalQueue team-a/a100`, `Job team-a/train-*` by generateName."""
        name = self.name
        start = "" if name else keyed_texts(self.data, "metadata").get("generateName")
        if start:
            name = f"{start}*"
        if self.namespace and name:
            name = f"{self.namespace}/{name}"
        return f"{self.kind} {name}" if name else self.kind


class Read(Struct, frozen=True, eq=False):
    """A base for typed views of an object."""

    object: Object

    @property
    def at(self) -> At:
        """The place of its root: `entry.at / "spec" / "cohortName"` is the place of a field."""
        return self.object.at

    @property
    def name(self) -> str:
        """`metadata.name`."""
        return self.object.name

    @property
    def namespace(self) -> str:
        """`metadata.namespace`; empty for kinds without a namespace."""
        return self.object.namespace

    @property
    def labels(self) -> Mapping[str, str]:
        """`metadata.labels` whose values are strings."""
        return self.object.labels

    @property
    def annotations(self) -> Mapping[str, str]:
        """`metadata.annotations` whose values are strings."""
        return self.object.annotations

    def __str__(self) -> str:
        return str(self.object)
