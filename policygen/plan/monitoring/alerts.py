"""Decides the alerts about the recorded series."""

from collections.abc import Iterator, Mapping

from policygen.plan.decisions import Decisions
from policygen.plan.monitoring import facts, usage
from policygen.plan.monitoring.rule import MetricRule, node_label, one_of, resource_label, series

_BY_POOL = "set, pool, resource"
_BY_TEAM = "set, pool, team, resource"


def rules(decided: Decisions) -> Iterator[MetricRule]:
    """The alerts, with the thresholds of the Platform."""
    settings = decided.platform.monitoring
    own = {"set": decided.platform.name}
    free, largest = series(usage.NODE_FREE, own), series(facts.POOL_LARGEST_POD, own)
    used, pending = series(usage.TEAM_USED, own), series(usage.TEAM_PENDING, own)
    yield _alert(
        "PolicygenGpusIdle",
        f"avg by (set, pool, team, model) ({series(usage.POD_UTILIZATION, own)})"
        f" < {settings.idle_below_percent}",
        settings.idle_for,
        "GPUs of team {{ $labels.team }} in pool {{ $labels.pool }} are idle",
        "Model {{ $labels.model }} of team {{ $labels.team }} uses "
        "{{ $value | humanize }} % of the GPUs that it holds in pool {{ $labels.pool }}. Scale it "
        "down, or share the GPUs.",
    )
    yield _alert(
        "PolicygenGuaranteeUnused",
        f"{series(facts.TEAM_GUARANTEE, own)}\n- on ({_BY_TEAM}) {used} > 0",
        settings.guarantee_unused_for,
        "Team {{ $labels.team }} does not use its guarantee in pool {{ $labels.pool }}",
        "{{ $value }} {{ $labels.resource }} of the guarantee are unused. Lower the guarantee in "
        "the spec, or start more workloads.",
        severity="info",
    )
    yield _alert(
        "PolicygenQuotaSaturated",
        f"{used}\n>= on ({_BY_TEAM}) {series(facts.TEAM_LIMIT, own)}\n"
        f"and on (set, pool, team) {pending} > 0",
        settings.saturated_for,
        "Team {{ $labels.team }} waits at its limit in pool {{ $labels.pool }}",
        "The team uses {{ $value }} {{ $labels.resource }}, all that its limit allows, and "
        "workloads wait. Raise the limit in the spec, or wait until workloads end.",
    )
    if decided.trees_of("kueue"):
        yield _queue_pending(own, settings.pending_for)
    yield _pod_pending(decided, own, settings.pending_for)
    yield _alert(
        "PolicygenPoolFragmented",
        f"sum by ({_BY_POOL}) ({free})\n"
        f">= on ({_BY_POOL}) {largest}\n"
        f"unless on ({_BY_POOL}) (\n"
        f"  max by ({_BY_POOL}) ({free})\n"
        f"  >= on ({_BY_POOL}) {largest}\n"
        ")\n"
        f"and on (set, pool) sum by (set, pool) ({pending}) > 0",
        settings.fragmented_for,
        "Free GPUs of pool {{ $labels.pool }} are spread over too many nodes",
        "{{ $value }} {{ $labels.resource }} are free, but no node has enough for the largest pod "
        "of a model, and workloads wait. Check that the pool packs: `policygen lint`.",
    )
    yield _alert(
        "PolicygenGpusStranded",
        f"sum by ({_BY_POOL}) ({series(usage.NODE_STRANDED, own)}) > 0",
        settings.fragmented_for,
        "GPUs of pool {{ $labels.pool }} cannot be used",
        "{{ $value }} {{ $labels.resource }} are free on nodes that cannot take the smallest pod "
        "of a model, because too few GPUs, cpu or memory are left there. Lower the requests for "
        "cpu and memory.",
    )
    yield _alert(
        "PolicygenPoolTooSmall",
        f"{series(usage.POOL_OFFERED, own)}\n< on ({_BY_POOL}) {series(facts.POOL_CAPACITY, own)}",
        settings.fragmented_for,
        "Pool {{ $labels.pool }} has fewer GPUs than the spec states",
        "The nodes offer only {{ $value }} {{ $labels.resource }}, so guarantees cannot be kept. "
        "Repair or add nodes, or correct capacity in the spec.",
    )
    yield from _lint(settings.drift_checked_every)
    yield from _missing(decided)


