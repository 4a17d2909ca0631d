"""Properties of where models run, and of their sums, in every valid spec."""

import re
from collections import Counter
from copy import deepcopy

from hypothesis import given, settings
from hypothesis import strategies as st

from policygen.hardware import sizing
from policygen.plan.fit import Replica
from tests.properties.test_plan import FEW, accepted
from tests.strategies import specs

API = "policygen.dev/v1alpha1"
PRODUCTS = ("NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-40GB", "NVIDIA-L4")
SUMS = {"models-exceed-limit", "peak-exceeds-limit"}


def document(kind, name, spec):
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": spec}


def pool(draw, index):
    """Two nodes with eight GPUs."""
    scheduler = draw(st.sampled_from(("kueue", "kueue", "volcano")))
    gpu = {"product": draw(st.sampled_from(PRODUCTS)), "perNode": 8}
    policy = {"preemptionEnabled": draw(st.booleans())}
    if scheduler == "volcano":
        gpu["resource"], policy = f"example.com/gpu{index}", {}
    spec = {
        "nodeSelector": {"pool": f"p{index}"},
        "gpu": gpu,
        "capacity": {"nodes": 2, "nodeAllocatable": {"cpu": "96", "memory": "1100Gi"}},
        "scheduler": scheduler,
        "schedulingPolicy": policy,
    }
    return document("ResourcePool", f"p{index}", spec)


def team(draw, index, pools, *, below):
    quotas = []
    for name in draw(st.lists(st.sampled_from(pools), min_size=1, unique=True)):
        guarantee = draw(st.integers(0, 2))
        quota = {"pool": name, "guarantee": guarantee}
        if draw(st.booleans()):
            quota["limit"] = draw(st.integers(max(guarantee, 1), 8))
        quotas.append(quota)
    spec = {"namespaces": [{"name": f"t{index}"}], "quotas": quotas}
    if below:
        spec["parent"] = "all"
    return document("Team", f"t{index}", spec)


def model(draw, index, teams):
    workload = draw(st.sampled_from(("serving", "serving", "training", "batch")))
    spec = {"team": draw(st.sampled_from(teams)), "workload": workload}
    gpus = {"gpus": draw(st.integers(1, 4))}
    spec["resources"] = draw(
        st.sampled_from((gpus, {"gpuMemory": f"{draw(st.integers(4, 90))}Gi"}))
    )
    least = draw(st.integers(1, 4))
    if workload == "serving" and draw(st.booleans()):
        most = least + draw(st.integers(0, 4))
        spec["autoscaling"] = {"minReplicas": least, "maxReplicas": most}
    else:
        spec["replicas"] = least
        if draw(st.integers(0, 3)) == 0:
            spec["gang"] = {"size": draw(st.integers(2, 4))}
    return document("Model", f"m{index}", spec)


@st.composite
def crowds(draw):
    """Specs with few GPUs and many models, so that pools compete and sums exceed."""
    pools = [pool(draw, index) for index in range(draw(st.integers(1, 3)))]
    names = [it["metadata"]["name"] for it in pools]
    nested = draw(st.booleans())
    quotas = [{"pool": name, "guarantee": 8, "limit": 8} for name in names]
    parents = [document("Team", "all", {"quotas": quotas})] if nested else []
    teams = [
        team(draw, index, names, below=nested and (index == 0 or draw(st.booleans())))
        for index in range(draw(st.integers(1, 4)))
    ]
    leaves = [it["metadata"]["name"] for it in teams]
    models = [model(draw, index, leaves) for index in range(draw(st.integers(1, 8)))]
    return [*pools, *parents, *teams, *models]


def places(plan):
    """The pools, size and criterion of each model."""
    return {
        it.model.name: (
            [facts.name for option in it.options for facts in option.pools],
            [option.size.units for option in it.options],
            it.criterion,
        )
        for it in plan.workloads.placements
    }


def other(documents, kind):
    return [it for it in documents if it["kind"] != kind]


@FEW
@given(st.one_of(specs(), crowds()), st.randoms(use_true_random=False))
def test_the_order_of_documents_has_no_effect(documents, order):
    first = accepted(documents)
    shuffled = list(documents)
    order.shuffle(shuffled)
    second = accepted(shuffled)
    assert places(first) == places(second)
    hits = [
        Counter((hit.rule.name, hit.message) for hit in plan.hits if hit.rule.name in SUMS)
        for plan in (first, second)
    ]
    assert hits[0] == hits[1]


