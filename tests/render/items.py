"""Items and folders for tests of output."""

import pytest

from policygen.core.errors import UsageError
from policygen.plan.kind import Item, Kind, Meta, Release
from policygen.render.folder import INDEX
from policygen.render.manifest import Manifest


class Thing:
    def __init__(self, meta):
        self.meta = meta


def manifest(name, body="a: 1", kind="Queue", namespace=None, api="x.dev/v1"):
    made = Kind(kind, "kueue", (Release((0, 1), api, "x.j2"),))
    item = Item(made, made.releases[0], Thing(Meta(name, "prod", namespace)))
    return Manifest(item, f"---\nname: {name}\n{body}\n")


OLD = [manifest("a"), manifest("b"), manifest("c"), manifest("gone")]
NEW = [manifest("a"), manifest("b", "a: 2"), manifest("c", "a: 2"), manifest("d", "a: 2")]


def files(folder):
    """All files and folders there, except the index."""
    return {path.name: path.read_text() for path in sorted(folder.iterdir()) if path.name != INDEX}


def expected(manifests):
    return {f"queue.{each.item.meta.name}.yaml": each.text for each in manifests}


def refusal(function, *arguments):
    with pytest.raises(UsageError) as error:
        function(*arguments)
    assert "\n" not in str(error.value)
    return str(error.value)
