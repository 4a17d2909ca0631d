"""Properties of every valid spec: specs are drawn, compiled, and checked against servers' rules."""

import json
import re
from bisect import bisect_left
from collections import defaultdict
from copy import deepcopy
from fractions import Fraction
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from policygen.core import quantity
from policygen.core.rule import Severity
from policygen.documents.files import Source
from policygen.plan.amounts import apportion, text
from policygen.plan.catalog import KINDS
from policygen.plan.compile import compile_plan
from policygen.spec.load import load
from tests.strategies import SCHEDULERS, articles, specs

MI = 1 << 20
EXAMPLES = 100
FEW = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
MANY = settings(FEW, max_examples=200)

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
SUBDOMAIN = re.compile(rf"{LABEL.pattern}(\.{LABEL.pattern})*")


def compiled(documents):
    """The plan of a spec, or None where it is refused."""
    texts = "\n---\n".join(json.dumps(each, ensure_ascii=False) for each in documents)
    loaded = load([Source("spec.yaml", texts, None)])
    if loaded.refused:
        return None, [finding for finding in loaded.findings if finding.severity == Severity.ERROR]
    plan = compile_plan(loaded.spec)
    return plan, [hit for hit in plan.hits if hit.rule.severity == Severity.ERROR]


def accepted(documents):
    plan, errors = compiled(documents)
    assert [(error.rule.name, error.message) for error in errors] == []
    return plan


def of(plan, kind):
    return [item.fields for item in plan.items if item.kind.name == kind]


def number(amount):
    return quantity.parse(amount).value


def documents_of(documents, kind):
    return {each["metadata"]["name"]: each["spec"] for each in documents if each["kind"] == kind}