@FEW
@given(st.one_of(specs(), crowds()))
def test_a_model_runs_on_the_same_pool_without_the_other_models(documents):
    together = places(accepted(documents))
    models = [it for it in documents if it["kind"] == "Model"]
    for model in models[:4]:
        alone = places(accepted([*other(documents, "Model"), model]))
        assert alone.items() <= together.items()


def amount(model):
    """Replicas that must run, at least one; and pods of one gang."""
    pods = model.gang.size if model.gang else 1
    replicas = model.replicas or 1
    if model.workload == "batch" or (model.gang and model.workload != "serving"):
        replicas = 1
    if model.gang is None and model.autoscaling:
        replicas = max(1, model.autoscaling.min_replicas)
    return replicas * pods, pods


def covered(option, bound):
    """Whether the bound of a team covers the units of a model's minimum on one pool."""
    least, _ = amount(option.model)
    node, facts = option.node, option.facts
    return (
        node is None or least * option.size.units <= bound(node)[facts.name][option.size.resource]
    )


def unused(option):
    """GPU memory of a replica that stays unused; None if unknown."""
    facts = option.facts
    workload = Replica(option.model, {}).workload
    if facts.pool.gpu.sharing != "none" or facts.memory_bytes is None or workload is None:
        return None
    need = sizing.needed_bytes(workload, option.size.units)
    return None if need is None else facts.memory_bytes * option.size.units - need


@FEW
@given(crowds())
def test_no_other_pool_is_better_in_all_ways(documents):
    for it in accepted(documents).workloads.placements:
        model = it.model
        single = all(len(option.pools) == 1 and not option.pinned for option in it.options)
        hosts = model.cpu_milli or model.memory_bytes or model.gang
        wished = model.placement.pools or model.placement.node_types
        if len(it.options) < 2 or not single or hosts or wished:
            continue
        if any(option.facts.scheduler == "kube-scheduler" for option in it.options):
            continue  # each namespace has a part of the limit
        chosen, *rest = it.options
        for option in rest:
            classes = [
                (covered(each, lambda node: node.limit), covered(each, lambda node: node.guarantee))
                for each in (chosen, option)
            ]
            assert classes[0] >= classes[1]
            wastes = unused(chosen), unused(option)
            if classes[0] == classes[1] and None not in wastes and min(wastes) >= 0:
                assert wastes[0] <= wastes[1]


class Recount:
    """What serving models need on one pool, from the plan's choices and the documents alone."""

    def __init__(self, documents, plan, pool):
        self.teams = {
            it["metadata"]["name"]: it["spec"] for it in documents if it["kind"] == "Team"
        }
        self.pool, self.whole = pool, 16
        lends = {
            it["metadata"]["name"]: it["spec"]["schedulingPolicy"]
            for it in documents
            if it["kind"] == "ResourcePool"
        }
        self.lends = lends[pool].get("preemptionEnabled", True)
        self.always = Counter()
        self.partial = Counter()
        self.starts = {}
        for it in plan.workloads.assignments:
            if it.facts.name == pool:
                least, _ = amount(it.model)
                need = least * it.size.units
                limit = self.limit(it.model.team)
                if need <= limit:
                    serving = it.model.workload == "serving"
                    self.always[it.model.team] += need if serving else 0
                    if not serving:
                        self.starts.setdefault(it.model.team, []).append(need)
                elif it.model.workload == "serving":
                    pods = it.model.gang.size if it.model.gang else 1
                    self.partial[it.model.team] += limit - limit % (it.size.units * pods)

    def quota(self, team):
        return next((it for it in self.teams[team]["quotas"] if it["pool"] == self.pool), None)

    def limit(self, team):
        quota, parent = self.quota(team), self.teams[team].get("parent")
        return quota.get("limit", self.limit(parent) if parent else self.whole)

    def walk(self, team):
        """What a team uses at one time at most, what its largest job adds, and the teams with a fault.

        Last: the largest job that the team has no room for beside its own models. It is a fault of a
        team above, too, if other teams leave no room for it.
        """
        children = [
            name
            for name, spec in self.teams.items()
            if spec.get("parent") == team and self.quota(name)
        ]
        below = [self.walk(name) for name in children]
        always = self.always[team] + sum(it[0] for it in below)
        starts = [*self.starts.get(team, []), *(it[1] for it in below)]
        limit = self.limit(team) if team else self.whole
        faults = {name for it in below for name in it[2]}
        if always > limit or any(start and always + start > limit for start in starts):
            faults.add(team)
        if any(blocked and always - used + blocked > limit for used, _, _, blocked in below):
            faults.add(team)
        blocked = [it[3] for it in below] + [it for it in starts if limit - always < it <= limit]
        start = max((it for it in starts if always + it <= limit), default=0)
        # Models above the limit alone are no fault of their team, but use what fits.
        used = min(always + self.partial[team], limit)
        start = max(0, min(always, limit) + start - used)
        held = self.quota(team)["guarantee"] if team and not self.lends else 0
        added = max(0, used + start - max(used, held))
        return max(used, held), added, faults, min(max(blocked, default=0), limit)


