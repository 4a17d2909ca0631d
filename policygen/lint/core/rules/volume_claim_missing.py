"""A pod uses a PersistentVolumeClaim that does not exist."""

import re
from collections.abc import Iterator, Mapping

from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.untyped import mappings, text
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """kube-scheduler places no pod whose claim does not exist.

    Checks manifests only in namespaces in which they have claims. Skips claims that a StatefulSet creates.
    Source: pkg/scheduler/framework/plugins/volumebinding of Kubernetes 1.36.3, podHasPVCs.
    """
    cluster = facts.cluster
    claims = cluster.persistent_volume_claims
    known = claims.any or cluster.seen is not None
    made = cluster.derive(_made) if known else {}
    for workload in cluster.workloads if known else ():
        namespace = workload.namespace
        if cluster.seen is None and not claims.names(namespace):
            continue
        templates = _templates(workload)
        for template in workload.templates:
            for i, volume in enumerate(template.spec.volumes):
                name = text(volume, "persistentVolumeClaim", "claimName")
                if not name or claims.knows(name, namespace) or text(volume, "name") in templates:
                    continue
                if any(it.fullmatch(name) for it in made.get(namespace, ())):
                    continue
                yield Hit(
                    RULE,
                    f'{workload} uses PersistentVolumeClaim "{name}", which does not exist, so its pods stay '
                    f"Pending; {suggest(name, claims.names(namespace), 'PersistentVolumeClaim of this namespace')}",
                    template.at.to("spec", "volumes", i, "persistentVolumeClaim", "claimName"),
                )


def _templates(workload: Workload) -> frozenset[str]:
    """The names of its claim templates, which replace volumes."""
    names = (text(it, "metadata", "name") for it in mappings(workload.spec, "volumeClaimTemplates"))
    return frozenset(filter(None, names))


def _made(cluster: Cluster) -> Mapping[str, list[re.Pattern[str]]]:
    """The names of claims that StatefulSets create, by namespace."""
    found: dict[str, list[re.Pattern[str]]] = {}
    for namespace, name in _names(cluster):
        found.setdefault(namespace, []).append(re.compile(rf"{re.escape(name)}-\d+"))
    return found


def _names(cluster: Cluster) -> Iterator[tuple[str, str]]:
    for workload in cluster.workloads:
        if workload.kind == "StatefulSet":
            for template in _templates(workload):
                yield workload.namespace, f"{template}-{workload.name}"


RULE = ObjectRule(
    "volume-claim-missing",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the name of an existing PersistentVolumeClaim, or create the claim.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("PersistentVolumeClaim",),
)
