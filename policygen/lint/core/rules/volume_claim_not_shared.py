"""Several pods use a PersistentVolumeClaim that only one node, or only one pod, can use at a time."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from policygen.core.names import HOSTNAME, ZONE
from policygen.core.quoting import counted
from policygen.core.tolerations import tolerates
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.pod_terms import TermKind, required_terms, selector_of
from policygen.kubernetes.untyped import integer, mapping, text, texts
from policygen.kubernetes.workloads import KINDS, PodTemplate, Workload
from policygen.lint.core.autoscalers import autoscaler_of
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_OF_NODES = (HOSTNAME, ZONE, "topology.kubernetes.io/region")
"""Labels that separate nodes."""
_ONE_NODE, _ONE_POD = ["ReadWriteOnce"], ["ReadWriteOncePod"]
_SHARED = "use a claim with accessMode ReadWriteMany or ReadOnlyMany, or a StatefulSet with volumeClaimTemplates"


def check(facts: Facts) -> Hits:
    """With ReadWriteOnce, checks pods that cannot all run on one node.

    Source: pkg/controller/volume/attachdetach/reconciler (Multi-Attach error) and
    pkg/scheduler/framework/plugins/volumerestrictions of Kubernetes 1.36.3.
    """
    claims = facts.cluster.persistent_volume_claims
    for workload in facts.cluster.workloads if claims.any else ():
        scaled = autoscaler_of(facts.cluster, workload)
        for template in workload.templates:
            pods = template.replicas or 0
            pods = pods if scaled is None else scaled.pods(pods)
            for i, volume in enumerate(template.spec.volumes if pods > 1 else ()):
                claim = claims.get(
                    text(volume, "persistentVolumeClaim", "claimName"), workload.namespace
                )
                modes = texts(claim.object.data.get("spec"), "accessModes") if claim else ()
                if claim is None or not (
                    where := _where(facts.cluster, workload, template, pods, list(modes))
                ):
                    continue
                yield Hit(
                    RULE,
                    f"{counted(pods, 'pod')} of {workload} use {claim} with accessMode {modes[0]}, {where}; {_SHARED}",
                    template.at.to("spec", "volumes", i, "persistentVolumeClaim", "claimName"),
                    (claim.at.to("spec", "accessModes"),),
                )


def _where(
    cluster: Cluster, workload: Workload, template: PodTemplate, pods: int, modes: list[str]
) -> str:
    """Why only one of the pods can use a claim; empty if all of them may."""
    if modes == _ONE_POD:
        return "which only one pod can use, so the others stay Pending"
    if modes == _ONE_NODE and (why := next(_apart(cluster, workload, template, pods), "")):
        return f"which only one node can attach, but {why}, so the others stay in ContainerCreating"
    return ""


def _apart(cluster: Cluster, workload: Workload, template: PodTemplate, pods: int) -> Iterator[str]:
    """Why the pods of a template run on different nodes."""
    if _are_apart(workload, template):
        yield "their required anti-affinity keeps them on different nodes"
    for key in _spread_keys(cluster, template, pods):
        yield f"their spread constraint distributes them to several values of {key}"
    largest = cluster.derive(_largest)
    for name, amount in template.spec.requests.items():
        if is_one(name) and amount <= largest.get(name, 0) < pods * amount:
            yield f"no node has {pods * amount} {name}"


def _are_apart(workload: Workload, template: PodTemplate) -> bool:
    """Whether a required anti-affinity keeps the pods of a template on different nodes."""
    labels, namespace = template.labels, workload.namespace
    return any(
        term.key in _OF_NODES
        and term.selector is not None
        and term.selector.selects(labels)
        and namespace in term.namespaces
        for _, term in required_terms(template.spec.affinity, TermKind.APART, namespace, labels)
    )


def _spread_keys(cluster: Cluster, template: PodTemplate, pods: int) -> Iterator[str]:
    """The keys of required spread constraints that need more than one domain for so many pods."""
    for constraint in template.spec.topology_spread_constraints:
        key, selector = (
            text(constraint, "topologyKey"),
            selector_of(constraint.get("labelSelector")),
        )
        if (
            constraint.get("whenUnsatisfiable") == "DoNotSchedule"
            and key in _OF_NODES
            and selector is not None
            and selector.selects(template.labels)
            and pods > (integer(constraint.get("maxSkew")) or pods)
            and _has_domains(cluster, template, key)
        ):
            yield key


def _has_domains(cluster: Cluster, template: PodTemplate, key: str) -> bool:
    """Whether the pods can run in several values of a label; unknown for a required node affinity."""
    spec = template.spec
    if mapping(spec.affinity, "nodeAffinity").get(REQUIRED):
        return False
    values = {
        node.labels[key]
        for node in cluster.nodes
        if key in node.labels
        and spec.node_selector.items() <= node.labels.items()
        and all(
            taint.effect == "PreferNoSchedule"
            or any(tolerates(it, taint) for it in spec.tolerations)
            for taint in node.fields.spec.taints
        )
    }
    return len(values) > 1


def _largest(cluster: Cluster) -> Mapping[str, Fraction]:
    """The most of each accelerator that one node has; none if an autoscaler can add larger nodes."""
    found: dict[str, Fraction] = {}
    for node in cluster.nodes if not cluster.node_pools.any else ():
        for name, amount in node.fields.status.allocatable.items():
            if is_one(name):
                found[name] = max(found.get(name, amount), amount)
    return found


RULE = ObjectRule(
    "volume-claim-not-shared",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Use a claim that several nodes can use, or one claim for each pod.",
    judges=KINDS,
    check=check,
    reads=("PersistentVolumeClaim", "HorizontalPodAutoscaler", "ScaledObject", "Node", "NodePool"),
)