def _queue_pending(own: Mapping[str, str], longest: str) -> MetricRule:
    """Some workload waited all the time: more waited at its start than were admitted since.

    Kueue has no metric of the time that a workload already waits.
    """
    pending, on = series(usage.TEAM_PENDING, own), "on (set, pool, team)"
    expr = (
        f"min_over_time({pending}[{longest}]) > 0\n"
        f"and {on} (\n"
        f"  {pending} offset {longest}\n"
        f"  > {on} increase({series(usage.TEAM_STARTED, own)}[{longest}])\n"
        ")"
    )
    return _alert(
        "PolicygenWorkloadsPending",
        expr,
        "",
        "Workloads of team {{ $labels.team }} wait for quota in pool {{ $labels.pool }}",
        f"{{{{ $value }}}} workloads or more have waited for {longest}. Run `policygen why` for "
        "the reason.",
    )


def _pod_pending(decided: Decisions, own: Mapping[str, str], longest: str) -> MetricRule:
    names = sorted({resource_label(it) for pool in decided.pools for it in pool.resources})
    requests = series(usage.REQUESTS, {}, one_of("resource", names))
    expr = (
        "max by (set, team, namespace) (\n"
        "  (time() - max by (namespace, pod) (kube_pod_created))\n"
        "  * on (namespace) group_left (set, team) "
        f"{series(facts.NAMESPACE_TEAM, own)}\n"
        f"  and on (namespace, pod) {usage.WAITS}\n"
        "  and on (namespace, pod) sum by (namespace, pod) (\n"
        f"    {requests}\n"
        "  ) > 0\n"
        f") > {_seconds(longest)}"
    )
    return _alert(
        "PolicygenPodsPending",
        expr,
        "",
        "Pods of team {{ $labels.team }} wait for GPUs in namespace {{ $labels.namespace }}",
        "A pod has waited for {{ $value | humanizeDuration }}. Run `policygen why` for the reason.",
    )


def _lint(longest: str) -> Iterator[MetricRule]:
    yield _alert(
        "PolicygenDrift",
        "max by (cluster) (policygen_drifted) > 0",
        "",
        "Cluster {{ $labels.cluster }} differs from the spec",
        "{{ $value }} fields or objects differ. Run `policygen lint --context CONTEXT spec/`.",
    )
    yield _alert(
        "PolicygenLintOutdated",
        f"time() - max(policygen_run_timestamp_seconds) > {_seconds(longest)}",
        "",
        "policygen lint has not run",
        "The last run was {{ $value | humanizeDuration }} ago. Check the job that runs it.",
    )
    yield _alert(
        "PolicygenLintIncomplete",
        "min(policygen_complete) == 0",
        "",
        "policygen lint cannot read a part of the cluster",
        "Run it by hand for the reason, and check its ClusterRole: `policygen rbac spec/`.",
    )


def _missing(decided: Decisions) -> Iterator[MetricRule]:
    """Alerts about metrics without which other alerts never fire."""
    keys = sorted({key for it in decided.pools for key, _ in it.pool.node_selector})
    needed = [(usage.REQUESTS, ""), (usage.GR_ENGINE, usage.GPU_UTIL)]
    schedulers = {it.scheduler for it in decided.pools}
    if "kueue" in schedulers:
        needed += [(usage.KUEUE_USED, ""), (usage.KUEUE_PENDING, "")]
    if "volcano" in schedulers:
        needed.append((usage.VOLCANO_USED, ""))
    exprs = [
        (name, f"absent({name})" + (f" unless on () {other}" if other else ""))
        for name, other in needed
    ]
    exprs += [
        (f"{usage.NODE_LABELS}: {key}", f"absent({series(usage.NODE_LABELS, {}, _is_set(key))})")
        for key in keys
    ]
    for name, expr in exprs:
        yield _alert(
            "PolicygenMetricMissing",
            expr,
            "15m",
            f"Prometheus has no metric {name}",
            "Other alerts cannot fire without it. docs/monitoring.md of policygen shows how to "
            "export it.",
            metric=name,
        )


def _is_set(key: str) -> str:
    return f'{node_label(key)}!=""'


def _alert(name: str, expr: str, lasts: str, *texts: str, **labels: str) -> MetricRule:
    """An alert with a summary and a description."""
    summary, description = texts
    annotations = {"summary": summary, "description": description}
    labels = {"severity": "warning", **labels}
    return MetricRule(expr, alert=name, lasts=lasts, labels=labels, annotations=annotations)


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def _seconds(duration: str) -> int:
    return int(duration[:-1]) * _UNITS[duration[-1]]
