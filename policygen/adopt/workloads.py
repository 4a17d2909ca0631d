"""Reads models from workloads that request accelerators."""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from policygen.adopt.quotas import HERE
from policygen.adopt.trees import amount, label
from policygen.core.names import LOCAL_QUEUE
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.untyped import integer
from policygen.kubernetes.workloads import PodTemplate, Workload
from policygen.plan.amounts import CPU, MEMORY
from policygen.plan.pool import PoolFacts
from policygen.spec.types import Autoscaling, Gang, Model, Placement, RunAs, Team

SERVING = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "Rollout", "ReplicationController"})


def models(
    cluster: Cluster, teams: Mapping[str, Team], pools: Mapping[str, PoolFacts]
) -> tuple[list[Model], list[tuple[Workload, str]]]:
    """A model for each workload with accelerators, and the workloads that are no model, with the reason.

    `teams` are those of each namespace.
    """
    found: dict[str, Model] = {}
    left: list[tuple[Workload, str]] = []
    for workload in cluster.workloads:
        template = next(
            (it for it in workload.templates if accelerators.requested(cluster, it)), None
        )
        if template is None:
            continue
        team = teams.get(workload.namespace)
        if team is None:
            left.append((workload, "it is not a model, because no team has this namespace"))
            continue
        model = _model(cluster, workload, template, team, pools)
        if model is None:
            left.append(
                (
                    workload,
                    "it is not a model, because no pool of its team has the resource that it requests",
                )
            )
            continue
        name = (
            model.name if model.name not in found else label(f"{workload.namespace}-{model.name}")
        )
        if name in found:
            left.append(
                (workload, f'it is not a model, because the spec already has a model "{name}"')
            )
            continue
        found[name] = replace(model, name=name)
    return list(found.values()), left


def _model(
    cluster: Cluster,
    workload: Workload,
    template: PodTemplate,
    team: Team,
    pools: Mapping[str, PoolFacts],
) -> Model | None:
    requested = accelerators.requested(cluster, template)
    resource, units = max(requested.items(), key=lambda it: it[1])
    queue = workload.labels.get(LOCAL_QUEUE, "")
    able = [
        it.pool
        for it in team.quotas
        if it.pool in pools and pools[it.pool].resources == (resource,)
    ]
    if not able:
        return None
    serving = workload.kind in SERVING
    pods = template.replicas if template.replicas is not None else 1
    requests = template.spec.requests
    priority = template.spec.priority_class_name
    return Model(
        name=label(workload.name or "x"),
        at=HERE,
        workload="serving" if serving else "training",
        team=team.name,
        namespace=None if team.namespaces[0].name == workload.namespace else workload.namespace,
        priority=priority or None,
        gpus=int(units),
        cpu_milli=amount(CPU, requests[CPU]) if requests.get(CPU) else None,
        memory_bytes=amount(MEMORY, requests[MEMORY]) if requests.get(MEMORY) else None,
        replicas=pods if serving and pods > 1 else None,
        gang=None if serving else _gang(workload, pods),
        autoscaling=_autoscaling(cluster, workload) if serving else None,
        placement=Placement(pools=(queue,) if queue in able else tuple(able[:1])),
    )


def _gang(workload: Workload, pods: int) -> Gang | None:
    run_as: RunAs = "pods"
    match (workload.object.group, workload.kind):
        case ("batch.volcano.sh", "Job"):
            run_as = "vcjob"
            pods = integer(workload.spec.get("minAvailable")) or pods
        case ("batch", "Job"):
            run_as = "job"
        case ("leaderworkerset.x-k8s.io", _):
            run_as = "lws"
        case ("", "Pod"):
            return None
    return Gang(pods, run_as) if pods > 1 else None


def _autoscaling(cluster: Cluster, workload: Workload) -> Autoscaling | None:
    for scaler in _scalers(cluster):
        namespace, target, least, most = scaler
        same = (namespace, target.get("kind"), target.get("name"))
        if same == (workload.namespace, workload.kind, workload.name) and most:
            return Autoscaling(1 if least is None else least, most)
    return None


def _scalers(
    cluster: Cluster,
) -> Iterator[tuple[str, Mapping[str, object], int | None, int | None]]:
    for hpa in cluster.horizontal_pod_autoscalers:
        view = hpa.fields
        yield hpa.namespace, view.scale_target_ref, view.min_replicas, view.max_replicas
    for scaled in cluster.scaled_objects:
        keda = scaled.fields
        target = {"kind": "Deployment", **keda.scale_target_ref}
        yield scaled.namespace, target, keda.min_replica_count or 0, keda.max_replica_count
