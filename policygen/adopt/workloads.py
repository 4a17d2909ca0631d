"""Reads models from workloads that request accelerators."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from policygen.adopt.capacity import NodeNeed
from policygen.adopt.model_details import detailed
from policygen.adopt.models import without_priority
from policygen.adopt.quotas import HERE
from policygen.adopt.scalers import autoscaling, unstated
from policygen.adopt.trees import Guess, TeamTree, amount, label
from policygen.adopt.volcano import VOLCANOS
from policygen.core.finding import Path
from policygen.core.names import LOCAL_QUEUE, POD_GROUP, VOLCANO_QUEUE
from policygen.core.quoting import listed, quoted
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_jobs import PRIORITY
from policygen.kubernetes.untyped import integer, keyed_texts, mapping, text
from policygen.kubernetes.workloads import PodTemplate, Workload
from policygen.plan.amounts import CPU, MEMORY
from policygen.plan.pool import PoolFacts
from policygen.spec.types import Gang, Model, Placement, RunAs, Team

SERVING = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "Rollout", "ReplicationController"})

_VOLCANO_JOBS: Final = "batch.volcano.sh"
_POOLS: Final = ("spec", "placement", "pools")
_NO_POOL: Final = "no object shows in which pool this model runs"

QueueName = tuple[str, str, str]
"""Kind, namespace and name of a LocalQueue, or of a Queue of Volcano, which has no namespace."""


class QueuePlace(Struct, frozen=True):
    """Whose a queue is, and where its pods run."""

    team: str
    pools: tuple[str, ...]


class QueuePlaces(Struct, frozen=True):
    """Whose the queues of a cluster are."""

    places: Mapping[QueueName, QueuePlace]
    admitting: Mapping[str, Sequence[str]]
    """By namespace, the teams whose queues admit it."""


def places_of_queues(cluster: Cluster, trees: Iterable[TeamTree]) -> Mapping[QueueName, QueuePlace]:
    """The team and the pools of each queue that is in a tree."""
    branches = {
        (it.kind, it.name): QueuePlace(it.team, tree.pools)
        for tree in trees
        for it in tree.branches
    }
    found = {("Queue", "", name): it for (kind, name), it in branches.items() if kind == "Queue"}
    for local in cluster.local_queues:
        place = branches.get(("ClusterQueue", local.fields.cluster_queue))
        if place is not None:
            found["LocalQueue", local.namespace, local.name] = place
    return found


def needs(
    cluster: Cluster, places: Mapping[QueueName, QueuePlace], known: Mapping[str, NodeNeed]
) -> dict[str, NodeNeed]:
    """What one node of each pool must hold: the largest pods of the workloads in its queues.

    `known` are needs that other objects show.
    """
    found = dict(known)
    for workload in cluster.workloads:
        for template in workload.templates:
            units = max(accelerators.requested(cluster, template).values(), default=0)
            queue = queue_of(cluster, workload, template)
            place = places.get(queue) if queue and units else None
            for pool in place.pools if place else ():
                before = found.get(pool, NodeNeed())
                found[pool] = NodeNeed(
                    max(before.units, int(units)),
                    max(before.cpu_milli, _requested(template, CPU) or 0),
                    max(before.memory_bytes, _requested(template, MEMORY) or 0),
                )
    return found


def queue_of(cluster: Cluster, workload: Workload, template: PodTemplate) -> QueueName | None:
    """The queue that a workload names in a label, an annotation or a field, or its PodGroup names."""
    job = mapping(workload.object.data, "spec", "jobTemplate")
    labels = {**template.labels, **keyed_texts(job, "metadata", "labels"), **workload.labels}
    if name := labels.get(LOCAL_QUEUE):
        return "LocalQueue", workload.namespace, name
    annotations = {**workload.object.annotations, **template.annotations}
    group = cluster.pod_groups.get(annotations.get(POD_GROUP, ""), workload.namespace)
    queue = annotations.get(VOLCANO_QUEUE) or (group.fields.queue if group else "")
    if not queue and workload.object.group == _VOLCANO_JOBS:
        queue = text(workload.spec, "queue") or text(job, "spec", "queue")
    return ("Queue", "", queue) if queue else None


def _requested(template: PodTemplate, resource: str) -> int | None:
    """How much cpu or memory a pod requests; None if it requests none."""
    found = template.spec.requests.get(resource)
    return amount(resource, found) if found else None


def models(
    cluster: Cluster,
    teams: Mapping[str, Team],
    pools: Mapping[str, PoolFacts],
    queues: QueuePlaces,
    ranks: Collection[str],
) -> tuple[list[Model], list[tuple[Workload, str]], list[Guess]]:
    """A model for each workload with accelerators, what it cannot say, and the values that are a guess.

    `teams` are those of each namespace, `ranks` the priorities of the spec.
    """
    found: dict[str, Model] = {}
    left: list[tuple[Workload, str]] = []
    guesses: list[Guess] = []
    for workload in cluster.workloads:
        template = next(
            (it for it in workload.templates if accelerators.requested(cluster, it)), None
        )
        if template is None:
            continue
        team = teams.get(workload.namespace)
        able = _able(cluster, template, team, pools) if team else []
        if team is not None and _accelerator(cluster, template)[1] < 1:
            left.append((workload, "it is not a model, because it requests less than one GPU"))
            continue
        if team is None or not able:
            reason = _no_team(workload, team)
            left.append((workload, f"it is not a model, because {reason}"))
            continue
        name = label(workload.name or "x")
        if name in found:
            name = label(f"{workload.namespace}-{name}")
        if name in found:
            left.append(
                (workload, f'it is not a model, because the spec already has a model "{name}"')
            )
            continue
        queue = queue_of(cluster, workload, template)
        place = queues.places.get(queue) if queue else None
        there = [it for it in able if place and it in place.pools]
        fault = _queue_fault(cluster, workload, queue, queues, team)
        if fault:
            path, reason = fault
            left.append((workload, reason))
            guesses.append(Guess("Model", name, path, f"Guess: {reason}."))
        elif not there and len(able) > 1:
            guesses.append(Guess("Model", name, _POOLS, f"Guess: {_NO_POOL}."))
        placement = Placement(pools=tuple(there or able[:1]))
        model = _model(cluster, workload, template, team)
        if model.priority is not None and model.priority not in ranks:
            left.append((workload, without_priority(cluster, model.priority)))
            model = replace(model, priority=None)
        model = replace(model, name=name, placement=placement)
        details = detailed(cluster, workload, template, model)
        more = unstated(cluster, workload) if model.autoscaling else ()
        found[name] = details.model
        own = _own_selector(template, pools[placement.pools[0]])
        left += [(workload, it) for it in (*details.left, *more, *own)]
        guesses += details.guesses
    return list(found.values()), left, guesses


def _own_selector(template: PodTemplate, pool: PoolFacts) -> list[str]:
    """A note on the nodeSelector of its pods, if it has labels that the nodeSelector of the pool lacks."""
    labels = dict(pool.pool.node_selector)
    own = [
        f"{key}: {it}" for key, it in template.spec.node_selector.items() if labels.get(key) != it
    ]
    return (
        [f"a Model has no field for the nodeSelector of its pods: {listed(own, 'and')}"]
        if own
        else []
    )


def _no_team(workload: Workload, team: Team | None) -> str:
    """Why a workload has no team with a pool for it."""
    if team is not None:
        return "no pool of its team has the resource that it requests"
    return "no team has this namespace" if workload.namespace else "the manifest names no namespace"


def _queue_fault(
    cluster: Cluster, workload: Workload, queue: QueueName | None, queues: QueuePlaces, team: Team
) -> tuple[Path, str] | None:
    """What the spec cannot say about the queue of a workload, and the field that is a guess for it."""
    if queue is None:
        teams = list(queues.admitting.get(workload.namespace, ()))
        if len(teams) < 2:
            return None
        return ("spec", "team"), (
            f"it names no queue, and queues of the teams {listed(teams, 'and')} admit its namespace "
            f"{workload.namespace}, so its team {team.name} is a guess"
        )
    kind, namespace, name = queue
    place = queues.places.get(queue)
    if place and place.team != team.name:
        return ("spec", "team"), (
            f"its queue is one of team {place.team}, but namespace {workload.namespace} is one of team "
            f"{team.name}, because a namespace of the spec has only one team"
        )
    named = f"the workload names {kind} {quoted(name)}, which does not exist"
    if kind == "Queue":
        exists = name in VOLCANOS or cluster.queues.knows(name)
        return None if exists else (_POOLS, named)
    if cluster.local_queues.knows(name, namespace):
        return None
    return _POOLS, f"{named} in namespace {namespace}"


def _able(
    cluster: Cluster, template: PodTemplate, team: Team, pools: Mapping[str, PoolFacts]
) -> list[str]:
    """The pools of a team that have the resource of a pod."""
    resource = _accelerator(cluster, template)[0]
    return [
        it.pool
        for it in team.quotas
        if it.pool in pools and pools[it.pool].resources == (resource,)
    ]


def _accelerator(cluster: Cluster, template: PodTemplate) -> tuple[str, int]:
    """The accelerator of which a pod requests the most."""
    resource, units = max(accelerators.requested(cluster, template).items(), key=lambda it: it[1])
    return resource, int(units)


def _model(cluster: Cluster, workload: Workload, template: PodTemplate, team: Team) -> Model:
    serving = workload.kind in SERVING
    pods = template.replicas if template.replicas is not None else 1
    labels = (workload.labels, template.labels)
    priority = next((it[PRIORITY] for it in labels if PRIORITY in it), "")
    priority = priority or template.spec.priority_class_name
    if workload.object.group == _VOLCANO_JOBS:
        priority = priority or text(workload.spec, "priorityClassName")
    return Model(
        name="",
        at=HERE,
        workload="serving" if serving else "training",
        team=team.name,
        namespace=None if team.namespaces[0].name == workload.namespace else workload.namespace,
        priority=priority or None,
        gpus=_accelerator(cluster, template)[1],
        cpu_milli=_requested(template, CPU),
        memory_bytes=_requested(template, MEMORY),
        replicas=pods if serving and pods > 1 else None,
        gang=None if serving else _gang(workload, pods),
        autoscaling=autoscaling(cluster, workload) if serving else None,
    )


def _gang(workload: Workload, pods: int) -> Gang | None:
    run_as: RunAs = "pods"
    match (workload.object.group, workload.kind):
        case (group, "Job") if group == _VOLCANO_JOBS:
            run_as = "vcjob"
            if len(workload.templates) == 1:  # minAvailable counts the pods of all tasks
                pods = integer(workload.spec.get("minAvailable")) or pods
        case ("batch", "Job" | "CronJob"):
            run_as = "job"
        case ("leaderworkerset.x-k8s.io", _):
            run_as = "lws"
        case ("", "Pod"):
            return None
    return Gang(pods, run_as) if pods > 1 else None
