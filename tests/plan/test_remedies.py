"""Remedies that name a pool or a number lead to no other finding when a user follows them."""

import json
import re
from copy import deepcopy

from hypothesis import given, note
from hypothesis import strategies as st

from tests.conftest import plan_of

POOLS = ("p", "q")
MOVE = re.compile(r'write placement\.pools: \[(\w)\] for model "([\w-]+)"')
MOVES = re.compile(
    r"write placement\.pools: (\[.*?), because th[a-z]+ pools? ha[a-z]+ room for them"
)
"""Several models, each with its pool."""
LIMIT = re.compile(
    r'on pool "(\w)" need .*the limit of team "([\w-]+)" is .*raise the limit by (\d+) x-\w.com/gpu'
    r"(, though some replicas still wait)?(?:, and raise the guarantee(| and th\w+ of its parents?) by (\d+))?"
)
GUARANTEE = re.compile(
    r'team "([\w-]+)".*? on pool "(\w)".*raise the guarantee(| and th\w+ of its parents?) by (\d+) x-\w.com/gpu'
)
ALONE = re.compile(
    r'team "([\w-]+)" has the limit .* on pool "(\w)".*raise (limit and guarantee|the limit) to (\d+) x-\w.com/gpu'
    r"(, though some replicas still wait)?(?:, and the guarantee to (\d+) x-\w.com/gpu)?"
    r"(?:, and the guarantees of its parents by (\d+))?"
)
"""The limit for a model that exceeds it alone."""
FEWER = re.compile(r'model "([\w-]+)" needs .* lower the model\'s (replicas|maxReplicas) to (\d+)')
CHECKED = {
    "models-exceed-limit",
    "peak-exceeds-limit",
    "serving-on-borrowed-gpus",
    "gang-on-borrowed-gpus",
    "model-above-limit",
    "model-above-quota",
    "gang-not-scheduled",
    "host-share-exceeded",
    "model-fits-no-pool",
}
"""Refusals are findings, too: see `found`."""


