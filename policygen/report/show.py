"""Writes the pools and teams of a spec: as tables with the tree of teams, Markdown or JSON."""

from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from policygen.core.quoting import counted
from policygen.explain.overview import ModelRow, Overview, PoolRow, TeamRow
from policygen.plan.amounts import CPU, MEMORY, Vector, amount_of, text
from policygen.report.amount_words import names
from policygen.report.phrases import write_json
from policygen.report.tables import NONE, YELLOW, TablePage

VERSION = 1
_HEADS = (
    "TEAM",
    "RESOURCE",
    "GUARANTEE",
    "DESERVED",
    "LIMIT",
    "WEIGHT",
    "FREE",
    "CPU",
    "MEMORY",
    "MODELS",
    "CAN BORROW FROM",
    "CAN EVICT",
)
_NUMBERS = (2, 3, 4, 5, 6)
_BELOW = {
    11: "can evict ",
    10: "can borrow from ",
    9: "runs ",
    8: "memory ",
    7: "cpu ",
    5: "weight ",
    3: "deserved ",
}
_WARNING = "Warning: "
_TEAMS = 8
"""Teams that a cell names."""
_ABOUT = (
    "FREE is the part of the guarantee that no model uses all the time. CPU and MEMORY are guarantee and "
    "limit. A team evicts only workloads that borrow its guarantee, or what it deserves on Volcano."
)


def write(found: Overview, page: TablePage) -> None:
    """Write a table for each pool."""
    teams = len({it.team for pool in found.pools for it in pool.teams})
    page.line(f"Set {found.name}: {counted(len(found.pools), 'pool')}, {counted(teams, 'team')}")
    for pool in found.pools:
        rows = list(_rows(pool))
        if not rows:
            page.heading(_title(pool))
        page.table(_title(pool), _HEADS, rows, _NUMBERS, _BELOW)
        for it in pool.models:
            page.line(f"without a team: {_model(it)}")
    page.line("")
    if found.unplaced:
        page.line(f"Models that fit no pool: {', '.join(found.unplaced)}")
    for warning in found.warnings:
        page.line((_WARNING, YELLOW), warning)
    page.line(_ABOUT)


def json(found: Overview, out: TextIO) -> None:
    """Write one JSON object and a newline, as schemas/show.schema.json describes it."""
    write_json(
        {
            "version": VERSION,
            "set": found.name,
            "pools": [_json_pool(it) for it in found.pools],
            "unplacedModels": list(found.unplaced),
            "warnings": list(found.warnings),
        },
        out,
    )


def _title(pool: PoolRow) -> str:
    shared = "" if pool.queue == pool.name else f", shared queue {pool.queue}"
    host = f"{amount_of(CPU, pool.available[CPU])}, {amount_of(MEMORY, pool.available[MEMORY])}"
    amounts = [
        f"{pool.available[it]} {it} ({pool.rest[it]} not guaranteed, {pool.free(it)} not used by models)"
        for it in pool.resources
    ]
    return f"Pool {pool.name} ({pool.scheduler}{shared}): {', '.join(amounts)}, {host}"


def _rows(pool: PoolRow) -> Iterator[tuple[str, ...]]:
    alone = len(pool.resources) == 1
    for row, branch in _drawn(pool):
        for number, it in enumerate(pool.resources):
            first = not number
            yield (
                f"{branch}{row.name}" if first else "",
                "" if alone else it,
                str(row.guarantee[it]),
                str(row.deserved[it]) if row.deserved else "",
                str(row.limit[it]),
                str(row.weight) if first else "",
                str(row.free(it)) if row.leaf else NONE,
                _bounds(row, CPU) if first else "",
                _bounds(row, MEMORY) if first else "",
                ", ".join(map(_model, row.models)) if first else "",
                names(row.borrows_from, _TEAMS) if first else "",
                names(row.evicts, _TEAMS) if first else "",
            )


def _drawn(pool: PoolRow) -> Iterator[tuple[TeamRow, str]]:
    """The teams, each with the lines of the tree before its name."""
    open_: list[bool] = []
    for number, row in enumerate(pool.teams):
        later = pool.teams[number + 1 :]
        last = next((it.depth for it in later if it.depth <= row.depth), 0) != row.depth
        open_[row.depth - 1 :] = [not last]
        lines = "".join("│  " if it else "   " for it in open_[1:-1])
        yield row, "" if row.depth == 1 else f"{lines}{'└─ ' if last else '├─ '}"


def _bounds(row: TeamRow, resource: str) -> str:
    guarantee, limit = (
        amount_of(resource, it[resource]).removesuffix(" of memory")
        for it in (row.guarantee, row.limit)
    )
    return f"{guarantee} / {limit}"


def _model(it: ModelRow) -> str:
    taken = ", ".join(f"{amount} {name}" for name, amount in it.devices)
    return f"{it.name} ({it.replicas} × {taken})"


def _json_pool(pool: PoolRow) -> dict[str, Any]:
    return {
        "pool": pool.name,
        "queue": pool.queue,
        "scheduler": pool.scheduler,
        "preempts": pool.preempts,
        "available": _json_amounts(pool.available),
        "notGuaranteed": _json_amounts(pool.rest),
        "free": {it: pool.free(it) for it in pool.resources},
        "teams": [_json_team(pool, it) for it in pool.teams],
        "models": [_json_model(it) for it in pool.models],
    }


def _json_team(pool: PoolRow, row: TeamRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "team": row.team,
        "parent": row.parent,
        "weight": row.weight,
        "guarantee": _json_amounts(row.guarantee),
        "deserved": _json_amounts(row.deserved) if row.deserved else None,
        "limit": _json_amounts(row.limit),
        "free": {it: row.free(it) for it in pool.resources} if row.leaf else None,
        "models": [_json_model(it) for it in row.models],
        "borrowsFrom": list(row.borrows_from),
        "evicts": list(row.evicts),
    }


def _json_model(it: ModelRow) -> dict[str, Any]:
    return {
        "model": it.name,
        "least": it.least,
        "most": it.most,
        "always": it.always,
        "devices": dict(it.devices),
    }


def _json_amounts(vector: Vector | Mapping[str, int]) -> dict[str, str]:
    return {name: text(name, amount) for name, amount in vector.items()}
