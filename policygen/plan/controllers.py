"""Decides the controllers' own files: Volcano's scheduler configuration and Kueue's Configuration."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from policygen import versions
from policygen.plan.kind import Kind, Meta, Release
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import Tree
from policygen.plan.workloads import Seat
from policygen.spec.types import Platform

GPU_WEIGHT = 10
"""Of each GPU resource in binpack, against 1 for cpu and memory."""


class Plugin(Struct, frozen=True):
    """One plugin of a tier."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    hierarchy: bool = False
    """`enableHierarchy: true`."""
    shielded: bool = False
    """`enablePreemptable: false`."""


class VolcanoConfiguration(Struct, frozen=True):
    """`volcano-scheduler.conf`."""

    meta: Meta
    actions: str
    tiers: tuple[tuple[Plugin, ...], ...]


class KueueConfiguration(Struct, frozen=True):
    """The manager's Configuration, whole: fields as the API spells them."""

    meta: Meta
    fields: dict[str, Any]


VOLCANO_CONFIGURATION = Kind(
    "volcano-scheduler.conf",
    "volcano",
    (Release((1, 12), "", "volcano/scheduler_configuration.yaml.j2"),),
)
KUEUE_CONFIGURATION = Kind(
    "Configuration",
    "kueue",
    (
        Release((0, 13), "config.kueue.x-k8s.io/v1beta1", "kueue/configuration.yaml.j2"),
        Release((0, 15), "config.kueue.x-k8s.io/v1beta2", "kueue/configuration.yaml.j2"),
    ),
)

KUEUE_CONFIG_MAP = "kueue-manager-config"
KUEUE_CONFIG_KEY = "controller_manager_config.yaml"
VOLCANO_CONFIG_KEY = "volcano-scheduler.conf"


def volcano(platform: Platform, pools: Sequence[PoolFacts]) -> VolcanoConfiguration | None:
    """What makes the queues count and the pools pack or spread; None without Volcano pools.

    `capacity` with `enableHierarchy` reads deserved and parent, which `proportion` ignores;
    without `reclaim` nothing lent comes back; `enqueue` beside them starves the claimant
    (volcano-sh/volcano#4756). nodeorder looks at cpu and memory only and pulls against
    binpack, which counts no GPU unless it is listed (volcano-sh/volcano#1844).
    """
    mine = [facts for facts in pools if facts.scheduler == "volcano"]
    if not mine:
        return None
    preempts = any(facts.policy.preemption_enabled for facts in mine)
    last: list[Plugin] = [
        Plugin("predicates"),
        Plugin("capacity", hierarchy=True),
    ]
    if any(facts.node_group for facts in mine):
        # Not strict, so that queues without an affinity keep the unlabelled nodes.
        last.append(Plugin("nodegroup", {"strict": False}))
    resources = sorted({resource for facts in mine for resource in facts.resources})
    if mine[0].policy.bin_pack:
        silent = ("leastrequested", "balancedresource", "podtopologyspread", "imagelocality")
        weights = {"binpack.weight": 10, "binpack.cpu": 1, "binpack.memory": 1}
        listed = {"binpack.resources": ",".join(resources)}
        own = {f"binpack.resources.{resource}": GPU_WEIGHT for resource in resources}
        last += [
            Plugin("nodeorder", {f"{name}.weight": 0 for name in silent}),
            Plugin("binpack", {**weights, **listed, **own}),
        ]
    elif mine[0].policy.spread:
        last.append(Plugin("nodeorder", {"leastrequested.weight": 10, "imagelocality.weight": 0}))
        if platform.target.volcano.release >= versions.VOLCANO_STRATEGY_FIT:
            # nodeorder alone put 8 pods of one GPU 3, 1, 1, 3 on four nodes; with this 2 each.
            least = {"type": "LeastAllocated", "weight": GPU_WEIGHT}
            strategies = {"resources": dict.fromkeys(resources, least)}
            last.append(
                Plugin("resource-strategy-fit", {"resourceStrategyFitWeight": 10, **strategies})
            )
    else:
        last.append(Plugin("nodeorder"))
    return VolcanoConfiguration(
        meta=Meta(platform.volcano.config_map, platform.name, platform.volcano.namespace),
        actions="allocate, preempt, reclaim, backfill" if preempts else "allocate, backfill",
        tiers=(
            (
                Plugin("priority"),
                Plugin("gang", shielded=True),
                Plugin("conformance"),
            ),
            tuple(last),
        ),
    )


