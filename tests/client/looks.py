"""Snapshots for tests, made from text as if they were read from a cluster."""

from datetime import UTC, datetime

import msgspec
import yaml

from policygen.client import pod_lists, projection
from policygen.client.pod_lists import ListedPod, Pods
from policygen.core.finding import At
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import POD, GroupKind, Seen, Snapshot
from policygen.lint.kinds import every

TAKEN = datetime(2026, 11, 21, 3, tzinfo=UTC)


def snapshot(text="", **seen):
    """A snapshot with the objects of a text, as if a server had listed them.

    `seen` replaces fields of its Seen; by default every kind was read completely.
    """
    objects, pods, rows = [], [], Pods()
    for data in [each for each in yaml.safe_load_all(text) if each]:
        it = Object.read(data, At(0))
        if it is None:
            continue
        kind = GroupKind(it.group, it.kind)
        if kind == POD:
            listed = msgspec.convert(data, ListedPod, strict=False)
            pods.append(rows.row(listed))
            kept = pod_lists.unowned(listed, pods[-1])
        else:
            kept = projection.projected(kind, data)
        if kept is not None:
            objects.append(Object.read(kept, At(0, ("objects", len(objects)))))
    fields = {"context": "east", "taken": TAKEN, "server": "v1.36.3", "read": every()} | seen
    return Snapshot(Seen(**fields), tuple(objects), tuple(pods))
