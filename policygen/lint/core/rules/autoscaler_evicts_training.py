"""A VerticalPodAutoscaler evicts training pods to change their requests."""

from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import VerticalPodAutoscalerView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_EVICTS = ("Auto", "Recreate", "InPlaceOrRecreate")
"""Modes that evict a pod; the last one only if the pod cannot be resized in place."""
_SERVES = ("DaemonSet", "Deployment", "LeaderWorkerSet", "RayService", "ReplicaSet", "StatefulSet")
"""Kinds whose pods lose no work when evicted, unless their name contains a word of _TRAINS."""
_TRAINS = ("train", "finetune", "fine-tune", "pretrain")

Target = tuple[str, str, str]


def check(facts: Facts) -> Hits:
    """If the target is missing, or of a kind that serves, its name must contain a word of _TRAINS.

    Source: VerticalPodAutoscaler 1.8.1, pkg/updater/logic/updater.go (Auto means Recreate).
    """
    gpus = facts.cluster.derive(_on_gpus)
    for entry in facts.cluster.vertical_pod_autoscalers:
        mode = entry.fields.update_policy.get("updateMode", "Auto")
        target = _target(entry)
        if mode not in _EVICTS:
            continue
        named = any(word in target[2].lower() for word in _TRAINS)
        if gpus.get(target, named) and (named or target[1] not in _SERVES):
            yield Hit(
                RULE,
                f"{entry} evicts pods of {target[1]} {target[2]} to change their cpu and memory, "
                "so training since the last checkpoint is lost; "
                'write updateMode: "Off" or Initial',
                entry.at.to("spec", "updatePolicy", "updateMode"),
            )


def _target(entry: Entry[VerticalPodAutoscalerView]) -> Target:
    ref = entry.fields.target_ref
    return entry.namespace, str(ref.get("kind")), str(ref.get("name"))


def _on_gpus(cluster: Cluster) -> dict[Target, bool]:
    """Whether each workload requests GPUs."""
    return {
        (workload.namespace, workload.kind, workload.name): any(
            accelerators.requested(cluster, template) for template in workload.templates
        )
        for workload in cluster.workloads
    }


RULE = ObjectRule(
    "autoscaler-evicts-training",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy='Set updateMode to "Off" or Initial.',
    judges=("VerticalPodAutoscaler",),
    check=check,
    reads=KINDS,
)
