"""Lint of the running control plane, as `policygen lint --context` reads it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from policygen.app import judge
from policygen.app.sources import cluster_query
from policygen.client import access, live, requests
from policygen.core import versions
from policygen.documents.files import Source
from policygen.kubernetes.snapshot import Snapshot
from policygen.lint.registry import RULES
from policygen.plan.compile import compile_plan
from policygen.spec.load import load
from tests.servers.bench import CONTEXT

from .cluster import Cluster

TIMEOUT_S = 60.0


def look(cluster: Cluster, rules: Iterable[str], later: timedelta = timedelta(0)) -> Snapshot:
    """A snapshot of what these rules look at, as if it were taken some time later."""
    mine = [rule for rule in RULES if rule.name in set(rules)]
    way = access.Access(CONTEXT, cluster.bench.kubeconfig)
    server = requests.Server(way, requests.Deadline.after(TIMEOUT_S))
    what = cluster_query(mine, None, versions.DEFAULT)
    with live.begin(server, what) as begun:
        return begun.finish(datetime.now(UTC) + later)


def messages(
    cluster: Cluster, rule: str, *, spec: str = "", later: timedelta = timedelta(0)
) -> list[str]:
    """The messages of one rule for the control plane, with a spec."""
    loaded = load([Source("spec.yaml", spec, None)])
    against = judge.CheckSettings(
        versions.DEFAULT, {}, loaded.spec if spec else None, compile_plan(loaded.sound)
    )
    rules = [each for each in RULES if each.name == rule]
    judged = judge.judge(look(cluster, [rule], later), rules, against)
    assert judged.complete, judged.findings
    return [f"{finding.object}: {finding.message}" for finding in judged.findings]
