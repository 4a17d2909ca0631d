"""Adopts ResourceQuotas with the sum of several pools of kube-scheduler."""

import json
from random import Random

import pytest

from policygen.adopt.divisions import Divided, divide
from policygen.documents.files import Source
from policygen.plan.amounts import part
from policygen.spec.types import Bounds
from tests.adopt.round_trip import adopted, again, rendered
from tests.adopt.test_compare import listed

ODD, EVEN = {"x": 1001, "y": 2001}, {"x": 1000, "y": 2000}


def manifests(scheduler, teams, *, defaults=1, backstop=False):
    """What pools x, y and z of kube-scheduler render, and pool q of a scheduler with queues.

    `teams`: by name, the team above, the namespaces, and by pool the limit in thousandths of a core and MiB.
    """
    pools = {
        name: {
            "nodeSelector": {"pool": name},
            "gpu": {"perNode": 4, "resource": f"{name}.com/gpu"},
            "capacity": {"nodes": 5, "nodeAllocatable": {"cpu": "96", "memory": "512Gi"}},
            "scheduler": "kube-scheduler",
            "quotaCpuAndMemory": True,
        }
        for name in ("x", "y", "z")
    }
    pools["q"] = {
        **pools["x"],
        "nodeSelector": {"pool": "q"},
        "gpu": {"perNode": 4},
        "scheduler": scheduler,
        "quotaCpuAndMemory": False,
        "quotaBackstop": backstop,
    }
    documents = [("ResourcePool", name, spec) for name, spec in pools.items()]
    for name, (above, namespaces, limits) in teams.items():
        spec = {
            "namespaces": [{"name": it} for it in namespaces],
            "containerDefaults": {"cpu": f"{defaults}m", "memory": f"{defaults}Mi"},
            "quotas": [{"pool": "q", "guarantee": 1 if above else 4}],
        }
        spec |= {"parent": above} if above else {}
        spec["quotas"] += [
            {
                "pool": pool,
                "limit": 4,
                "cpu": {"limit": f"{most}m"},
                "memory": {"limit": f"{most}Mi"},
            }
            for pool, most in limits.items()
        ]
        documents.append(("Team", name, spec))
    text = "\n---\n".join(
        json.dumps(
            {
                "apiVersion": "policygen.dev/v1alpha1",
                "kind": kind,
                "metadata": {"name": name},
                "spec": spec,
            }
        )
        for kind, name, spec in documents
    )
    return rendered(Source("spec.yaml", text, None))


TREES = {
    "one is odd": {"a": (None, ["a-0", "a-1"], ODD), "b": (None, ["b-0", "b-1"], EVEN)},
    "the parent is odd": {"a": (None, ["a-0", "a-1"], ODD), "b": ("a", ["b-0", "b-1"], EVEN)},
    "the child has all, in more namespaces": {
        "a": (None, ["a-0", "a-1"], ODD),
        "b": ("a", ["b-0", "b-1", "b-2"], ODD),
    },
    "the parent has one namespace": {
        "a": (None, ["a-0"], ODD),
        "b": ("a", ["b-0", "b-1"], ODD),
    },
    "each pool has a child": {
        "a": (None, ["a-0", "a-1"], EVEN),
        "b": ("a", ["b-0", "b-1"], {"x": 1000}),
        "c": ("a", ["c-0", "c-1"], {"y": 2000}),
    },
    "three pools": {
        "a": (None, ["a-0", "a-1"], {"x": 8001, "y": 7001, "z": 9001}),
        "b": ("a", ["b-0", "b-1", "b-2"], {"x": 8001, "y": 7001, "z": 9001}),
    },
}


@pytest.mark.parametrize("scheduler", ["kueue", "volcano"])
@pytest.mark.parametrize("name", TREES)
def test_the_sum_of_several_pools_renders_the_same_bytes(name, scheduler):
    first = manifests(scheduler, TREES[name])
    assert again(first) == first


@pytest.mark.parametrize(
    ("namespaces", "options"),
    [(["b", "a"], {"backstop": True}), (["a-0", "a-1"], {"defaults": 1500})],
    ids=["only cpu shows which namespace is first", "containers request more than the limit"],
)
def test_one_pool_with_equal_gpus_renders_the_same_bytes(namespaces, options):
    first = manifests("volcano", {"a": (None, namespaces, {"x": 1001})}, **options)
    assert again(first) == first


def test_the_division_is_a_guess_in_proportion_to_the_gpus():
    inferred = adopted(manifests("kueue", {"a": (None, ["a-0", "a-1"], ODD)}))
    (team,) = inferred.spec.teams
    limits = {it.pool: (it.cpu, it.memory) for it in team.quotas[1:]}
    assert limits == {
        "x-gpu-cpu": (Bounds(limit=1501), Bounds(limit=1501 << 20)),
        "y-gpu-cpu": (Bounds(limit=1501), Bounds(limit=1501 << 20)),
    }
    (guess,) = (it for it in inferred.guesses if it.path == ("spec", "quotas", 1, "cpu"))
    assert guess.text.startswith("Guess: the ResourceQuotas show only the sum of cpu")


def test_parts_that_no_division_gives_are_listed():
    """Written by hand, where the namespaces of a team have any amounts."""
    text = manifests("kueue", {"a": (None, ["a-0", "a-1"], ODD)})
    assert text.count('"1502m"') == text.count('"1500m"') == 1
    found = listed(text.replace('"1502m"', '"2"'))
    field = 'spec.hard["requests.cpu"]'
    assert found["ResourceQuota a-0/default", field] == 'is "2" here, and rendered as "1750m"'
    assert found["ResourceQuota a-1/default", field] == 'is "1500m" here, and rendered as "1750m"'


def forest(draw):
    """Teams with limits in one or both of two pools, and what these limits allow their namespaces."""
    limits, teams = {}, []
    for name in map(str, range(draw.randint(1, 7))):
        above = draw.choice([None, *limits])
        most = limits.get(above, dict.fromkeys([("x",), ("y",)], draw.choice([10, 10**6])))
        pools = draw.sample([*most], draw.randint(1, len(most)))
        limits[name] = {it: draw.choice([most[it], draw.randint(0, most[it])]) for it in pools}
        parts = parts_of(limits[name], draw.randint(1, 2))
        units = {it: draw.randint(0, 50) for it in sorted(pools)}
        teams.append(Divided(name, above, parts, units))
    return teams


def parts_of(division, count):
    return tuple(sum(part(it, count, index) for it in division.values()) for index in range(count))


def test_drawn_divisions_give_the_parts_within_those_of_the_teams_above():
    """Only some divisions are tried, so about one forest of 1000 has none."""
    draw, failed = Random(61009), 0
    for _ in range(200):
        teams = forest(draw)
        found = divide(teams)
        above = {it.team: found[it.above or it.team] for it in teams}
        failed += any(
            it.parts != parts_of(found[it.team], len(it.parts))
            or any(most > above[it.team][pool] for pool, most in found[it.team].items())
            for it in teams
        )
    assert failed <= 1
