"""Reads models from the objects that `render --with workloads` made: each names its model in a label."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from policygen.adopt.capacity import MigCard, NodeNeed, PodShare
from policygen.adopt.model_details import detailed
from policygen.adopt.models import PREEMPTING
from policygen.adopt.namespaces import Space
from policygen.adopt.pools import Found
from policygen.adopt.quotas import HERE, amounts
from policygen.adopt.scalers import autoscaling
from policygen.adopt.trees import Guess, Scope, amount, is_extended
from policygen.adopt.workloads import SERVING, QueueName, QueuePlace, queue_of
from policygen.core.finding import at_path
from policygen.core.names import POD_GROUP
from policygen.core.quantity import MEBIBYTE
from policygen.core.rule import Severity
from policygen.hardware import catalog, mig
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import TolerationView
from policygen.kubernetes.untyped import integer, keyed_texts, mapping, text
from policygen.kubernetes.workloads import PodTemplate, Workload
from policygen.plan import tree
from policygen.plan.amounts import CPU, HOST, MEMORY, Vector
from policygen.plan.decisions import Decisions
from policygen.plan.fit import Size
from policygen.plan.model_names import MODEL
from policygen.plan.pods import share
from policygen.plan.pool import PoolFacts, resolve
from policygen.plan.workload import availability, rollout
from policygen.plan.workloads import place
from policygen.spec.types import (
    Autoscaling,
    Gang,
    Model,
    Placement,
    Quota,
    RunAs,
    Spec,
    Taint,
    Team,
)

GANG_SIZE = "scheduling.volcano.sh/group-min-member"


class RenderedModel(Struct, frozen=True, eq=False):
    """The objects of one model."""

    name: str
    objects: tuple[Workload, ...]
    """One, or one for each gang or Job."""
    template: PodTemplate
    """The pods of the first one."""
    resource: str
    units: int
    queue: QueueName | None
    """None: its pods are in no queue, so they use kube-scheduler."""
    place: QueuePlace | None
    """Whose the queue is."""

    @property
    def first(self) -> Workload:
        """Its first object."""
        return self.objects[0]

    def requested(self, resource: str) -> int | None:
        """How much cpu or memory a pod requests."""
        found = self.template.spec.requests.get(resource)
        return amount(resource, found) if found else None


def read(
    cluster: Cluster, scope: Scope, places: Mapping[QueueName, QueuePlace]
) -> list[RenderedModel]:
    """The models of the set whose objects were read."""
    named: defaultdict[str, list[Workload]] = defaultdict(list)
    for workload in cluster.workloads:
        name = workload.labels.get(MODEL)
        if scope.rendered and name and scope.has(workload.labels):
            named[name].append(workload)
    found = []
    for name, objects in sorted(named.items()):
        objects.sort(key=lambda it: (len(it.name), it.name))
        first = objects[0]
        template = next(iter(first.templates), None)
        requests = template.spec.requests if template else {}
        devices = [it for it, count in requests.items() if is_extended(it) and count >= 1]
        if template is None or not devices:
            continue
        same = tuple(it for it in objects if it.namespace == first.namespace)
        queue = queue_of(cluster, first, template)
        own = places.get(queue) if queue else None
        units = int(requests[devices[0]])
        found.append(RenderedModel(name, same, template, devices[0], units, queue, own))
    return found


def in_pools(
    models: Iterable[RenderedModel], found: Iterable[Found]
) -> dict[str, list[RenderedModel]]:
    """The models of each pool: by their queue, or by their resource on a pool of kube-scheduler."""
    plain = {
        name: it.name for it in found if it.scheduler == "kube-scheduler" for name in it.resources
    }
    made: dict[str, list[RenderedModel]] = {}
    for model in models:
        pools = model.place.pools if model.place else ()
        if model.queue is None and model.resource in plain:
            pools = (plain[model.resource],)
        for pool in pools:
            made.setdefault(pool, []).append(model)
    return made


def above_quotas(models: Iterable[RenderedModel], spaces: Mapping[str, Space]) -> frozenset[str]:
    """The resources of pods without a queue that request more cpu or memory than a quota of their namespace."""
    found = set()
    for it in models:
        space = spaces.get(it.first.namespace)
        if space is None or it.queue is not None:
            continue
        for name in HOST:
            most = space.requested(name)
            if most is not None and (it.requested(name) or 0) > most:
                found.add(it.resource)
    return frozenset(found)


def on_pool(found: Found, models: Sequence[RenderedModel]) -> Found:
    """The pool with what its pods show: its profile, and its nodes where no flavor of Kueue names them."""
    if not models:
        return found
    spec = models[0].template.spec
    if found.scheduler != "volcano":
        found = replace(found, profile=spec.scheduler_name.rpartition(".")[2])
    if found.scheduler == "kueue":
        return found
    selector = tuple(sorted(spec.node_selector.items()))
    policy = found.pool.scheduling_policy
    if any(map(_starts_alone, models)) and found.scheduler == "volcano":
        policy = replace(policy, gang_scheduling=False)
    pool = replace(
        found.pool,
        node_selector=selector or found.pool.node_selector,
        taints=tuple(_taint(it) for it in spec.tolerations),
        scheduling_policy=policy,
    )
    return replace(found, pool=pool)


def _card(available: Vector) -> MigCard | None:
    """The first of the products with all these MIG profiles that needs the fewest cards; None if no product has them."""
    counts = {name: count for name, count in available.items() if is_extended(name) and count}
    found = []
    for product in catalog.products().values():
        family = catalog.mig_family(product)
        if family is None:
            continue
        by_suffix = {it.resource_suffix: it for it in family.profiles.values()}
        profiles = {
            name: by_suffix[suffix]
            for name in counts
            if (suffix := name.partition("/")[2]) in by_suffix
        }
        if counts and profiles.keys() == counts.keys():
            layouts = mig.layouts(family, [it.name for it in profiles.values()])
            cards = mig.cards_needed(layouts, tuple(counts.values()))
            most = {name: it.max_per_gpu for name, it in profiles.items()}
            found.append(MigCard(product.labels[0], cards, most))
    return min(found, key=lambda it: it.cards, default=None)


def _instance_bytes(pool: PoolFacts, resource: str) -> int | None:
    """The memory of an instance of a pool with several MIG profiles."""
    if len(pool.resources) == 1:
        return None
    profile = pool.profiles[pool.resources.index(resource)]
    return next((it.memory_mib * MEBIBYTE for it in pool.cut if it.name == profile), None)


def _taint(toleration: TolerationView) -> Taint:
    return Taint(toleration.key, toleration.effect, toleration.value or None)


def _starts_alone(model: RenderedModel) -> bool:
    """Whether the pods of a gang of Volcano have no PodGroup, because the pool starts no gangs."""
    gang = _gang(model)
    return (
        gang is not None and gang.run_as == "pods" and POD_GROUP not in model.template.annotations
    )


def preempting(models: Iterable[RenderedModel], doubled: Collection[str]) -> bool | None:
    """Whether pods of a pool preempt, by the classes of priorities that have two; None if no pod shows it."""
    names = [it.template.spec.priority_class_name for it in models]
    if any(it.removesuffix(PREEMPTING) in doubled for it in names if it.endswith(PREEMPTING)):
        return True
    return False if any(it in doubled for it in names) else None


def with_unused_pools(
    teams: Iterable[Team], models: Iterable[RenderedModel], facts: Mapping[str, PoolFacts]
) -> list[Team]:
    """The teams, with quotas of 0 that only pods show.

    Pods in a queue of several pools have a nodeSelector if their team has quotas for more pools than they
    can use. A queue has the same amounts for a pool without a quota of the team, and for a limit of 0.
    """
    made = {it.name: it for it in teams}
    for it in models:
        place = it.place
        if place is None or it.queue is None or it.queue[0] != "LocalQueue":
            continue
        team = made.get(place.team)
        listed = {quota.pool for quota in team.quotas} if team else set()
        unused = [name for name in place.pools if name not in listed and name in facts]
        if (
            team
            and unused
            and it.template.spec.node_selector
            and len(place.pools) - len(unused) == 1
        ):
            zero = amounts(dict.fromkeys(facts[unused[0]].resources, 0), facts[unused[0]])
            weight = next(quota.weight for quota in team.quotas if quota.pool in place.pools)
            quota = Quota(unused[0], HERE, limit=zero, weight=weight)
            made[team.name] = replace(team, quotas=(*team.quotas, quota))
    return list(made.values())


def need(before: NodeNeed, found: Found, models: Iterable[RenderedModel]) -> NodeNeed:
    """What a node of a pool must hold for the pods of these models, and how many cards it needs."""
    made = before
    card = _card(found.available)
    for it in models:
        cpu, memory = it.requested(CPU) or 0, it.requested(MEMORY) or 0
        made = NodeNeed(
            max(made.units, it.units),
            max(made.cpu_milli, cpu),
            max(made.memory_bytes, memory),
            shares=(*made.shares, PodShare(it.resource, it.units, cpu, memory)),
            card=card,
        )
    return made


def models(
    cluster: Cluster,
    found: Iterable[RenderedModel],
    teams: Mapping[str, Team],
    facts: Mapping[str, PoolFacts],
    of_pod_groups: Mapping[str, Model],
) -> Iterator[tuple[Model, tuple[Guess, ...]]]:
    """The models of these objects. `teams` are those of each namespace.

    `of_pod_groups` are the same models as their PodGroups show them: only these have what one pod
    requests if the model itself sets it.
    """
    by_name = {it.name: it for it in teams.values()}
    for it in found:
        own = it.place
        team = by_name.get(own.team) if own else teams.get(it.first.namespace)
        if team is None or it.first.namespace not in {each.name for each in team.namespaces}:
            continue  # the comparison lists its objects
        pools = _pools(it, team, facts)
        model = _scaled(cluster, it, _model(it, team, pools))
        size = Size(it.resource, it.units)
        able = [
            facts[name] for name in pools if name in facts and it.resource in facts[name].resources
        ]
        known = of_pod_groups.get(it.name)
        if known is not None:
            model = replace(model, cpu_milli=known.cpu_milli, memory_bytes=known.memory_bytes)
        elif able:
            shares = share(able, size)
            if shares[CPU] == (model.cpu_milli or 0):
                model = replace(model, cpu_milli=None)
            if shares[MEMORY] == (model.memory_bytes or 0):
                model = replace(model, memory_bytes=None)
        part = next(filter(None, (_instance_bytes(pool, it.resource) for pool in able)), None)
        if part is not None:
            model = replace(model, gpus=None, gpu_memory_bytes=part)
        details = detailed(cluster, it.first, it.template, model)
        yield details.model, details.guesses


def _pools(model: RenderedModel, team: Team, facts: Mapping[str, PoolFacts]) -> tuple[str, ...]:
    """The pools where the pods run."""
    mine = [facts[it.pool] for it in team.quotas if it.pool in facts]
    if model.place is None:
        plain = [it for it in mine if it.scheduler == "kube-scheduler"]
        return tuple(it.name for it in plain if model.resource in it.resources)[:1]
    able = [facts[it] for it in model.place.pools if it in facts and facts[it] in mine]
    selector = model.template.spec.node_selector.items()
    if selector and len(able) > 1:
        able = [it for it in able if dict(it.pool.node_selector).items() == selector]
    return tuple(it.name for it in able)


def _model(found: RenderedModel, team: Team, pools: tuple[str, ...]) -> Model:
    first, gang = found.first, _gang(found)
    serving = first.kind in SERVING or first.kind == "LeaderWorkerSet"
    count: int | None = len(found.objects)
    if first.kind == "LeaderWorkerSet":
        count = integer(first.spec.get("replicas"))
    elif serving and gang is None:
        count = found.template.replicas
    priority = found.template.spec.priority_class_name.removesuffix(PREEMPTING)
    namespace = first.namespace
    return Model(
        name=found.name,
        at=HERE,
        workload="serving" if serving else "training",
        team=team.name,
        namespace=None if [it.name for it in team.namespaces][:1] == [namespace] else namespace,
        priority=priority or None,
        gpus=found.units,
        cpu_milli=found.requested(CPU),
        memory_bytes=found.requested(MEMORY),
        replicas=count if count and count > 1 else None,
        gang=gang,
        autoscaling=Autoscaling(0, 1) if count == 0 else None,
        placement=Placement(pools=pools),
    )


def _scaled(cluster: Cluster, found: RenderedModel, model: Model) -> Model:
    """The model with its autoscaler, which alone shows its number of replicas."""
    scaling = autoscaling(cluster, found.first) if model.workload == "serving" else None
    if scaling is None or model.gang is not None:
        return model
    return replace(model, replicas=None, autoscaling=scaling)


def _gang(model: RenderedModel) -> Gang | None:
    """The gang of an object: its pods have indexes, or its kind is one of gangs."""
    first, pods = model.first, model.template.replicas or 1
    run_as: RunAs = "pods"
    match (first.object.group, first.kind):
        case ("batch.volcano.sh", "Job"):
            return Gang(integer(first.spec.get("minAvailable")) or pods, "vcjob")
        case ("leaderworkerset.x-k8s.io", _):
            size = integer(at_path(first.spec, ("leaderWorkerTemplate", "size")))
            return Gang(size or 1, "lws")
        case ("apps", "StatefulSet"):
            return Gang(pods)
        case ("batch", "Job"):
            job, made = first.spec, first.object.annotations
        case ("batch", "CronJob"):
            job = at_path(first.spec, ("jobTemplate", "spec")) or {}
            made = keyed_texts(first.object.data, "spec", "jobTemplate", "metadata", "annotations")
        case _:
            return None
    if text(job, "completionMode") != "Indexed":
        return None
    if GANG_SIZE in made:
        run_as = "job"
    return Gang(pods, run_as)


_MAX: Final = ("spec", "autoscaling", "maxReplicas")
_NO_ROOM: Final = "Guess: an update of its Deployment has no room for one more pod, so an autoscaler can add replicas."


def autoscaled(spec: Spec, found: Iterable[RenderedModel]) -> tuple[Spec, list[Guess]]:
    """The spec with autoscaling where a Deployment creates no pod beside those that run.

    The plan renders that where all replicas fill the nodes or the limit of the team. Their number is not
    in the objects, so it is the largest one for which there is room.
    """
    full = {it.name for it in found if _has_no_surge(it.first)}
    if not full:
        return spec, []
    facts, _ = resolve(spec)
    trees, faults = tree.build(spec, facts)
    if any(it.rule.severity == Severity.ERROR for it in faults):
        return spec, []
    placed = place(spec, facts, trees)
    decided = Decisions(spec, tuple(facts.values()), tuple(trees), placed)
    most: dict[str, int] = {}
    for it in placed.assignments:
        if it.model.name in full and rollout.shortage(decided, it) is None:
            units = sum(pool.available[it.size.resource] for pool in it.pools) // it.size.units
            count = availability.nodes(it) if availability.is_apart(it) else units
            most[it.model.name] = max(count, it.replicas.least, 1)
    made = [
        replace(it, replicas=None, autoscaling=_up_to(it, most[it.name])) if it.name in most else it
        for it in spec.models
    ]
    guesses = [Guess("Model", name, _MAX, _NO_ROOM) for name in most]
    return replace(spec, models=tuple(made)), guesses


def _up_to(model: Model, most: int) -> Autoscaling:
    least = model.autoscaling.min_replicas if model.autoscaling else model.replicas or 1
    return Autoscaling(least, most)


def _has_no_surge(workload: Workload) -> bool:
    update = mapping(workload.spec, "strategy", "rollingUpdate")
    return workload.kind == "Deployment" and integer(update.get("maxSurge")) == 0
