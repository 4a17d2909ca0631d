"""An item and a template for it."""

from dataclasses import dataclass

from policygen.plan.kind import Item, Kind, Meta, Release


@dataclass(frozen=True)
class Queue:
    meta: Meta
    labels: dict[str, str]
    gpus: int = 8
    note: str | None = None


def queue(name="a", labels=None, **fields):
    kind = Kind("Queue", "kueue", (Release((0, 1), "x.dev/v1", "x/queue.yaml.j2"),))
    return Item(kind, kind.releases[0], Queue(Meta(name, "prod"), labels or {}, **fields))


SOUND = """\
apiVersion: {{ kind.api_version }}
kind: {{ kind.name }}
metadata:
  name: {{ it.meta.name }}
  labels: {{ block(it.labels, 4) }}
{% if it.note %}
note: {{ it.note }}
{% endif %}
gpus: {{ it.gpus }}
"""
