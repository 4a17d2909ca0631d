"""Reads the articles' forms of documents as our own kinds; docs/articles.md has the table."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from policygen.core.finding import At, Hit
from policygen.core.quoting import quoted
from policygen.core.suggest import suggest
from policygen.documents.document import Document
from policygen.spec import autoscaling, forms, parse, rules
from policygen.spec.fields import View
from policygen.spec.types import (
    Capacity,
    Model,
    Placement,
    Platform,
    Pool,
    Priority,
    Quota,
    Team,
    TeamNamespace,
)
from policygen.spec.unread import Unread

QUEUE_NAMESPACE = "default"
"""The namespace of the ConfigMap's queues; the articles do not name one."""

_RENAMED = (
    ("family", "modelFamily"),
    ("size", "modelSize"),
    ("placement", "placementConstraints"),
    ("team", "schedulingClass"),
    ("priority", "schedulingClass"),
)

_SET_BY_WEIGHT = (("pool", "name"), ("guarantee", "weight"), ("limit", "weight"))
"""A queue does not name a pool; it has a share of each, by its weight."""

_SPOT = {
    "cloud.google.com/gke-provisioning": "spot",
    "cloud.google.com/gke-spot": "true",
    "eks.amazonaws.com/capacityType": "SPOT",
    "karpenter.sh/capacity-type": "spot",
    "kubernetes.azure.com/scalesetpriority": "spot",
}
"""Labels of spot nodes, by provider; the form has no field for them."""


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
    """An `inference.example.com/v1` ModelServingSpec.

    Team and priority are both set to its schedulingClass; `classes` decides what it names.
    """
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
        autoscaling=autoscaling.of_model(spec),
        placement=Placement(
            node_types=placement.texts("nodeTypes"),
            tolerate_preemptible=bool(placement.flag("toleratePreemptible")),
        ),
        renamed=_RENAMED,
    )


def classes(
    models: Iterable[Model], teams: Sequence[Team], platform: Platform, unread: Unread
) -> tuple[list[Model], list[Hit]]:
    """The models; those of the articles' form with the team and priority that their schedulingClass names.

    It names a queue (or a team of our own kind) and a priority, or only one of them. It is an error
    only if the spec has queues or priorities, but none with this name.
    """
    queues = {team.name for team in teams}
    priorities = {priority.name for priority in platform.priorities}
    found: list[Model] = []
    hits: list[Hit] = []
    for model in models:
        if not model.renamed:
            found.append(model)
            continue
        hits += _class(model, queues, priorities, unread)
        found.append(
            replace(
                model,
                team=model.team if model.team in queues else None,
                priority=model.priority if model.priority in priorities else None,
            )
        )
    return found, hits


def _class(model: Model, queues: set[str], priorities: set[str], unread: Unread) -> Iterator[Hit]:
    name = model.team
    if name is None:
        yield Hit(
            rules.CLASS_MISSING,
            f'model "{model.name}" does not set spec.schedulingClass; write the name of a queue into this field',
            model.at / "metadata" / "name",
        )
    elif name in queues or unread.may_define("Team", name):
        pass
    elif name in priorities:
        yield Hit(
            rules.CLASS_WITHOUT_QUEUE,
            f"{quoted(name)} is a priority, but not a queue, so no queue admits model "
            f'"{model.name}"; add a queue or a Team with this name',
            model.field("team"),
        )
    elif not queues and not priorities and not unread.settings:
        yield Hit(
            rules.CLASS_WITHOUT_QUEUE,
            f'the spec has no queues, so model "{model.name}" cannot use queue {quoted(name)}; add the '
            "ConfigMap gpu-scheduler-config, and list this queue in it",
            model.field("team"),
        )
    else:
        yield Hit(
            rules.UNKNOWN_REFERENCE,
            f"queue {quoted(name)} does not exist; {suggest(name, queues or priorities or unread.names, 'queue')}",
            model.field("team"),
        )


def queues(config: View, pools: Sequence[Pool]) -> tuple[list[Team], list[Priority]]:
    """The queues inside the ConfigMap `gpu-scheduler-config`.

    Each becomes a team in the namespace `default`, whose guarantee is its weight's share of every
    pool, and a priority of the same name.
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
                namespaces=(TeamNamespace(QUEUE_NAMESPACE, shared=True),),
                max_pending=queue.number("maxPending"),
                max_pending_at=queue.at / "maxPending",
                quotas=tuple(
                    Quota(
                        pool=pool.name,
                        at=queue.at,
                        guarantee=None,
                        weight=weight,
                        renamed=_SET_BY_WEIGHT,
                    )
                    for pool in pools
                ),
                queue_priority=priority,
            )
        )
        if priority is not None:
            priorities.append(Priority(name=name, at=queue.at, value=priority))
    return teams, priorities


def merged(platform: Platform, queues: Sequence[Priority]) -> tuple[Platform, list[Hit]]:
    """The Platform with its own priorities and those of the queues.

    Of two priorities with one name, the Platform's is used, because it has more fields. Their values
    must be equal.
    """
    own = {priority.name: priority for priority in platform.priorities}
    hits = [
        Hit(
            rules.OBJECT_DECLARED_TWICE,
            f'queue "{queue.name}" sets priority {queue.value}, but the Platform sets priority '
            f'"{queue.name}" to {own[queue.name].value}; write the same value in both places',
            queue.at / "priority",
        )
        for queue in queues
        if queue.name in own and queue.value != own[queue.name].value
    ]
    added = tuple(queue for queue in queues if queue.name not in own)
    return replace(platform, priorities=(*platform.priorities, *added)), hits


def overlooked(document: Document) -> list[Hit]:
    """Hits about a ConfigMap with queues that is skipped because of its header."""
    if document.outline.find(forms.QUEUES_AT)[1] < len(forms.QUEUES_AT):
        return []
    expected = (
        (("apiVersion",), document.header.api_version, forms.ARTICLE_QUEUES.api_version),
        (("kind",), document.header.kind, forms.ARTICLE_QUEUES.kind),
        (("metadata", "name"), document.header.name, forms.CONFIG_MAP),
    )
    return [
        Hit(
            rules.LOOKS_LIKE_QUEUES,
            f"policygen skipped this ConfigMap, although it contains {forms.QUEUES_AT[-1]}; write "
            f"{'.'.join(path)}: {right} to use its queues",
            At(document.index, path),
        )
        for path, written, right in expected
        if written != right
    ]
