"""The forms that users already have, read as our own kinds; docs/articles.md holds the table."""

from policygen.spec import parse
from policygen.spec.types import (
    Capacity,
    Model,
    Namespace,
    Placement,
    Pool,
    Priority,
    Quota,
    SchedulingPolicy,
    Team,
)
from policygen.spec.view import View

QUEUE_NAMESPACE = "default"
"""Where the queues of the ConfigMap live: the articles name no namespace."""

_RENAMED = (
    ("family", "modelFamily"),
    ("size", "modelSize"),
    ("placement", "placementConstraints"),
    ("team", "schedulingClass"),
    ("priority", "schedulingClass"),
)

_SPOT = {
    "cloud.google.com/gke-provisioning": "spot",
    "cloud.google.com/gke-spot": "true",
    "eks.amazonaws.com/capacityType": "SPOT",
    "karpenter.sh/capacity-type": "spot",
    "kubernetes.azure.com/scalesetpriority": "spot",
}
"""Labels by which providers mark spot nodes: the form has no field that says it."""


def pool(document: View) -> Pool:
    """A `gpu.example.com/v1` ResourcePool."""
    spec = document.view("spec")
    capacity = spec.view("capacity")
    selector = spec.pairs("nodeSelector")
    return Pool(
        name=parse.name_of(document),
        at=document.at,
        node_selector=selector,
        taints=parse.taints(spec),
        tolerations=parse.tolerations(spec),
        capacity=Capacity(
            total_gpus=capacity.number("totalGPUs"),
            available_gpus=capacity.number("availableGPUs"),
        ),
        scheduling_policy=parse.scheduling_policy(spec.view("schedulingPolicy")),
        preemptible=any(_SPOT.get(key) == value for key, value in selector),
        guess_product=True,
    )


def model(document: View) -> Model:
    """An `inference.example.com/v1` ModelServingSpec; its schedulingClass picks the queue."""
    spec = document.view("spec")
    resources, placement = spec.view("resources"), spec.view("placementConstraints")
    scheduling_class = spec.text("schedulingClass")
    return Model(
        name=parse.name_of(document),
        at=document.at,
        team=scheduling_class,
        priority=scheduling_class,
        family=spec.text("modelFamily"),
        size=spec.text("modelSize"),
        gpu_memory_bytes=resources.measure("gpuMemory", "memory"),
        cpu_milli=resources.measure("cpu", "cpu"),
        memory_bytes=resources.measure("memory", "memory"),
        autoscaling=parse.autoscaling(spec.view("autoscaling")),
        placement=Placement(
            node_types=placement.texts("nodeTypes"),
            tolerate_preemptible=bool(placement.flag("toleratePreemptible")),
        ),
        renamed=_RENAMED,
    )


def queues(
    config: View, pools: tuple[Pool, ...]
) -> tuple[list[Team], list[Priority], SchedulingPolicy]:
    """The text inside the ConfigMap `gpu-scheduler-config`.

    Each queue is a team of its own in the namespace `default`, whose guarantee is its
    weight's share of every pool, and a priority of its name.
    """
    teams: list[Team] = []
    priorities: list[Priority] = []
    for queue in config.views("queues"):
        name = str(queue.data["name"])
        weight = queue.number("weight") or 1
        priority = queue.number("priority")
        teams.append(
            Team(
                name=name,
                at=queue.at,
                namespaces=(Namespace(QUEUE_NAMESPACE),),
                max_pending=queue.number("maxPending"),
                quotas=tuple(
                    Quota(pool=pool.name, at=queue.at, weight=weight, by_weight=True)
                    for pool in pools
                ),
                shares_namespace=True,
                queue_priority=priority,
            )
        )
        if priority is not None:
            priorities.append(Priority(name=name, at=queue.at, value=priority))
    return teams, priorities, parse.scheduling_policy(config.view("schedulingPolicy"))
