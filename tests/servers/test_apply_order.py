"""The bench applies a large set in order."""

import os
import time

from tests.servers.rendering import rendered

DEPARTMENTS = int(os.environ.get("POLICYGEN_DEPARTMENTS", "5"))
"""Five show the order of parents and children as twenty do, with a quarter of the objects."""
TEAMS_EACH = 13
OBJECTS = 100 * DEPARTMENTS


def big_set():
    """A Kueue pool and a Volcano pool, shared by departments and their teams."""
    teams = DEPARTMENTS * TEAMS_EACH
    node = {"cpu": 96, "memory": "768Gi"}
    documents = [
        document(
            "ResourcePool",
            pool,
            {
                "nodeSelector": {"pool": pool},
                "gpu": {"perNode": 8, "memory": "80Gi", "resource": f"{pool}.example.com/gpu"},
                "capacity": {"totalGPUs": 8 * teams, "nodeAllocatable": node},
                "scheduler": scheduler,
            },
        )
        for pool, scheduler in (("day", "kueue"), ("night", "volcano"))
    ]
    for department in range(DEPARTMENTS):
        parent = f"department-{department}"
        shares = [
            {"pool": pool, "guarantee": 6 * TEAMS_EACH, "limit": 8 * TEAMS_EACH}
            for pool in ("day", "night")
        ]
        documents.append(document("Team", parent, {"quotas": shares}))
        for team in range(TEAMS_EACH):
            name = f"team-{department}-{team}"
            share = [
                {"pool": pool, "guarantee": 6, "limit": 8 * TEAMS_EACH} for pool in ("day", "night")
            ]
            fields = {
                "parent": parent,
                "namespaces": [{"name": f"{name}-{i}", "create": True} for i in range(2)],
                "maxPending": 10,
                "quotas": share,
            }
            documents.append(document("Team", name, fields))
    return documents


def document(kind, name, spec):
    return {
        "apiVersion": "policygen.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def test_hundreds_of_objects_are_applied_in_order(cluster):
    out = rendered(big_set())
    assert len(out.objects) >= OBJECTS
    began = time.monotonic()
    outcome = cluster.apply(out.text)
    took = time.monotonic() - began
    print(
        f"{outcome.accepted} objects applied in {took:.1f} s; {outcome.retries} retries of "
        f"Volcano's queues, {outcome.accepted_late} accepted late"
    )
    assert outcome.accepted == len(out.objects)
    queues = cluster.objects("scheduling.volcano.sh/v1beta1", "Queue")
    assert len(queues) == 2 + 1 + DEPARTMENTS + DEPARTMENTS * TEAMS_EACH