class Oracle:
    """Guarantees, limits and available amounts, computed from the documents alone.

    Amounts are by resource, as docs/semantics.md defines them: cpu in thousandths, memory in bytes.
    """

    def __init__(self, documents):
        self.pools = documents_of(documents, "ResourcePool")
        self.teams = documents_of(documents, "Team")
        platforms = list(documents_of(documents, "Platform").values())
        self.platform = platforms[0] if platforms else {}

    def scheduler(self, pool):
        return self.pools[pool].get(
            "scheduler", self.platform.get("defaults", {}).get("scheduler", "kueue")
        )

    def policy(self, pool, field, *, default):
        wider = self.platform.get("defaults", {}).get("schedulingPolicy", {})
        return self.pools[pool].get("schedulingPolicy", {}).get(field, wider.get(field, default))

    def ratio(self, pool):
        return self.pools[pool].get("schedulingPolicy", {}).get("overcommitRatio")

    def cards(self, pool):
        gpu, capacity = self.pools[pool].get("gpu", {}), self.pools[pool]["capacity"]
        cards = capacity.get("availableGPUs", capacity.get("totalGPUs"))
        return capacity["nodes"] * gpu["perNode"] if cards is None else cards

    def instances(self, pool):
        """MIG instances by profile; None if the pool has no MIG."""
        gpu = self.pools[pool].get("gpu", {})
        return gpu["mig"]["instances"] if gpu.get("sharing") == "mig" else None

    def by_profile(self, pool):
        mig = self.pools[pool].get("gpu", {}).get("mig", {})
        return self.instances(pool) is not None and mig.get("strategy", "mixed") == "mixed"

    def resource(self, pool, profile):
        name = self.pools[pool].get("gpu", {}).get("resource", "nvidia.com/gpu")
        if not self.by_profile(pool):
            return name
        return f"{name.partition('/')[0]}/mig-{profile.replace('+', '.')}"

    def units(self, pool):
        """Available units by resource."""
        instances = self.instances(pool)
        if instances is None:
            replicas = self.pools[pool].get("gpu", {}).get("replicas", 1)
            return {self.resource(pool, ""): self.cards(pool) * replicas}
        return {self.resource(pool, profile): count for profile, count in instances.items()}

    def slices(self, pool, units):
        """How many slices of the nodes belong to these units."""
        of = {self.resource(pool, profile): profile for profile in self.instances(pool) or ("1g",)}
        return sum(count * int(of[name].partition("g")[0]) for name, count in units.items())

    def host(self, pool):
        """Cpu and memory of the available cards; empty if they come from a data file."""
        node = self.pools[pool]["capacity"].get("nodeAllocatable")
        if node is None:
            return {}
        cards, per_node = self.cards(pool), self.pools[pool]["gpu"]["perNode"]
        memory = quantity.memory_bytes(node["memory"]) * cards // per_node
        return {
            "cpu": quantity.cpu_milli(node["cpu"]) * cards // per_node,
            "memory": memory // MI * MI,
        }

    def available(self, pool):
        return self.units(pool) | self.host(pool)

    def along(self, pool, units):
        """Units, with their proportional share of cpu and memory."""
        part = Fraction(self.slices(pool, units), self.slices(pool, self.units(pool)))
        host = self.host(pool)
        steps = {"cpu": 1, "memory": MI}
        return units | {key: int(host[key] // steps[key] * part) * steps[key] for key in host}

    def quota(self, team, pool):
        for quota in self.teams[team].get("quotas", ()):
            if quota["pool"] == pool:
                return quota
        return None

    def explicit(self, team, pool, word):
        """The amounts that a quota sets itself in its guarantee or limit."""
        quota = self.quota(team, pool) or {}
        amounts = quota.get(word, {})
        amounts = amounts if isinstance(amounts, dict) else {"": amounts}
        units = {self.resource(pool, profile): count for profile, count in amounts.items()}
        host = {}
        if word in quota.get("cpu", {}):
            host["cpu"] = quantity.cpu_milli(quota["cpu"][word])
        if word in quota.get("memory", {}):
            host["memory"] = quantity.memory_bytes(quota["memory"][word])
        return units, host if self.host(pool) else {}

    def guarantee(self, team, pool):
        units, host = self.explicit(team, pool, "guarantee")
        return self.along(pool, dict.fromkeys(self.units(pool), 0) | units) | host

    def limit(self, team, pool):
        """None if an overcommit ratio decides the limit; zeros for a pool without a quota."""
        if self.quota(team, pool) is None:
            return dict.fromkeys(self.available(pool), 0)
        parent = self.teams[team].get("parent")
        wider = self.limit(parent, pool) if parent else self.available(pool)
        units, host = self.explicit(team, pool, "limit")
        if wider is None or (
            self.ratio(pool) and not parent and len(units) < len(self.units(pool))
        ):
            return None
        if not units:
            return wider | host
        whole = {name: wider[name] for name in self.units(pool)} | units
        along = self.along(pool, whole)
        return {name: min(along[name], wider[name]) for name in self.host(pool)} | whole | host


# --- every spec ------------------------------------------------------------------------------


@MANY
@given(specs())
def test_every_valid_spec_has_a_plan_with_sound_names_and_order(documents):
    plan = accepted(documents)
    check_ratios(plan)
    identities = [(item.kind.name, item.meta.namespace, item.meta.name) for item in plan.items]
    assert len(set(identities)) == len(identities)
    ranks = [KINDS.index(item.kind) for item in plan.items]
    assert ranks == sorted(ranks)
    for item in plan.items:
        assert SUBDOMAIN.fullmatch(item.meta.name), item.meta.name
        assert len(item.meta.name) <= 63
        assert LABEL.fullmatch(item.meta.set), item.meta.set
        assert len(item.meta.set) <= 63
        if item.meta.namespace is not None:
            assert LABEL.fullmatch(item.meta.namespace)
            assert len(item.meta.namespace) <= 63


@st.composite
def shuffled(draw):
    """A spec, and the same spec with all lists reordered whose order has no meaning."""
    documents = draw(specs())
    random = draw(st.randoms(use_true_random=False))

    def mixed(value):
        if isinstance(value, dict):
            items = [(key, mixed(entry)) for key, entry in value.items()]
            random.shuffle(items)
            return dict(items)
        return [mixed(entry) for entry in value] if isinstance(value, list) else value

    other = [mixed(each) for each in documents]
    for each in other:
        for field in ("quotas", "priorities", "sharedQueues"):
            random.shuffle(each["spec"].get(field, []))
    random.shuffle(other)
    return documents, other


@FEW
@given(shuffled())
def test_order_without_meaning_does_not_show(pair):
    first, second = (accepted(documents) for documents in pair)
    assert first.items == second.items
    assert repr(first.items) == repr(second.items)
    assert first.files == second.files
    assert sorted((hit.rule.name, hit.message) for hit in first.hits) == sorted(
        (hit.rule.name, hit.message) for hit in second.hits
    )


# --- Kueue -----------------------------------------------------------------------------------


def cells(it):
    return {
        (flavor.name, cell.resource): cell for flavor in it.flavors for cell in flavor.resources
    }


class Cohorts:
    """The tree of one queue, from the rendered objects alone."""

    def __init__(self, plan, queue):
        nodes = {f"Cohort {it.meta.name}": it for it in of(plan, "Cohort")}
        nodes |= {f"ClusterQueue {it.meta.name}": it for it in of(plan, "ClusterQueue")}
        below = defaultdict(list)
        for name, it in nodes.items():
            above = it.parent if name.startswith("Cohort") else it.cohort
            if above is not None:
                assert f"Cohort {above}" in nodes, f"{name} is below {above}, which is not there"
                below[f"Cohort {above}"].append(name)
        self.root = f"Cohort {queue}"
        self.below = below
        self.nodes = {name: nodes[name] for name in self.subtree(self.root)}
        self.cells = {name: cells(it) for name, it in self.nodes.items()}

    def subtree(self, name):
        return [name, *(each for child in self.below[name] for each in self.subtree(child))]

    def quota(self, name, key):
        """The sum of the subtree's own quotas, as Kueue computes it."""
        return sum(number(self.cells[each][key].nominal_quota) for each in self.subtree(name))

    def limit(self, name, key):
        return self.quota(name, key) + number(self.cells[name][key].borrowing_limit)


def check_kueue(plan, documents):
    oracle = Oracle(documents)
    release = tuple(map(int, version_of(documents, "kueue", "0.19").split(".")[:2]))
    bound = 16 if release < (0, 14) else 64
    flavors = {it.meta.name: it for it in of(plan, "ResourceFlavor")}
    for it in flavors.values():
        assert 1 <= len(it.node_labels) <= 8
        assert len(it.node_taints) <= 8
        assert len(it.tolerations) <= 8
        for toleration in it.tolerations:
            exists = toleration.get("operator") == "Exists"
            assert exists or "key" in toleration
            assert not (exists and "value" in toleration)
            assert "tolerationSeconds" not in toleration or toleration["effect"] == "NoExecute"
    topologies = {it.meta.name: it for it in of(plan, "Topology")}
    for it in topologies.values():
        assert 1 <= len(it.levels) <= 16
        assert len(set(it.levels)) == len(it.levels)
        assert "kubernetes.io/hostname" not in it.levels[:-1]
    assert {it.topology_name for it in flavors.values()} - {None} == set(topologies)
    seen = set()
    for tree in plan.trees:
        if tree.scheduler != "kueue":
            continue
        cohorts = Cohorts(plan, tree.queue)
        seen |= set(cohorts.nodes)
        check_group(cohorts, flavors, bound)
        check_amounts(cohorts, tree, oracle)
    made = {f"Cohort {it.meta.name}" for it in of(plan, "Cohort")}
    made |= {f"ClusterQueue {it.meta.name}" for it in of(plan, "ClusterQueue")}
    assert made == seen
    check_doors(plan, oracle)


def check_group(cohorts, flavors, bound):
    """The API's rules for resource groups: CQ04 to CQ18, CO03 and H13 of the reference."""
    [names] = {tuple(flavor.name for flavor in it.flavors) for it in cohorts.nodes.values()}
    [covered] = {it.covered_resources for it in cohorts.nodes.values()}
    assert set(names) <= set(flavors)
    assert len(set(names)) == len(names) <= bound
    assert len(set(covered)) == len(covered) <= bound
    assert len(names) * len(covered) <= 512
    for name, it in cohorts.nodes.items():
        for flavor in it.flavors:
            assert tuple(cell.resource for cell in flavor.resources) == covered
        for cell in cohorts.cells[name].values():
            amounts = (cell.nominal_quota, cell.borrowing_limit, cell.lending_limit)
            assert all(number(amount) >= 0 for amount in amounts if amount is not None)
            if name == cohorts.root:
                assert cell.borrowing_limit is cell.lending_limit is None
            else:
                assert cell.borrowing_limit is not None
            if name.startswith("ClusterQueue") and cell.lending_limit is not None:
                assert number(cell.lending_limit) <= number(cell.nominal_quota)
        if name.startswith("ClusterQueue"):
            assert it.namespaces, f"{name} admits no namespace, and an empty list is refused"
        assert (it.weight is None) == (name == cohorts.root)


def check_amounts(cohorts, tree, oracle):
    """Quotas sum to the pool; guarantee and limit are those of the documents."""
    for facts in tree.pools:
        available = oracle.available(facts.name)
        assert {key: facts.available[key] for key in available} == available
        assert set(facts.available) == {"cpu", "memory", *oracle.units(facts.name)}
        for resource in facts.keys:
            key = (facts.name, resource)
            whole = number(text(resource, facts.available[resource]))
            assert cohorts.quota(cohorts.root, key) == whole
            check_subtree(cohorts, cohorts.root, key, whole)
        check_preemption(cohorts, oracle.policy(facts.name, "preemptionEnabled", default=True))
        for name in cohorts.nodes:
            team = name.partition(" ")[2].removesuffix(f".{tree.queue}")
            if name == cohorts.root or team.endswith(".own"):
                continue
            limit = oracle.limit(team, facts.name)
            for resource, amount in oracle.guarantee(team, facts.name).items():
                key = (facts.name, resource)
                assert cohorts.quota(name, key) == number(text(resource, amount))
                if limit is not None:
                    assert cohorts.limit(name, key) == number(text(resource, limit[resource]))


def check_preemption(cohorts, preempts):
    """Quota that cannot be reclaimed is not lent."""
    for name, it in cohorts.nodes.items():
        lending = {cell.lending_limit for cell in cohorts.cells[name].values()}
        if name != cohorts.root:
            assert lending == ({None} if preempts else {"0"})
        if name.startswith("ClusterQueue"):
            assert it.reclaim_within_cohort == ("Any" if preempts else "Never")
            assert it.within_cluster_queue == ("LowerPriority" if preempts else "Never")


def check_ratios(plan):
    """Σ of the root teams' limits ≤ available × overcommitRatio, cpu and memory too."""
    for tree in plan.trees:
        for facts in tree.pools:
            limits = [node.limit[facts.name] for node in tree.nodes if node.parent is None]
            for key in facts.keys if facts.policy.overcommit_ratio is not None else ():
                bound = facts.available[key] * facts.policy.overcommit_ratio
                assert sum(limit[key] for limit in limits) <= bound


def check_subtree(cohorts, name, key, wider):
    """Σ of the members' guarantees ≤ that of their parent; no limit above the parent's."""
    parts = [cohorts.quota(child, key) for child in cohorts.below[name]]
    assert sum(parts) <= cohorts.quota(name, key)
    for child in cohorts.below[name]:
        limit = cohorts.limit(child, key)
        assert limit <= wider
        check_subtree(cohorts, child, key, limit)


def check_doors(plan, oracle):
    """One LocalQueue per namespace and queue, to a ClusterQueue that admits the namespace."""
    queues = {it.meta.name: it for it in of(plan, "ClusterQueue")}
    opened = set()
    for it in of(plan, "LocalQueue"):
        assert it.meta.namespace in queues[it.cluster_queue].namespaces
        opened.add((it.cluster_queue, it.meta.namespace))
    assert opened == {
        (name, namespace) for name, it in queues.items() for namespace in it.namespaces
    }
    for team, spec in oracle.teams.items():
        for quota in spec.get("quotas", ()):
            if oracle.scheduler(quota["pool"]) != "kueue":
                continue
            for namespace in spec.get("namespaces", ()):
                assert [
                    it
                    for it in queues.values()
                    if namespace["name"] in it.namespaces
                    and quota["pool"] in {flavor.name for flavor in it.flavors}
                ], (team, quota["pool"])


def version_of(documents, component, default):
    for spec in documents_of(documents, "Platform").values():
        return spec.get("target", {}).get(component, default).removeprefix("v")
    return default


@MANY
@given(specs(schedulers=("kueue",)))
def test_kueue_trees_sum_to_their_pools_and_obey_the_api(documents):
    check_kueue(accepted(documents), documents)


# --- Volcano ---------------------------------------------------------------------------------

NOTHING = Fraction(0)


class Webhook:
    """Volcano's queue webhook: rules Q1 to Q10 for queues that are created one after another.

    Source: `pkg/webhooks/admission/queues/validate/validate_queue.go` of the release tags.
    """

    def __init__(self, release):
        self.release = release
        self.queues = {}

    def create(self, it):
        """The reasons why a queue is refused; adds the queue to the cluster."""
        self.queues[it.meta.name] = it
        return [*self._own(it), *self._parent(it), *self._tree(it)]

    def _own(self, it):
        vectors = {"capability": it.capability, "deserved": it.deserved, "guarantee": it.guarantee}
        values = {
            name: {key: number(amount) for key, amount in vector.items()}
            for name, vector in vectors.items()
        }
        capability, deserved, guarantee = values.values()
        if self.release >= (1, 14):
            for name, vector in values.items():
                for key, amount in vector.items():
                    if amount < 0 or ("/" in key and amount.denominator != 1):
                        yield f"Q1 {name} {key}"
        if (1, 13) <= self.release < (1, 14, 2):
            if capability:
                yield from _above("Q5b deserved", deserved, capability)
                yield from _above("Q5b guarantee", guarantee, capability)
            if guarantee and (deserved or self.release >= (1, 14)):
                yield from _above("Q5b guarantee, deserved", guarantee, deserved)
        if self.release >= (1, 14, 2):
            yield from (f"Q5c {key}" for key in guarantee if key not in deserved)
            yield from _above("Q5c guarantee, deserved", guarantee, deserved)
            named = {key: amount for key, amount in deserved.items() if key in capability}
            yield from _above("Q5c deserved", named, capability)

    def _parent(self, it):
        if it.parent in (None, "root"):
            return
        if it.parent not in self.queues:
            yield "Q6 no parent"
            return
        depth, step = 1, it.parent
        while step not in (None, "root"):
            depth += 1
            step = self.queues[step].parent
        if depth > 5 and self.release >= (1, 14, 2):
            yield f"Q6 depth {depth}"

    def _tree(self, it):
        if self.release < (1, 14) or it.parent not in self.queues:
            return
        siblings = [each for each in self.queues.values() if each.parent == it.parent]
        parent = self.queues[it.parent]
        for key, amount in it.capability.items():
            up = self._ancestor(it, key)
            if up is not None and number(amount) > up:
                yield f"Q8 {key}"
        for field in ("guarantee", "deserved"):
            limits = getattr(parent, field)
            if not limits and self.release < (1, 14, 2):
                limits = parent.capability
            sums = defaultdict(Fraction)
            for each in siblings:
                for key, amount in getattr(each, field).items():
                    sums[key] += number(amount)
            bounds = {key: number(amount) for key, amount in limits.items()}
            yield from _above(f"Q9 {field}", sums, bounds)
        # Q10 checks for the parent what Q8 checks for the child, since parents come first.

    def _ancestor(self, it, key):
        """The bound on a capability: the parent's, from 1.14.2 on the nearest above 0."""
        if self.release < (1, 14, 2):
            return number(self.queues[it.parent].capability.get(key, "0"))
        step = it.parent
        while step is not None:
            found = number(self.queues[step].capability.get(key, "0"))
            if found > 0:
                return found
            step = self.queues[step].parent
        return None


def _above(rule, vector, bounds):
    return [f"{rule} {key}" for key, amount in vector.items() if amount > bounds.get(key, NOTHING)]


RELEASES = ((1, 12), (1, 13), (1, 14), (1, 14, 1), (1, 14, 2), (1, 15))


def check_volcano(plan, documents):
    oracle = Oracle(documents)
    queues = of(plan, "Queue")
    for release in RELEASES:
        webhook = Webhook(release)
        assert [why for it in queues for why in webhook.create(it)] == []
    by_name = {it.meta.name: it for it in queues}
    assert not {"root", "default"} & (set(by_name) | {it.parent for it in queues})
    keys = {tuple(it.capability) for it in queues} | {tuple(it.deserved) for it in queues}
    assert len(keys) <= 1
    trees = [tree for tree in plan.trees if tree.scheduler == "volcano"]
    assert {it.meta.name for it in queues if it.parent is None} == {tree.queue for tree in trees}
    for tree in trees:
        [facts] = tree.pools
        preempts = oracle.policy(facts.name, "preemptionEnabled", default=True)
        whole = dict.fromkeys(by_name[tree.queue].capability, "0")
        whole |= {key: text(key, amount) for key, amount in facts.available.items()}
        assert by_name[tree.queue].deserved == by_name[tree.queue].capability == whole
        available = oracle.available(facts.name)
        assert {key: facts.available[key] for key in available} == available
        for node in tree.nodes:
            it = by_name[f"{node.name}.{tree.queue}"]
            assert it.reclaimable == preempts
            assert bool(it.guarantee) == (not preempts)
            if node.name.endswith(".own"):
                continue
            limit = oracle.limit(node.name, facts.name)
            for resource, amount in oracle.guarantee(node.name, facts.name).items():
                assert number(it.deserved[resource]) >= number(text(resource, amount))
                if not preempts:
                    assert it.guarantee[resource] == text(resource, amount)
                if limit is not None:
                    assert it.capability[resource] == text(resource, limit[resource])
        check_deserved(tree, facts, by_name)
    for group in of(plan, "PodGroup"):
        assert group.queue in by_name
        assert group.queue not in {it.parent for it in queues}
        assert group.min_member >= 1


def check_deserved(tree, facts, queues):
    """Amounts beyond all guarantees are divided to the last unit, unless limits prevent it."""
    for above in (None, *(node.name for node in tree.nodes)):
        nodes = [node for node in tree.nodes if node.parent == above]
        parent = queues[tree.queue if above is None else f"{above}.{tree.queue}"]
        for resource in facts.resources if nodes else ():
            given = [
                number(queues[f"{node.name}.{tree.queue}"].deserved[resource]) for node in nodes
            ]
            limits = [node.limit[facts.name][resource] for node in nodes]
            assert sum(given) == min(number(parent.deserved[resource]), sum(limits))
            shares = water_filled(
                int(number(parent.deserved[resource]))
                - sum(node.guarantee[facts.name][resource] for node in nodes),
                [node.weight for node in nodes],
                [0 for _ in nodes],
                [
                    node.limit[facts.name][resource] - node.guarantee[facts.name][resource]
                    for node in nodes
                ],
            )
            guaranteed = [node.guarantee[facts.name][resource] for node in nodes]
            assert given == [a + b for a, b in zip(guaranteed, shares, strict=True)]


@MANY
@given(specs(schedulers=("volcano",)))
def test_volcano_trees_pass_the_webhook_of_every_release(documents):
    check_volcano(accepted(documents), documents)


def test_the_webhook_can_refuse(planned, pool, team):
    """Each rule of the checker above refuses what it is made for."""
    done = planned(pool(scheduler="volcano"), team("a", "guarantee: 8, limit: 16"))
    root, it = done.of("Queue").values()

    def refused(release, changed, above=root):
        webhook = Webhook(release)
        webhook.create(above)
        return {why.split()[0] for why in webhook.create(changed)}

    gpu = "nvidia.com/gpu"
    over = replace(it, deserved=it.deserved | {gpu: "17"})
    assert [refused(release, over) for release in RELEASES] == [
        set(), {"Q5b"}, {"Q5b"}, {"Q5b"}, {"Q5c"}, {"Q5c"},
    ]  # fmt: skip
    narrow = replace(it, capability={gpu: "16"})
    assert refused((1, 13), narrow) == {"Q5b"}
    assert refused((1, 15), narrow) == set()
    wide = replace(it, capability=it.capability | {gpu: "65"})
    assert refused((1, 14), wide) == refused((1, 15), wide) == {"Q8"}
    bare = replace(root, deserved={})
    assert refused((1, 14), it, bare) == set()
    assert refused((1, 15), it, bare) == {"Q9"}
    assert refused((1, 12), replace(it, parent="none")) == {"Q6"}
    assert refused((1, 15), replace(it, guarantee={gpu: "65"})) >= {"Q5c", "Q9"}
    assert refused((1, 14), replace(it, capability=it.capability | {"cpu": "-1"})) >= {"Q1"}


# --- core ------------------------------------------------------------------------------------


def check_core(plan, documents):
    oracle = Oracle(documents)
    quotas = {it.meta.namespace: it.hard for it in of(plan, "ResourceQuota")}
    ranges = {it.meta.namespace: it.default_request for it in of(plan, "LimitRange")}
    for hard in quotas.values():
        assert all(number(amount) >= 0 for amount in hard.values())
    for requests in ranges.values():
        assert set(requests) == {"cpu", "memory"}
    for team, spec in oracle.teams.items():
        spaces = [namespace["name"] for namespace in spec.get("namespaces", ())]
        for quota in spec.get("quotas", ()) if spaces else ():
            check_parts(oracle, team, quota["pool"], [quotas.get(name, {}) for name in spaces])
        for name in spaces:
            if {"requests.cpu", "requests.memory"} & set(quotas.get(name, {})):
                assert name in ranges
    check_quota_keys(quotas, oracle)


def check_parts(oracle, team, pool, quotas):
    """A team's limit in a pool, divided among its namespaces, or as a backstop in each."""
    limit = oracle.limit(team, pool)
    refused = oracle.scheduler(pool) == "kube-scheduler"
    for resource in oracle.units(pool) if limit is not None else ():
        key = f"requests.{resource}"
        if refused:
            assert sum(number(hard[key]) for hard in quotas) == limit[resource]
        elif oracle.pools[pool].get("quotaBackstop"):
            assert all(number(hard[key]) >= limit[resource] for hard in quotas)
    if oracle.pools[pool].get("quotaCpuAndMemory") and refused:
        for resource in ("cpu", "memory"):
            together = sum(number(hard[f"requests.{resource}"]) for hard in quotas)
            if limit is not None and oracle.host(pool):
                assert together >= number(text(resource, limit[resource])) - MI


def check_quota_keys(quotas, oracle):
    """Where a queue can wait, its pool has no compute quota unless the spec requests one."""
    owner = {
        namespace["name"]: spec
        for spec in oracle.teams.values()
        for namespace in spec.get("namespaces", ())
    }
    for namespace, hard in quotas.items():
        pools = {quota["pool"] for quota in owner[namespace].get("quotas", ())}
        asked = {
            f"requests.{resource}"
            for pool in pools
            for resource in oracle.units(pool)
            if oracle.scheduler(pool) == "kube-scheduler" or oracle.pools[pool].get("quotaBackstop")
        }
        if any(
            oracle.pools[pool].get("quotaCpuAndMemory")
            and oracle.scheduler(pool) == "kube-scheduler"
            for pool in pools
        ):
            asked |= {"requests.cpu", "requests.memory"}
        counted = {
            "kueue": "count/workloads.kueue.x-k8s.io",
            "volcano": "count/podgroups.scheduling.volcano.sh",
            "kube-scheduler": "pods",
        }
        if "maxPending" in owner[namespace]:
            asked |= {counted[oracle.scheduler(pool)] for pool in pools}
        assert set(hard) == asked


@FEW
@given(specs())
def test_quotas_of_namespaces_stay_within_the_limit(documents):
    check_core(accepted(documents), documents)


@FEW
@given(specs())
def test_classes_and_namespaces_are_those_that_the_spec_names(documents):
    plan, oracle = accepted(documents), Oracle(documents)
    priorities = {each["name"]: each for each in oracle.platform.get("priorities", ())}
    classes = {it.meta.name: it for it in of(plan, "PriorityClass")}
    assert {name.removesuffix(".preempting") for name in classes} == set(priorities)
    for name, it in classes.items():
        said = priorities[name.removesuffix(".preempting")]
        assert it.value == said["value"]
        if it.preemption_policy != "Never":
            assert said.get("preempts", True)
    for group in of(plan, "PodGroup"):
        if group.priority_class_name is not None:
            said = priorities[group.priority_class_name.removesuffix(".preempting")]
            pool = group.queue.rpartition(".")[2]
            preempts = said.get("preempts", True) and oracle.policy(
                pool, "preemptionEnabled", default=True
            )
            policy = classes[group.priority_class_name].preemption_policy
            assert policy == ("PreemptLowerPriority" if preempts else "Never")
    ranked = {it.meta.name: it.value for it in of(plan, "WorkloadPriorityClass")}
    if any(oracle.scheduler(pool) == "kueue" for pool in oracle.pools):
        assert ranked == {name: each["value"] for name, each in priorities.items()}
    else:
        assert ranked == {}
    made = {
        namespace["name"]
        for spec in oracle.teams.values()
        for namespace in spec.get("namespaces", ())
        if namespace.get("create")
    }
    assert {it.meta.name for it in of(plan, "Namespace")} == made


# --- the articles' forms ---------------------------------------------------------------------


@FEW
@given(articles())
def test_queues_of_the_articles_share_every_pool_by_weight(documents):
    plan = accepted(documents)
    [config] = [each["data"] for each in documents if each["kind"] == "ConfigMap"]
    queues = json.loads(config["scheduler-config.yaml"]).get("queues", [])
    by_name = sorted(queues, key=lambda queue: queue["name"])
    for tree in plan.trees:
        [facts] = tree.pools
        [resource] = facts.resources
        whole = facts.available[resource]
        assert whole == Oracle(documents).units(facts.name)[resource]
        weights = [queue.get("weight", 1) for queue in by_name]
        bounds = [0] * len(weights), [whole] * len(weights)
        shares = water_filled(whole, weights, *bounds) if weights else []
        assert [node.name for node in tree.nodes] == [queue["name"] for queue in by_name]
        assert [node.guarantee[facts.name][resource] for node in tree.nodes] == shares
        if tree.scheduler == "kueue":
            cohorts = Cohorts(plan, tree.queue)
            check_group(cohorts, {it.meta.name for it in of(plan, "ResourceFlavor")}, 64)
            root = cells(cohorts.nodes[cohorts.root])[facts.name, resource]
            assert number(root.nominal_quota) == whole - sum(shares)
    for release in RELEASES:
        webhook = Webhook(release)
        assert [why for it in of(plan, "Queue") for why in webhook.create(it)] == []
    ranks = {it.meta.name.partition(".")[0]: it.priority for it in of(plan, "Queue")}
    said = [queue for queue in queues if "priority" in queue and queue["name"] in ranks]
    said.sort(key=lambda queue: queue["priority"])
    assert all(0 <= ranks[queue["name"]] < 2**31 for queue in said)
    for lower, higher in pairwise(said):
        apart = lower["priority"] < higher["priority"]
        assert (ranks[lower["name"]] < ranks[higher["name"]]) == apart
    doors = {(it.meta.namespace, it.meta.name): it.cluster_queue for it in of(plan, "LocalQueue")}
    assert set(doors) == {("default", it.meta.name) for it in of(plan, "ClusterQueue")}
    assert all(door == queue for (_, door), queue in doors.items())


# --- whatever is not refused -----------------------------------------------------------------


@st.composite
def bent(draw):
    """A valid spec with some random numbers, parents and pools."""
    documents = deepcopy(draw(specs()))
    names = {kind: [*documents_of(documents, kind), "nowhere"] for kind in ("ResourcePool", "Team")}
    quotas = [
        quota
        for each in documents
        if each["kind"] == "Team"
        for quota in each["spec"].get("quotas", ())
    ]
    for _ in range(draw(st.integers(1, 3))):
        each = draw(st.sampled_from(documents))
        spec = each["spec"]
        change = draw(st.sampled_from(("amount", "parent", "pool", "drop", "host", "scheduler")))
        if change == "amount" and quotas:
            quota = draw(st.sampled_from(quotas))
            word = draw(st.sampled_from(("guarantee", "limit")))
            value = quota.get(word)
            if isinstance(value, dict) and value:
                profile = draw(st.sampled_from(sorted(value)))
                value[profile] = draw(st.sampled_from((value[profile] + 1, 0, 100)))
            else:
                quota[word] = draw(st.sampled_from(((value or 0) + 1, 1, 100)))
        elif change == "host" and quotas:
            quota = draw(st.sampled_from(quotas))
            key, size = draw(st.sampled_from((("cpu", "3"), ("memory", "10Gi"))))
            quota.setdefault(key, {})[draw(st.sampled_from(("guarantee", "limit")))] = size
        elif change == "parent" and each["kind"] == "Team":
            spec["parent"] = draw(st.sampled_from(names["Team"]))
        elif change == "pool" and quotas:
            draw(st.sampled_from(quotas))["pool"] = draw(st.sampled_from(names["ResourcePool"]))
        elif change == "drop" and spec and each["kind"] != "ResourcePool":
            del spec[draw(st.sampled_from(sorted(spec)))]
        elif change == "scheduler" and each["kind"] == "ResourcePool":
            spec["scheduler"] = draw(st.sampled_from(SCHEDULERS))
    return documents


@MANY
@given(bent())
def test_whatever_is_not_refused_obeys_the_rules_too(documents):
    plan, errors = compiled(documents)
    if errors:
        assert plan is None or plan.items == ()
        assert all("\n" not in error.message for error in errors)
        return
    check_kueue(plan, documents)
    check_volcano(plan, documents)
    check_core(plan, documents)
    check_ratios(plan)


# --- arithmetic ------------------------------------------------------------------------------


def water_filled(amount, weights, floors, ceilings):
    """The share that each weight would have at one common level, bounded; then rounded.

    The level is found by trying every one at which a bound begins to bind.
    """
    amount = min(amount, sum(ceilings))

    def at(level):
        return [
            min(max(weight * level, floor), ceiling)
            for weight, floor, ceiling in zip(weights, floors, ceilings, strict=True)
        ]

    bends = sorted(
        Fraction(bound, weight)
        for weight, floor, ceiling in zip(weights, floors, ceilings, strict=True)
        for bound in (floor, ceiling)
    )
    sums = [sum(at(level)) for level in bends]
    above = bisect_left(sums, amount)
    if above == 0:
        ideal = at(bends[0])
    else:
        # Between two bends the sum is a straight line.
        low, high = bends[above - 1], bends[above]
        part = Fraction(amount - sums[above - 1]) / (sums[above] - sums[above - 1])
        ideal = at(low + (high - low) * part)
    shares = [int(share) for share in ideal]
    order = sorted(range(len(ideal)), key=lambda entry: (shares[entry] - ideal[entry], entry))
    for entry in order[: amount - sum(shares)]:
        shares[entry] += 1
    return shares


@st.composite
def bounded(draw):
    count = draw(st.integers(1, 6))
    weights = [draw(st.sampled_from((1, 1, 2, 3, 7, 65_535))) for _ in range(count)]
    floors = [draw(st.integers(0, 12)) for _ in range(count)]
    ceilings = [floor + draw(st.integers(0, 12)) for floor in floors]
    amount = draw(st.integers(0, sum(ceilings) + 3))
    return amount, weights, floors, ceilings


@settings(MANY, max_examples=500)
@given(bounded())
def test_apportion_against_water_filling(case):
    amount, _, floors, ceilings = case
    shares = apportion(*case)
    if amount < sum(floors):
        assert shares is None
        return
    assert shares == water_filled(*case)
    assert sum(shares) == min(amount, sum(ceilings))
    assert all(map(int.__le__, floors, shares))
    assert all(map(int.__le__, shares, ceilings))


@MANY
@given(st.integers(0, 10**13), st.sampled_from(("cpu", "memory", "nvidia.com/gpu")))
def test_amounts_are_written_as_a_server_writes_them_back(amount, resource):
    """Otherwise a second apply would change the object."""
    written = text(resource, amount)
    scale = 1000 if resource == "cpu" else 1
    assert number(written) * scale == amount
    assert quantity.canonical(quantity.parse(written)) == written