def weights_differ(trees: Sequence[Tree]) -> bool:
    """Whether fair sharing has anything to decide: siblings of unequal weight under Kueue."""
    for tree in trees:
        if tree.scheduler != "kueue":
            continue
        by_parent: dict[str | None, set[int]] = {}
        for node in tree.nodes:
            by_parent.setdefault(node.parent, set()).add(node.weight)
        if any(len(weights) > 1 for weights in by_parent.values()):
            return True
    return False


FAIR_SHARING = {
    "preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"],
}

_CHART = {
    "health": {"healthProbeBindAddress": ":8081"},
    "metrics": {"bindAddress": ":8443"},
    "webhook": {"port": 9443},
    "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
    "controller": {
        "groupKindConcurrency": {
            "ClusterQueue.kueue.x-k8s.io": 5,
            "Job.batch": 5,
            "LocalQueue.kueue.x-k8s.io": 5,
            "Pod": 5,
            "ResourceFlavor.kueue.x-k8s.io": 1,
            "Workload.kueue.x-k8s.io": 10,
        }
    },
    "clientConnection": {"qps": 300, "burst": 500},
    "integrations": {
        "frameworks": [
            "batch/job",
            "pod",
            "deployment",
            "statefulset",
            "jobset.x-k8s.io/jobset",
            "leaderworkerset.x-k8s.io/leaderworkerset",
        ]
    },
}
"""What a Configuration needs besides our stanzas when no base file is given: the values of
Kueue's own chart (`charts/kueue/values.yaml`), since the chart takes the file as a whole."""


def _frameworks(seats: Sequence[Seat]) -> list[str]:
    """Integrations without which queue labels on the models' workloads would be ignored."""
    wanted = ["batch/job"]
    mine = [seat.model for seat in seats if seat.fit.facts.scheduler == "kueue"]
    if any(model.workload == "serving" for model in mine):
        # A Deployment is queued pod by pod.
        wanted += ["pod", "deployment", "statefulset"]
    if any(model.gang and model.gang.run_as == "lws" for model in mine):
        wanted.append("leaderworkerset.x-k8s.io/leaderworkerset")
    return wanted


def kueue(
    platform: Platform,
    pools: Sequence[PoolFacts],
    trees: Sequence[Tree],
    seats: Sequence[Seat],
    base: dict[str, Any] | None,
) -> KueueConfiguration | None:
    """The base file with what the spec needs merged in; None without Kueue pools.

    What the base says of a stanza stays. `waitForPodsReady` is always written where gangs are
    to start whole: from 0.19 an absent stanza means on, before it means off.
    """
    mine = [facts for facts in pools if facts.scheduler == "kueue"]
    if not mine:
        return None
    old = platform.target.kueue.release < (0, 15)
    version = "v1beta1" if old else "v1beta2"
    if base is None:
        fields: dict[str, Any] = {
            "apiVersion": f"config.kueue.x-k8s.io/{version}",
            "kind": "Configuration",
            **_CHART,
        }
    else:
        fields = dict(base)
        # A base of the older form is merged in its own terms.
        old = str(fields.get("apiVersion", "")).endswith("/v1beta1")
    if any(facts.policy.gang_scheduling for facts in mine):
        stanza: dict[str, Any] = {"timeout": "30m", "blockAdmission": False}
        if old:
            stanza = {"enable": True, **stanza}
        stanza["requeuingStrategy"] = {
            "timestamp": "Eviction",
            "backoffBaseSeconds": 60,
            "backoffMaxSeconds": 3600,
        }
        fields["waitForPodsReady"] = {**stanza, **(fields.get("waitForPodsReady") or {})}
        if old:
            fields["waitForPodsReady"]["enable"] = True
    if weights_differ(trees):
        sharing = {"enable": True, **FAIR_SHARING} if old else dict(FAIR_SHARING)
        fields["fairSharing"] = {**sharing, **(fields.get("fairSharing") or {})}
        if old:
            fields["fairSharing"]["enable"] = True
    integrations = dict(fields.get("integrations") or {})
    frameworks = list(integrations.get("frameworks") or ())
    missing = [name for name in _frameworks(seats) if name not in frameworks]
    fields["integrations"] = {**integrations, "frameworks": [*frameworks, *missing]}
    fields.setdefault(
        "managedJobsNamespaceSelector",
        {
            "matchExpressions": [
                {
                    "key": "kubernetes.io/metadata.name",
                    "operator": "NotIn",
                    "values": ["kube-system", platform.kueue.namespace],
                }
            ]
        },
    )
    return KueueConfiguration(
        Meta(KUEUE_CONFIG_MAP, platform.name, platform.kueue.namespace), fields
    )
