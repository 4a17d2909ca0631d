"""Random platforms: a spec of a few pools and teams, and the jobs that arrive and end."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .client import Object
from .specs import Document, platform, pool, share, team
from .workloads import Ask, job

PRIORITIES = ("low", "normal", "high")


@dataclass(frozen=True)
class DrawnPlatform:
    """A spec, and what happens on it."""

    documents: list[Document]
    events: list[Object | None]
    """A Job that arrives; None: one that runs ends."""
    fair: bool


def drawn(seed: int, events: tuple[int, int] = (60, 100)) -> DrawnPlatform:
    """A platform of one or two pools and up to five teams; about one event of seven is an end."""
    r = random.Random(seed)
    pools = {name: r.choice([16, 32, 64]) for name in ("a100", "h100")[: r.choice([1, 1, 2])]}
    teams = [f"team-{i}" for i in range(r.randint(2, 5))]
    fair = r.random() < 0.3
    quotas: dict[str, list[Document]] = {it: [] for it in teams}
    for name, total in pools.items():
        left = total
        for it in teams:
            if name != "a100" and r.random() < 0.4:
                continue
            guarantee = r.randint(0, min(left, 2 * total // len(teams)))
            left -= guarantee
            numbers: dict[str, Any] = {"guarantee": guarantee}
            if fair:
                numbers["weight"] = r.randint(1, 3)
            if r.random() < 0.6:
                numbers["limit"] = r.randint(max(guarantee, 1), total)
            quotas[it].append(share(name, **numbers))
    queues = [(it, quota["pool"]) for it in teams for quota in quotas[it]]
    gpu = {"a100": {}, "h100": {"memory": "96Gi"}}
    documents = [
        platform(*({"name": it, "value": i * 10} for i, it in enumerate(PRIORITIES))),
        *(pool(name, total, gpu=gpu[name]) for name, total in pools.items()),
        *(team(it, *quotas[it]) for it in teams),
    ]
    happens = [_job(r, i, queues) if r.random() < 0.85 else None for i in range(r.randint(*events))]
    return DrawnPlatform(documents, happens, fair)


def _job(r: random.Random, number: int, queues: Sequence[tuple[str, str]]) -> Object:
    namespace, queue = r.choice(queues)
    count = r.choice([1, 1, 2, 2, 4, 8])
    ask = Ask(
        gpus=count,
        cpu=str(count * r.choice([2, 8, 16])),
        memory=f"{count * r.choice([8, 32])}Gi" if r.random() < 0.5 else None,
    )
    return job(
        f"j{number:03}",
        namespace,
        ask,
        pods=r.choice([1, 1, 1, 2, 4]),
        queue=queue,
        kueue_priority=r.choice(PRIORITIES),
    )
