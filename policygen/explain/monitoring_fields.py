"""What each field of the objects of `--with monitoring` does."""

from policygen.explain.meaning import Field, FieldTable

_PARTS = (
    *((name, "") for name in ("uid", "title", "description", "schemaVersion", "editable")),
    *((name, "") for name in ("timezone", "refresh", "tags[]", "time.from", "time.to")),
    *((name, ".*") for name in ("annotations", "templating", "panels")),
)
"""The keys of a dashboard, and whether all below them are one part."""
_RULES = "spec.groups[].rules[]"

PROMETHEUS_RULE = FieldTable(
    "https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.PrometheusRule",
    {
        "metadata.labels.*": Field("A label by which a Prometheus selects its PrometheusRules."),
        "spec.groups[].name": Field(
            "The name of a group. Prometheus evaluates its rules one after the other."
        ),
        f"{_RULES}.record": Field("The name of the series that Prometheus records."),
        f"{_RULES}.alert": Field("The name of the alert."),
        f"{_RULES}.expr": Field(
            "The query. A recording rule stores its result; an alert fires for each series of it "
            "(docs/monitoring.md)."
        ),
        f"{_RULES}.for": Field("How long the query must return the series until the alert fires."),
        f"{_RULES}.labels.*": Field("A label of the recorded series, or of the alert."),
        f"{_RULES}.annotations.*": Field("A text of the alert for people."),
    },
)
DASHBOARD = FieldTable(
    "https://grafana.com/docs/grafana/latest/dashboards/",
    {
        "metadata.labels.*": Field(
            "The label by which Grafana's sidecar finds the ConfigMap.",
            always="it is the default label of the Helm chart of Grafana",
        ),
    },
)
_PART = Field("A part of the dashboard. Its queries select the series of this spec.")
DASHBOARD_FILE = FieldTable(
    "https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/",
    {f"{name}{below}": _PART for name, below in _PARTS},
)
