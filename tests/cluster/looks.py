"""Snapshots for tests: what a look at a cluster would have brought."""

from datetime import UTC, datetime

import yaml

from policygen.cluster.object import Object
from policygen.cluster.seen import Seen, Snapshot
from policygen.finding import At
from policygen.lint.kinds import EVERY

TAKEN = datetime(2026, 11, 21, 3, tzinfo=UTC)


def snapshot(text="", pods=(), **seen):
    """The objects of a text, with every kind read in full unless `seen` says otherwise."""
    documents = [each for each in yaml.safe_load_all(text) if each]
    fields = {"context": "east", "taken": TAKEN, "server": "v1.36.3", "read": EVERY} | seen
    return Snapshot(
        Seen(**fields),
        tuple(Object.read(data, At(0, ("objects", i))) for i, data in enumerate(documents)),
        tuple(pods),
    )
