"""Pods belong to a PodGroup that does not exist."""

from policygen.core.names import POD_GROUP
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.missing_namespaces import missing_namespaces
from policygen.lint.rule import (
    Edit,
    Facts,
    Family,
    Hit,
    Hits,
    Need,
    ObjectRule,
    Severity,
    Verb,
    written,
)
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """The controller creates a PodGroup only for pods that do not name one; other pods wait.

    Source: pkg/controllers/podgroup/pg_controller_handler.go, addPod; pkg/scheduler/cache, Snapshot.
    """
    groups = facts.cluster.pod_groups
    missing = facts.derive(missing_namespaces) if "namespace-missing" in facts.run else ()
    for workload in facts.cluster.workloads:
        if workload.object.group == VOLCANO_BATCH:
            continue  # its controller writes the annotation and creates the group
        for template in workload.templates:
            name = template.annotations.get(POD_GROUP)
            if not name or not queues.to_volcano(template):
                continue
            if groups.knows(name, workload.namespace) or groups.knows(name):
                continue
            at = template.at.to("metadata", "annotations", POD_GROUP)
            other = next((it for it in groups if it.name == name), None)
            if other is not None and other.namespace in missing:
                continue  # namespace-missing reports it
            if other is not None:
                own = workload.namespace
                advice = f"{other} is in another namespace: write namespace {own} there"
                meant = written(other.at.to("metadata", "namespace"), own)
                if not own:
                    own, there = other.namespace, workload.at.to("metadata", "namespace")
                    advice = f"{other} is in namespace {own}: write this namespace in {workload}"
                    meant = (Edit(Verb.ADD, there, own),)
            else:
                known = groups.names(workload.namespace)
                advice = suggest(name, known, "PodGroup of this namespace")
                meant = written(at, known.meant(name))
            yield Hit(
                RULE,
                f'{workload} names PodGroup "{name}", which does not exist, so its pods wait forever; {advice}',
                at,
                meant=meant,
            )


RULE = ObjectRule(
    "pod-group-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the name of an existing PodGroup, or remove the annotation.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("PodGroup", "Configuration", "Namespace"),
)
