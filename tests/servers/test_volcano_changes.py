"""Volcano's webhook compares a queue with the current state of its parent and children.

So parents must grow first, which is the order of the manifests, and children must shrink first.
docs/semantics.md explains this to users. The webhook's cache is behind the API server, so tests
repeat a dry run until the webhook knows what was accepted.
"""

import json
import random

from policygen.app.requests import RenderRequest
from policygen.app.steps import steps
from tests.servers.apply import FIELD_MANAGER, parse
from tests.servers.client import APPLY
from tests.servers.rendering import rendered

POOL = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {{name: p}}
spec:
  nodeSelector: {{pool: p}}
  gpu: {gpu}
  capacity: {{nodes: {nodes}, nodeAllocatable: {{cpu: 64, memory: 512Gi}}}}
  scheduler: volcano
"""
TEAM = """
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {{name: {name}}}
spec:
  namespaces: [{{name: {name}}}]
  quotas: [{{pool: p, {numbers}}}]
"""
WHOLE = "{perNode: 8, memory: 80Gi}"
CUT = "{{perNode: 8, sharing: mig, mig: {{instances: {{1g.10gb: {0}, 3g.40gb: {0}}}}}}}"
DRY = {"fieldManager": FIELD_MANAGER, "force": "true", "dryRun": "All"}


def tree(nodes, vision, detection):
    """A pool, a team with all of it, and a team below that."""
    above = TEAM.format(name="vision", numbers=f"guarantee: {vision}, limit: {vision}")
    below = TEAM.format(name="detection", numbers=f"guarantee: {detection}, limit: {detection}")
    return (
        POOL.format(gpu=WHOLE, nodes=nodes)
        + above
        + below.replace("spec:\n", "spec:\n  parent: vision\n")
    )


def siblings(gpu, **teams):
    parts = [TEAM.format(name=name, numbers=numbers) for name, numbers in teams.items()]
    return POOL.format(gpu=gpu, nodes=2) + "".join(parts)


def shares(cluster, resource="nvidia.com/gpu"):
    return {
        queue["metadata"]["name"]: int(queue["spec"]["deserved"].get(resource, 0))
        for queue in cluster.objects("scheduling.volcano.sh/v1beta1", "Queue")
        if queue["metadata"]["name"] not in {"root", "default"}
    }


def takes(cluster, text, name):
    """Whether the webhook would take this queue of a set now."""
    (queue,) = (it for it in parse(text, "set") if it.is_volcano_queue and it.name == name)
    path = cluster.client.resource(queue.thing["apiVersion"], queue.kind).path(None, name)
    return cluster.client.request("PATCH", path, queue.text, content_type=APPLY, query=DRY).ok


def refused(outcome):
    return [document.name for document, _ in outcome.refused]


def test_growing_is_one_step(cluster):
    cluster.apply(rendered(tree(1, vision=8, detection=4)).text)
    cluster.apply(rendered(tree(4, vision=32, detection=16)).text)
    assert shares(cluster)["detection.p"] == 16


def test_shrinking_needs_the_children_first(cluster):
    cluster.apply(rendered(tree(4, vision=32, detection=16)).text)
    smaller = rendered(tree(1, vision=8, detection=4)).text
    first = cluster.try_apply(smaller, retry_s=0)
    assert refused(first) == ["p", "vision.p"]
    messages = [message for _, message in first.refused]
    assert "queue p capability (" in messages[0]
    assert "is less than child queue vision.p capability (" in messages[0]
    assert shares(cluster)["detection.p"] == 4  # the leaves have shrunk: one level a time
    cluster.until("the webhook knows the leaves", lambda: takes(cluster, smaller, "vision.p"))
    second = cluster.try_apply(smaller, retry_s=0)
    assert refused(second) == ["p"]
    cluster.apply(smaller)
    assert shares(cluster) == {"p": 8, "vision.p": 8, "vision.own.p": 4, "detection.p": 4}


def test_what_one_team_gives_another_gets_by_applying_again(cluster):
    before = {"a": "guarantee: 4, limit: 16", "b": "guarantee: 12, limit: 16"}
    after = {"a": "guarantee: 12, limit: 16", "b": "guarantee: 4, limit: 16"}
    cluster.apply(rendered(siblings(WHOLE, **before)).text)
    assert shares(cluster) == {"p": 16, "a.p": 4, "b.p": 12}
    moved = rendered(siblings(WHOLE, **after)).text
    cluster.until("the webhook knows b", lambda: not takes(cluster, moved, "a.p"))
    first = cluster.try_apply(moved, jobs=1, retry_s=0)
    assert refused(first) == ["a.p"]  # its turn came while b still had 12
    assert "exceeds parent's deserved limit" in first.refused[0][1]
    cluster.apply(moved)
    assert shares(cluster) == {"p": 16, "a.p": 12, "b.p": 4}


def test_a_swap_of_profiles_needs_a_step_between(cluster):
    small, large = "nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb"

    def of(instances, **guarantees):
        teams = {
            name: f"guarantee: {{1g.10gb: {few}, 3g.40gb: {many}}}"
            for name, (few, many) in guarantees.items()
        }
        return rendered(siblings(CUT.format(instances), **teams)).text

    cluster.apply(of(8, a=(8, 0), b=(0, 8)))
    swapped = of(8, a=(0, 8), b=(8, 0))
    neither = lambda: not takes(cluster, swapped, "a.p") and not takes(cluster, swapped, "b.p")
    cluster.until("the webhook knows both", neither)
    for _ in range(2):
        assert refused(cluster.try_apply(swapped, retry_s=0)) == ["a.p", "b.p"]
    cluster.stays("neither goes first", neither, want=True, for_s=0.5)
    cluster.apply(of(16, a=(8, 8), b=(8, 8)))
    knows = lambda: takes(cluster, swapped, "b.p") and not takes(cluster, swapped, "p")
    cluster.until("the webhook knows the step between", knows)
    # cpu goes with the larger profile: a gets it when b has given it, and the pool shrinks after both.
    assert refused(cluster.try_apply(swapped, jobs=1, retry_s=0)) == ["p", "a.p"]
    cluster.until("the webhook knows b", lambda: takes(cluster, swapped, "a.p"))
    assert refused(cluster.try_apply(swapped, jobs=1, retry_s=0)) == ["p"]
    cluster.until("the webhook knows a", lambda: takes(cluster, swapped, "p"))
    assert refused(cluster.try_apply(swapped, jobs=1, retry_s=0)) == []
    assert shares(cluster, small) == {"p": 8, "a.p": 0, "b.p": 8}
    assert shares(cluster, large) == {"p": 8, "a.p": 8, "b.p": 0}


def drawn(r):
    """A spec of teams that share 16 or 24 GPUs; b and c need not exist, and c is below a."""
    few = r.randint(0, 16)
    numbers = {"a": few, "b": r.randint(0, 16 - few)}
    teams = [
        TEAM.format(name=it, numbers=f"guarantee: {least}, limit: 16, weight: {r.randint(1, 3)}")
        for it, least in numbers.items()
        if it == "a" or r.random() < 0.8
    ]
    if r.random() < 0.6:
        below = TEAM.format(name="c", numbers=f"guarantee: {r.randint(0, few)}, limit: 16")
        teams.append(below.replace("spec:\n", "spec:\n  parent: a\n"))
    return POOL.format(gpu=WHOLE, nodes=r.randint(2, 3)) + "".join(teams)


def test_steps_of_drawn_changes_are_accepted_where_one_apply_is_refused(cluster, tmp_path):
    """`render --steps-from`: the webhook refuses no part of a step, once it knows the step before."""
    file, live = tmp_path / "spec.yaml", tmp_path / "live.json"
    in_one = []
    for text in (drawn(random.Random(seed)) for seed in range(1, 13)):
        file.write_text(text)
        queues = [
            it
            for it in cluster.objects("scheduling.volcano.sh/v1beta1", "Queue")
            if it["metadata"]["name"] not in {"root", "default"}
        ]
        live.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": queues}))
        whole = rendered(text).text
        names = [it.name for it in parse(whole, "set") if it.is_volcano_queue]
        in_one.append(all(takes(cluster, whole, it) for it in names))
        old = str(live) if queues else str(file)
        for step in steps(RenderRequest((str(file),), {}), old).applies if queues else ():
            for it in step.delete:
                cluster.delete("scheduling.volcano.sh/v1beta1", "Queue", it.split()[-1])
            applied = "".join(it.text for it in step.manifests)
            there = [it.name for it in parse(applied, "step") if it.is_volcano_queue]
            knows = lambda applied=applied, there=there: all(
                takes(cluster, applied, it) for it in there
            )
            cluster.until("the webhook takes all of the step", knows)
            assert refused(cluster.try_apply(applied, retry_s=0)) == []
        if not queues:
            cluster.apply(whole)
        wanted = {it.name: it for it in parse(whole, "set") if it.is_volcano_queue}
        found = shares(cluster)
        for name, it in wanted.items():
            assert found[name] == int(it.thing["spec"]["deserved"]["nvidia.com/gpu"])
    assert in_one.count(False) >= len(in_one) // 2
