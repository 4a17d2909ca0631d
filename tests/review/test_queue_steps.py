"""Steps of Volcano's Queues, replayed against the checks of the webhook with a cache of any age."""

import random

import pytest

from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.review.queue_steps import QueueAmounts, is_refused, queue_steps, queues

KEYS = ("cpu", "gpu")


def drawn(r):
    """A valid tree: children of random names below two pools."""
    found = {}

    def add(name, parent, capability, deserved, depth):
        found[name] = QueueAmounts(parent, capability, deserved, {})
        left = dict(deserved)
        for _ in range(r.randint(0, 3) if depth else 0):
            its = {key: r.randint(0, left[key]) for key in KEYS}
            left = {key: left[key] - its[key] for key in KEYS}
            limit = {key: r.randint(its[key], capability[key]) for key in KEYS}
            child = r.choice([f"{name[0]}{r.randint(0, 9)}{depth}", f"x{r.randint(0, 6)}{depth}"])
            if child not in found:
                add(child, name, limit, its, depth - 1)

    for pool in "pq":
        size = {key: r.randint(0, 16) for key in KEYS}
        add(pool, "root", size, size, 2)
    return found


def room(parent, children):
    """The check of a parent, written as in the webhook."""
    for name in ("deserved", "guarantee"):
        limit = getattr(parent, name) or parent.capability
        for key in KEYS:
            if sum(getattr(it, name).get(key, 0) for it in children) > limit.get(key, 0):
                return False
    return all(
        it.capability.get(key, 0) <= parent.capability.get(key, 0)
        for it in children
        for key in KEYS
    )


def accepted(name, state, seen):
    """Whether the webhook accepts a state if its cache has these Queues."""
    seen = {**seen, name: state}
    below = [it for it in seen.values() if it.parent == name]
    if below and not room(state, below):
        return False
    if state.parent == "root":
        return True
    siblings = [it for it in seen.values() if it.parent == state.parent]
    return state.parent in seen and room(seen[state.parent], siblings)


@pytest.mark.parametrize("seed", range(0, 200, 40))
def test_each_step_is_accepted_in_any_order_and_whatever_the_cache_knows(seed):
    """Drawn trees whose Queues also move, appear and disappear."""
    refused = 0
    for r in map(random.Random, range(seed, seed + 40)):
        old, new = drawn(r), drawn(r)
        now = dict(old)
        for step in queue_steps(old, new):
            for name in step.delete:
                assert not any(it.parent == name for it in now.values())
                del now[name]
            begin, names = dict(now), list(step.changed)
            assert set(names) == {it for it in step.queues if now.get(it) != step.queues[it]}
            r.shuffle(names)
            for name in names:
                # The cache knows some of the changes of this apply.
                seen = {**begin, **{it: now[it] for it in now if r.random() < 0.5}}
                assert accepted(name, step.queues[name], seen)
                now[name] = step.queues[name]
        assert {it: now[it] for it in new} == new
        refused += is_refused(old, new)
    assert refused


def test_one_apply_is_refused_if_the_webhook_refuses_a_part_of_it():
    for r in map(random.Random, range(200)):
        old, new = drawn(r), drawn(r)
        now, refused = dict(old), False
        for name, state in new.items():  # parents come first
            refused = refused or (now.get(name) != state and not accepted(name, state, now))
            now[name] = state
        assert is_refused(old, new) == refused


def test_two_queues_that_swap_amounts_are_raised_first():
    def tree(a, b, all_=8):
        sizes = {"a": a, "b": b}
        found = {"p": QueueAmounts("root", {"x": all_, "y": all_}, {"x": all_, "y": all_}, {})}
        for name, (x, y) in sizes.items():
            found[name] = QueueAmounts("p", {"x": 8, "y": 8}, {"x": x, "y": y}, {})
        return found

    steps = queue_steps(tree((8, 0), (0, 8)), tree((0, 8), (8, 0)))
    assert [set(it.changed) for it in steps] == [{"p"}, {"a", "b"}, {"a", "b"}, {"p"}]
    assert steps[0].queues["p"].deserved == {"x": 16, "y": 16}


def test_a_queue_that_leaves_is_deleted_only_for_its_amounts():
    pool = QueueAmounts("root", {"x": 8}, {"x": 8}, {})
    half, whole = (QueueAmounts("p", {"x": 8}, {"x": amount}, {}) for amount in (4, 8))
    old = {"p": pool, "a": half, "b": half}
    (only,) = queue_steps(old, {"p": pool, "a": half})
    assert (only.delete, only.changed) == ((), ())
    (only,) = queue_steps(old, {"p": pool, "a": whole})
    assert (only.delete, only.changed) == (("b",), ("a",))
    with pytest.raises(ValueError, match="Volcano refuses Queue a beside the Queues that stay"):
        queue_steps(old, {"p": pool, "a": whole}, kept=["b"])


def test_queues_of_volcano_itself_do_not_count():
    data = [
        {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": it}}
        for it in ("root", "default", "mine")
    ]
    data[2]["spec"] = {"deserved": {"cpu": "1500m", "memory": "1Gi", "nvidia.com/gpu": "2"}}
    cluster = Cluster(Object.read(it, At(0)) for it in data)
    amounts = {"cpu": 1500, "memory": 1 << 30, "nvidia.com/gpu": 2}
    assert queues(cluster) == {"mine": QueueAmounts("root", {}, amounts, {})}