@settings(FEW, max_examples=300)
@given(crowds())
def test_sums_equal_an_independent_count(documents):
    """Models that cannot run together are reported for exactly the teams and pools that a recount finds."""
    plan = accepted(documents)
    reported = set()
    for hit in plan.hits:
        if hit.rule.name == "models-exceed-limit":
            words = hit.message.split('"')
            team = None if hit.message.startswith("the models of all teams") else words[1]
            reported.add((words[1] if team is None else words[3], team))
    expected = set()
    for it in documents:
        if it["kind"] == "ResourcePool":
            pool = it["metadata"]["name"]
            expected |= {(pool, team) for team in Recount(documents, plan, pool).walk(None)[2]}
    assert reported == expected


TOGETHER = {"models-exceed-limit", "serving-on-borrowed-gpus", "model-above-limit"}


def faults(plan):
    """The rule, team and pool of each warning about quotas and models."""
    found = Counter()
    for hit in plan.hits:
        if hit.rule.name in TOGETHER:
            team = re.search(r'team "([^"]*)"', hit.message)
            pool = re.search(r'pool "([^"]*)"', hit.message)
            found[hit.rule.name, team and team[1], pool[1]] += 1
    return found


def chosen(plan):
    return {it.model.name: it.facts.name for it in plan.workloads.assignments}


def changed(documents, name, change):
    """The documents after a change of the spec of one of them."""
    copies = deepcopy(documents)
    change(next(it["spec"] for it in copies if it["metadata"]["name"] == name))
    return copies


@settings(FEW, max_examples=200)
@given(crowds())
def test_a_remedy_with_a_pool_or_a_number_is_true(documents):
    """After the change, its finding is gone, and no pool has a new one."""
    plan = accepted(documents)
    before = faults(plan)
    for hit in plan.hits:
        if hit.rule.name not in TOGETHER:
            continue
        if move := re.search(r'placement.pools: \[(.*)\] for model "([^"]*)"', hit.message):
            pool, name = move[1], move[2]

            def moved(spec, pool=pool):
                spec["placement"] = {"pools": [pool]}

            after = faults(accepted(changed(documents, name, moved)))
            assert sum(after.values()) < sum(before.values())
            assert after <= before
        if raised := re.search(r"raise the (limit|guarantee) by (\d+) ", hit.message):
            team = re.search(r'team "([^"]*)"', hit.message)[1]
            pool = re.search(r'pool "([^"]*)"', hit.message)[1]

            def more(spec, pool=pool, field=raised[1], number=int(raised[2])):
                quota = next(it for it in spec["quotas"] if it["pool"] == pool)
                quota[field] += number

            after = accepted(changed(documents, team, more))
            if chosen(after) == chosen(plan):  # a higher quota can attract other models
                assert (hit.rule.name, team, pool) not in faults(after)


def test_the_drawn_specs_have_choices_and_sums():
    """The properties above would hold for specs without models, too."""
    seen = Counter()

    @FEW
    @given(crowds())
    def draw(documents):
        plan = accepted(documents)
        seen["choice"] += any(len(it.options) > 1 for it in plan.workloads.placements)
        seen.update({hit.rule.name for hit in plan.hits if hit.rule.name in SUMS})

    draw()
    assert min(seen[it] for it in ("choice", *SUMS)) > 2, seen
