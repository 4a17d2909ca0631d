"""A Kubernetes object as it was read: who it is, what it says, where it stands."""

from typing import Any

from msgspec import Struct

from policygen.finding import At


class Object(Struct, frozen=True, eq=False):
    """One object of the input, or a configuration file that has the shape of one."""

    at: At
    """Its root: a document of the input, and the path to it inside a List."""
    api_version: str
    kind: str
    name: str
    namespace: str
    """Empty for what has none."""
    data: dict[str, Any]

    @property
    def group(self) -> str:
        """Its API group; empty for core kinds."""
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        """Its API version without the group: `v1beta2`."""
        return self.api_version.rpartition("/")[2]

    def __str__(self) -> str:
        """As a message names it: `LocalQueue team-a/a100`."""
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {name}" if name else self.kind
