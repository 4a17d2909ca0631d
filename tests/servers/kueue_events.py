"""Drawn changes in scenarios of Kueue's scheduler: stop policies, deactivation, checks, pods that are not ready."""

from __future__ import annotations

import copy
import random
from typing import Any

Data = dict[str, Any]

POLICIES = ("None", "None", "Hold", "HoldAndDrain")
CHECKS = ("c0", "c1")
STATES = ("Ready", "Ready", "Ready", "Retry", "Rejected")


def add(r: random.Random, scenario: Data) -> None:
    """Add changes to a scenario without them."""
    _pods_ready(r, scenario)
    _checks(r, scenario)
    local = scenario["localQueues"]
    for queue in local:
        if r.random() < 0.06:
            queue["spec"]["stopPolicy"] = r.choice(POLICIES)
        if r.random() < 0.03:
            queue["spec"]["clusterQueue"] = "gone"
    known: list[str] = []
    for i, step in enumerate(scenario["steps"]):
        for workload in step["create"]:
            spec = workload["spec"]
            if r.random() < 0.15:
                spec["maximumExecutionTimeSeconds"] = r.choice([50, 150, 250])
            if r.random() < 0.05:
                spec["active"] = False
            if r.random() < 0.03:
                spec["queueName"] = "gone"
        known = [it for it in known if it not in step["finish"]]
        if i:
            step.update(_changes(r, scenario, known))
        known += [f"n/{it['metadata']['name']}" for it in step["create"]]


def _pods_ready(r: random.Random, scenario: Data) -> None:
    if r.random() < 0.5:
        scenario["waitForPodsReady"] = {
            "timeout": r.choice([150, 250]),
            "backoffBaseSeconds": r.choice([30, 130]),
            "backoffMaxSeconds": r.choice([90, 350]),
            "backoffLimitCount": r.choice([None, 0, 1, 2]),
            "timestamp": r.choice(["Eviction", "Creation"]),
        }


def _checks(r: random.Random, scenario: Data) -> None:
    if r.random() < 0.5:
        return
    chosen = [it for it in CHECKS if r.random() < 0.95]
    scenario["admissionChecks"] = [
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "AdmissionCheck",
            "metadata": {"name": it},
            "spec": {"controllerName": "example.com/check"},
        }
        for it in chosen
    ]
    for queue in scenario["clusterQueues"]:
        checks: list[Data] = [{"name": it} for it in CHECKS if r.random() < 0.35]
        flavors = [it["name"] for it in queue["spec"]["resourceGroups"][0]["flavors"]]
        for it in checks:
            if r.random() < 0.4:
                it["onFlavors"] = [r.choice(flavors)]
        if checks:
            queue["spec"]["admissionChecksStrategy"] = {"admissionChecks": checks}


def _changes(r: random.Random, scenario: Data, known: list[str]) -> Data:
    found: Data = {}
    for kind in ("clusterQueues", "localQueues"):
        if r.random() < 0.25:
            i = r.randrange(len(scenario[kind]))
            queue = copy.deepcopy(scenario[kind][i])
            queue["spec"]["stopPolicy"] = r.choice(POLICIES)
            found[kind] = [queue]
    found["active"] = {it: r.random() < 0.5 for it in known if r.random() < 0.08}
    found["ready"] = [it for it in known if r.random() < 0.4]
    found["checks"] = []
    for it in known:
        if it not in found["active"] and r.random() < 0.6:
            state = r.choice(STATES)
            one: Data = {"workload": it, "check": r.choice(CHECKS), "state": state}
            if state == "Retry" and r.random() < 0.5:
                one["requeueAfterSeconds"] = r.choice([50, 150])
            found["checks"].append(one)
    return found
