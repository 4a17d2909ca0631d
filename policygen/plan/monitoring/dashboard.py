"""Decides the Grafana dashboard: the recorded series by pool, team and model.

The form is that of Grafana's dashboards as JSON (schema version 39, Grafana 11 and later). Grafana's
sidecar loads it from a ConfigMap with the label `grafana_dashboard: "1"`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from msgspec import Struct

from policygen.plan.monitoring import facts, usage
from policygen.spec.types import Platform

SCHEMA_VERSION = 39
_WIDTH = 12
"""Columns of a panel; the grid has 24."""
_HEIGHT = 8
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}


class Panel(Struct, frozen=True):
    """A time series panel: a title, a description, and queries by their legend."""

    title: str
    about: str
    queries: tuple[tuple[str, str], ...]
    unit: str = "short"


def text(platform: Platform) -> str:
    """The dashboard as JSON. Its identity is the name of the spec."""
    return json.dumps(_dashboard(platform), indent=2) + "\n"


def panels(platform: Platform) -> Sequence[Panel]:
    """The panels, in the order in which they are shown."""
    shown = f'{{set="{platform.name}", pool=~"$pool"'
    pool, team = f"{shown}}}", f'{shown}, team=~"$team"}}'
    by_pool, by_team = "{{pool}} {{resource}}", "{{team}}, {{pool}} {{resource}}"
    return (
        Panel(
            "Use of pools",
            "Units that pods hold, units of the schedulable nodes, and units that the spec states.",
            (
                (f"sum by (pool, resource) ({usage.POD_UNITS}{pool})", f"{by_pool} held"),
                (f"{usage.POOL_OFFERED}{pool}", f"{by_pool} offered"),
                (f"{facts.POOL_CAPACITY}{pool}", f"{by_pool} in the spec"),
            ),
        ),
        Panel(
            "Free units that cannot be used",
            "Free units on nodes that cannot take the smallest pod of a model.",
            (
                (f"sum by (pool, resource) ({usage.NODE_FREE}{pool})", f"{by_pool} free"),
                (f"sum by (pool, resource) ({usage.NODE_STRANDED}{pool})", f"{by_pool} stranded"),
            ),
        ),
        Panel(
            "Use of teams",
            "What each team uses, with its guarantee and limit.",
            (
                (f"{usage.TEAM_USED}{team}", by_team),
                (f"{facts.TEAM_GUARANTEE}{team}", f"{by_team} guarantee"),
                (f"{facts.TEAM_LIMIT}{team}", f"{by_team} limit"),
            ),
        ),
        Panel(
            "Waiting workloads",
            "Workloads that wait for quota or nodes, by team.",
            ((f"{usage.TEAM_PENDING}{team}", "{{team}}, {{pool}}"),),
        ),
        Panel(
            "Utilization by model",
            "Mean utilization of the GPUs that the pods of a model hold.",
            (
                (
                    f"avg by (pool, team, model) ({usage.POD_UTILIZATION}{team})",
                    "{{model}} of {{team}}, {{pool}}",
                ),
            ),
            "percent",
        ),
        Panel(
            "Utilization by team and pool",
            "Mean utilization of the GPUs that pods hold.",
            (
                (f"avg by (pool, team) ({usage.POD_UTILIZATION}{team})", "{{team}}, {{pool}}"),
                (f"avg by (pool) ({usage.POD_UTILIZATION}{pool})", "{{pool}}"),
            ),
            "percent",
        ),
        Panel(
            "Differences from the spec",
            "Fields and objects that `policygen lint` found to differ from the spec.",
            (("max by (cluster) (policygen_drifted)", "{{cluster}}"),),
        ),
    )


def _dashboard(platform: Platform) -> Mapping[str, Any]:
    numbers = count(1)
    return {
        "uid": f"policygen-{platform.name}"[:40],
        "title": f"GPU policy {platform.name}",
        "description": "Rendered by policygen with --with monitoring.",
        "tags": ["policygen"],
        "schemaVersion": SCHEMA_VERSION,
        "editable": False,
        "timezone": "browser",
        "refresh": "1m",
        "time": {"from": "now-24h", "to": "now"},
        "annotations": {"list": []},
        "templating": {"list": [*_variables(platform)]},
        "panels": [_panel(next(numbers), it) for it in panels(platform)],
    }


def _variables(platform: Platform) -> Iterator[Mapping[str, Any]]:
    yield {
        "name": "datasource",
        "type": "datasource",
        "label": "Data source",
        "query": "prometheus",
    }
    for name, series in (("pool", facts.POOL_CAPACITY), ("team", facts.TEAM_LIMIT)):
        yield {
            "name": name,
            "type": "query",
            "label": name.capitalize(),
            "datasource": _SOURCE,
            "query": f'label_values({series}{{set="{platform.name}"}}, {name})',
            "refresh": 2,
            "multi": True,
            "includeAll": True,
            "current": {"text": "All", "value": "$__all"},
        }


def _panel(number: int, panel: Panel) -> Mapping[str, Any]:
    row, column = divmod(number - 1, 24 // _WIDTH)
    return {
        "id": number,
        "type": "timeseries",
        "title": panel.title,
        "description": panel.about,
        "datasource": _SOURCE,
        "gridPos": {"x": column * _WIDTH, "y": row * _HEIGHT, "w": _WIDTH, "h": _HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "options": {
            "legend": {
                "displayMode": "list",
                "placement": "bottom",
                "showLegend": True,
                "calcs": [],
            },
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        "targets": [
            {
                "refId": chr(ord("A") + i),
                "datasource": _SOURCE,
                "expr": expr,
                "legendFormat": legend,
            }
            for i, (expr, legend) in enumerate(panel.queries)
        ],
    }