def document(kind, name, spec):
    return {
        "apiVersion": "policygen.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def pool(draw, name):
    spec = {
        "nodeSelector": {"pool": name},
        "scheduler": draw(st.sampled_from(["kueue", "volcano", "kube-scheduler"])),
        "gpu": {"product": "NVIDIA-A100-SXM4-40GB", "perNode": 8, "resource": f"x-{name}.com/gpu"},
        "capacity": {"totalGPUs": 16, "nodeAllocatable": {"cpu": "96", "memory": "1100Gi"}},
        "schedulingPolicy": {"preemptionEnabled": draw(st.integers(0, 3)) > 0},
    }
    return document("ResourcePool", name, spec)


def team(draw, name, parent):
    rows = []
    for each in POOLS:
        rows.append({"pool": each, "guarantee": draw(st.integers(0, 5))})
        if draw(st.booleans()):
            rows[-1]["limit"] = draw(st.integers(5, 12))
    spec = {"namespaces": [{"name": f"{name}-ns"}], "quotas": rows}
    return document("Team", name, {**spec, "parent": "all"} if parent else spec)


def model(draw, name, owner):
    spec = {"team": owner, "resources": {"gpus": draw(st.integers(1, 3))}}
    if pools := draw(st.sampled_from([[], [], ["p"], ["p", "q"], ["q", "p"]])):
        spec["placement"] = {"pools": pools}
    if draw(st.booleans()):
        spec["resources"]["cpu"] = draw(st.integers(8, 24))
    least = draw(st.integers(1, 5))
    most = least + draw(st.integers(0, 4))
    spec |= draw(
        st.sampled_from(
            [
                {"replicas": least},
                {"autoscaling": {"minReplicas": least, "maxReplicas": most}},
                {"workload": "training", "gang": {"size": least + 1}},
                {"workload": "batch"},
            ]
        )
    )
    return document("Model", name, spec)


@st.composite
def specs(draw):
    """Two pools with 16 GPUs, two or three teams, with or without a parent, and up to six models."""
    teams = "abc"[: draw(st.integers(2, 3))]
    parent = draw(st.booleans())
    wide = [{"pool": name, "guarantee": 11, "limit": draw(st.integers(12, 16))} for name in POOLS]
    return [
        *(pool(draw, name) for name in POOLS),
        *([document("Team", "all", {"quotas": wide})] if parent else []),
        *(team(draw, name, parent and name != "c") for name in teams),
        *(
            model(draw, f"m-{index}", draw(st.sampled_from(teams)))
            for index in range(draw(st.integers(2, 6)))
        ),
    ]


def found(documents):
    """The findings about sums and single models, and refusals: rule and place, by message.

    Serving models of a team above its guarantee on a pool are one finding, at the team or at the only
    model.
    """
    done = plan_of("\n---\n".join(json.dumps(it) for it in documents))
    return {
        it.message: (
            it.rule.name,
            re.search(r'team "(\w+)".*? on pool "(\w)"', it.message).groups()
            if it.rule.name == "serving-on-borrowed-gpus"
            else it.place.line,
        )
        for it in done.findings
        if it.rule.name in CHECKED or it.severity.name == "ERROR"
    }


def raise_(teams, team, pool, field, more):
    (row,) = (it for it in teams[team]["quotas"] if it["pool"] == pool)
    row[field] += int(more)


def moved(documents, places):
    """A spec with several models in other pools."""
    made = deepcopy(documents)
    for pool, names in re.findall(r"\[(\w)\] for models? ([^\[]+)", places):
        for model in re.findall(r'"([\w-]+)"', names):
            (spec,) = (it["spec"] for it in made if it["metadata"]["name"] == model)
            spec["placement"] = {"pools": [pool]}
    return made


def with_replicas(documents, name, field, count):
    """A spec in which a model has another number of replicas, or of maxReplicas."""
    made = deepcopy(documents)
    (spec,) = (it["spec"] for it in made if it["metadata"]["name"] == name)
    (spec["autoscaling"] if field == "maxReplicas" else spec)[field] = int(count)
    return made


def changed(documents, message):
    """A spec for each remedy of a message that names a pool or a number; the team whose replicas still wait."""
    for pool, model in MOVE.findall(message):
        made = deepcopy(documents)
        (spec,) = (it["spec"] for it in made if it["metadata"]["name"] == model)
        spec["placement"] = {"pools": [pool]}
        yield made, None
    if moves := MOVES.search(message):
        yield moved(documents, moves[1]), None
    if fewer := FEWER.search(message):
        yield with_replicas(documents, *fewer.groups()), None
    if alone := ALONE.search(message):
        team, pool, what, limit, waits, guarantee, above = alone.groups()
        made = deepcopy(documents)
        teams = {it["metadata"]["name"]: it["spec"] for it in made if it["kind"] == "Team"}
        (row,) = (it for it in teams[team]["quotas"] if it["pool"] == pool)
        row["limit"] = int(limit)
        if what != "the limit" or guarantee:
            row["guarantee"] = int(guarantee or limit)
        if above:
            raise_(teams, teams[team]["parent"], pool, "guarantee", above)
        yield made, team if waits else None
        return
    limit = LIMIT.search(message)
    for match in [limit] if limit else filter(None, [GUARANTEE.search(message)]):
        made = deepcopy(documents)
        teams = {it["metadata"]["name"]: it["spec"] for it in made if it["kind"] == "Team"}
        if match is limit:
            pool, team, more, waits, parents, guarantee = match.groups()
            raise_(teams, team, pool, "limit", more)
        else:
            team, pool, parents, guarantee = match.groups()
            waits = None
        above = team
        while guarantee and above is not None:
            raise_(teams, above, pool, "guarantee", guarantee)
            above = teams[above].get("parent") if parents else None
        yield made, team if waits else None


@given(specs())
def test_a_remedy_leads_to_no_other_finding(documents):
    before = found(documents)
    for message, (rule, place) in before.items():
        for made, waits in changed(documents, message):
            note(message)
            after = {*found(made).values()}
            # A team can have the same finding on both pools.
            allowed = {it for other, it in before.items() if other != message}
            if waits:
                names = [it["metadata"]["name"] for it in documents]
                of_team = 2 * names.index(waits) + 1
                allowed |= {("peak-exceeds-limit", of_team), (rule, place)}
            assert after <= allowed


def test_several_models_move_together_if_one_alone_makes_no_room():
    """Five models of 2 GPUs on a pool with 4; the other pool has room for eight GPUs."""
    quotas = [{"pool": "p", "guarantee": 4, "limit": 4}, {"pool": "q", "guarantee": 8, "limit": 8}]
    pools = [
        document(
            "ResourcePool",
            name,
            {
                "nodeSelector": {"pool": name},
                "scheduler": "kueue",
                "gpu": {
                    "product": "NVIDIA-A100-SXM4-40GB",
                    "perNode": 8,
                    "resource": f"x-{name}.com/gpu",
                },
                "capacity": {"totalGPUs": 16, "nodeAllocatable": {"cpu": "96", "memory": "1100Gi"}},
            },
        )
        for name in POOLS
    ]
    team_ = document("Team", "a", {"namespaces": [{"name": "a"}], "quotas": quotas})
    models = [
        document(
            "Model",
            f"m-{i}",
            {"team": "a", "resources": {"gpus": 2}, "placement": {"pools": ["p", "q"]}},
        )
        for i in range(5)
    ]
    documents = [*pools, team_, *models]
    [(message, _)] = found(documents).items()
    assert (
        'write placement.pools: [q] for models "m-0", "m-1" and "m-2", because that pool has room for them'
        in message
    ), message
    made, _ = next(changed(documents, message))
    assert found(made) == {}


def of_volcano(*teams_and_models):
    """Specs with 16 GPUs, whose queues reclaim what exceeds the deserved amount."""
    spec = {
        "nodeSelector": {"pool": "p"},
        "scheduler": "volcano",
        "gpu": {"product": "NVIDIA-A100-SXM4-40GB", "perNode": 8, "resource": "x-p.com/gpu"},
        "capacity": {"totalGPUs": 16, "nodeAllocatable": {"cpu": "96", "memory": "1100Gi"}},
        "schedulingPolicy": {"preemptionEnabled": True},
    }
    made = [document("ResourcePool", "p", spec)]
    for name, quota, models in teams_and_models:
        quotas = [{"pool": "p", **quota}]
        made.append(document("Team", name, {"namespaces": [{"name": name}], "quotas": quotas}))
        for i, fields in enumerate(models):
            model_ = {"team": name, "placement": {"pools": ["p"]}, **fields}
            made.append(document("Model", f"{name}-{i}", model_))
    return made


THREE = {"workload": "batch", "resources": {"gpus": 3}}
GANG = {"workload": "training", "resources": {"gpus": 1}, "gang": {"size": 5}}


def test_a_limit_is_not_raised_if_other_teams_of_volcano_then_deserve_too_little():
    """Team a deserves its limit of 4, so b and c deserve 6 each. With the limit 6, they deserve 5."""
    a, c = ("a", {"limit": 4}, [THREE, THREE]), ("c", {}, [])
    gangs = [{**GANG, "gang": {"size": size}} for size in (6, 5)]
    [(message, (rule, _))] = found(of_volcano(a, ("b", {}, [gangs[0]]), c)).items()
    assert rule == "peak-exceeds-limit"
    assert "raise the limit" not in message
    [message] = found(of_volcano(a, ("b", {}, [gangs[1]]), c))
    assert "raise the limit by 2" in message


def test_a_guarantee_is_not_raised_if_a_model_above_its_limit_then_borrows():
    """Model c-0 needs 12 and can use 6, which team c deserves. With more for a, c deserves 5."""
    serving = {"resources": {"gpus": 3}, "replicas": 4}
    made = of_volcano(
        ("a", {"limit": 11}, [GANG]),
        ("b", {"guarantee": 2, "limit": 6}, []),
        ("c", {"guarantee": 3, "limit": 6}, [serving]),
    )
    by_rule = {rule: message for message, (rule, _) in found(made).items()}
    assert {*by_rule} == {"gang-on-borrowed-gpus", "model-above-limit"}
    assert "raise the guarantee by" not in by_rule["gang-on-borrowed-gpus"]


def test_replicas_are_not_lowered_if_the_model_then_moves_to_another_pool():
    """Two replicas exceed both limits. One fits pool p, but would move to the guarantee on q, which is full."""
    quotas = [
        {"pool": "p", "guarantee": 0, "limit": 4},
        {"pool": "q", "guarantee": 4, "limit": 4},
    ]
    team_ = document("Team", "a", {"namespaces": [{"name": "a"}], "quotas": quotas})
    [p, *_] = of_volcano()
    q = deepcopy(p)
    q["metadata"]["name"] = "q"
    q["spec"] |= {"nodeSelector": {"pool": "q"}, "scheduler": "kueue"}
    q["spec"]["gpu"]["resource"] = "x-q.com/gpu"
    spec = {"team": "a", "resources": {"gpus": 3}}
    serving = document("Model", "m-0", {**spec, "replicas": 2})
    batch = document("Model", "m-1", {**spec, "workload": "batch", "placement": {"pools": ["q"]}})
    [message] = found([p, q, team_, serving, batch])
    assert "lower the model's replicas, or" in message
    one = with_replicas([p, q, team_, serving, batch], "m-0", "replicas", 1)
    assert {rule for rule, _ in found(one).values()} == {"models-exceed-limit"}


def two_pools(scheduler):
    [p, *_] = of_volcano()
    p["spec"]["scheduler"] = scheduler
    q = deepcopy(p)
    q["metadata"]["name"] = "q"
    q["spec"]["nodeSelector"] = {"pool": "q"}
    q["spec"]["gpu"]["resource"] = "x-q.com/gpu"
    return [p, q]


def quotas_of(*amounts):
    fields = ("guarantee", "limit")
    return [
        {"pool": name, **dict(zip(fields, it, strict=False))}
        for name, it in zip(POOLS, amounts, strict=True)
    ]


def test_a_limit_is_not_raised_if_models_of_child_teams_then_move_to_the_pool():
    """Model m-0 needs 15. It runs on pool q, because team all has only 13 on p."""
    teams = [
        document("Team", "all", {"quotas": quotas_of((11, 13), (11, 16))}),
        document(
            "Team",
            "a",
            {"namespaces": [{"name": "a"}], "quotas": quotas_of((0,), (0,)), "parent": "all"},
        ),
        document(
            "Team",
            "b",
            {"namespaces": [{"name": "b"}], "quotas": quotas_of((1,), (3, 9)), "parent": "all"},
        ),
    ]
    models = [
        ("a", {"resources": {"gpus": 3}, "autoscaling": {"minReplicas": 5, "maxReplicas": 6}}),
        (
            "a",
            {
                "resources": {"gpus": 2},
                "placement": {"pools": ["p"]},
                "autoscaling": {"minReplicas": 2, "maxReplicas": 6},
            },
        ),
        ("b", {**GANG, "gang": {"size": 4}, "placement": {"pools": ["p"]}}),
    ]
    documents = [
        *two_pools("volcano"),
        *teams,
        *(
            document("Model", f"m-{i}", {"team": team_, **it})
            for i, (team_, it) in enumerate(models)
        ),
    ]
    [message] = [it for it, (rule, _) in found(documents).items() if rule == "peak-exceeds-limit"]
    assert '"all" and its child teams on pool "p"' in message
    assert "raise the limit" not in message


def test_models_are_not_moved_if_cpu_is_then_reported_instead_of_gpus():
    """The GPUs of pool p are too few for all gangs and replicas, so its cpu is not reported yet."""
    teams = [
        document("Team", "a", {"namespaces": [{"name": "a"}], "quotas": quotas_of((1,), (4, 7))}),
        document("Team", "b", {"namespaces": [{"name": "b"}], "quotas": quotas_of((5,), (4,))}),
    ]
    models = [
        ("a", {"resources": {"gpus": 2}, "placement": {"pools": ["p", "q"]}, "replicas": 1}),
        (
            "a",
            {
                "resources": {"gpus": 1, "cpu": 21},
                "placement": {"pools": ["p"]},
                "workload": "training",
                "gang": {"size": 4},
            },
        ),
        ("b", {"resources": {"gpus": 2}, "autoscaling": {"minReplicas": 3, "maxReplicas": 4}}),
        ("b", {"resources": {"gpus": 2, "cpu": 23}, "workload": "training", "gang": {"size": 5}}),
        ("b", THREE),
    ]
    documents = [
        *two_pools("kube-scheduler"),
        *teams,
        *(
            document("Model", f"m-{i}", {"team": team_, **it})
            for i, (team_, it) in enumerate(models)
        ),
    ]
    [message] = [it for it, (rule, _) in found(documents).items() if rule == "peak-exceeds-limit"]
    assert "placement.pools" not in message
