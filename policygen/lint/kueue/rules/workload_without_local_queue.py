"""A workload names a LocalQueue that does not exist in its namespace."""

from collections.abc import Iterator, Mapping, Sequence

from policygen.api_validation.metadata import is_subdomain
from policygen.core.finding import At
from policygen.core.names import LOCAL_QUEUE
from policygen.core.quoting import listed
from policygen.core.suggest import Names, is_slip, suggest
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_jobs import BY_POD, DEFAULT_QUEUE, Queued, local_queues, queued
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.core.missing_namespaces import missing_namespaces
from policygen.lint.core.renamed_objects import NameUse, RenamedObject, renamed_objects
from policygen.lint.kueue.misplaced_queues import misplaced_queues
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_OPAQUE = ("sparkoperator.k8s.io", "SparkApplication")
"""A kind that Kueue manages and whose pods no rule can read; it is not read from clusters."""
_Place = At | Queued
"""The place of a name, or the job that has it, which few rules need and which takes time to find."""
_LABEL = ("metadata", "labels", LOCAL_QUEUE)


def check(facts: Facts) -> Hits:
    """It stays suspended; only its Workload gives the reason. Another rule reports invalid names.

    Source: pkg/cache/queue/manager.go; pkg/controller/jobframework/reconciler.go.
    """
    cluster = facts.cluster
    known = cluster.local_queues
    missing = facts.derive(missing_namespaces) if "namespace-missing" in facts.run else ()
    moved = _of_misplaced(facts)
    references = tuple(_references(cluster))
    renamed = _renamed(cluster, references)
    for it in renamed.values():
        yield from it.hits(facts, RULE)
    for workload, name, place in references:
        namespace = workload.namespace
        if (namespace, name) in renamed:
            continue
        if (name, namespace) in moved:
            continue  # namespace-not-selected reports the LocalQueue
        if not is_subdomain(name) or local_queues(cluster, name, namespace):
            continue
        if known.knows(name, namespace) or known.knows(name):
            continue  # it exists, but cannot be read
        if namespace in missing or (namespace and not is_subdomain(namespace)):
            continue  # other rules report the namespace
        where = f"namespace {namespace}" if namespace else "any namespace"
        yield Hit(
            RULE,
            f'{workload} names LocalQueue "{name}", which does not exist in {where}; '
            f"{_advice(cluster, name, namespace)}",
            _at(place),
        )


def _at(place: _Place) -> At:
    return place if isinstance(place, At) else place.at


def _renamed(
    cluster: Cluster, references: Sequence[tuple[Workload | Object, str, _Place]]
) -> Mapping[tuple[str, str], RenamedObject]:
    """The LocalQueues that were probably renamed, by namespace and the name that several workloads use."""
    known = cluster.local_queues
    lost = {it.namespace for it, name, _ in references if not known.knows(name, it.namespace)}
    uses: dict[str, list[NameUse]] = {}
    for workload, name, place in references if lost else ():
        if workload.namespace in lost:
            uses.setdefault(workload.namespace, []).append(NameUse(workload, name, _at(place)))
    return {
        (namespace, name): it
        for namespace, own in uses.items()
        for name, it in renamed_objects(own, known, (DEFAULT_QUEUE,), namespace).items()
    }


def _of_misplaced(facts: Facts) -> set[tuple[str, str]]:
    """Names and namespaces of references to LocalQueues for which another rule advises this namespace."""
    if "namespace-not-selected" not in facts.run:
        return set()
    found = facts.derive(misplaced_queues)
    return {
        (local.name, users[0].namespace)
        for local in facts.cluster.local_queues
        if (users := found.get(local.at))
    }


def _advice(cluster: Cluster, name: str, namespace: str) -> str:
    of_queue = [
        it.name
        for it in cluster.local_queues.by_namespace.get(namespace, ())
        if it.fields.cluster_queue == name
    ]
    if of_queue:
        return f"{name} is the ClusterQueue; write {listed(sorted(of_queue), 'or')}"
    known = cluster.local_queues.names(namespace)
    if not known:
        found = sorted(it.namespace for it in cluster.local_queues if it.name == name)
        meant = next((it for it in found if is_slip(namespace, it)), "")
        if not meant and not cluster.namespaces.knows(namespace):
            meant = Names(found).meant(namespace)
        if meant:
            return f'did you mean namespace "{meant}"?'
    return suggest(name, known, "LocalQueue of this namespace")


def _references(cluster: Cluster) -> Iterator[tuple[Workload | Object, str, _Place]]:
    """Each object that names a LocalQueue, with the name and its place."""
    for job in cluster.derive(queued):
        yield job.workload, job.name, job
    for workload in cluster.workloads:
        if (workload.object.group, workload.kind) in BY_POD:
            for template in workload.templates:
                name = template.labels.get(LOCAL_QUEUE)
                if name:
                    yield workload, name, template.at.to(*_LABEL)
    for thing in cluster.of(*_OPAQUE):
        if name := thing.labels.get(LOCAL_QUEUE):
            yield thing, name, thing.at.to(*_LABEL)


RULE = ObjectRule(
    "workload-without-local-queue",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Name an existing LocalQueue of the namespace, or create the missing one there.",
    judges=(*KINDS, "LocalQueue"),  # beside which there may be the opaque kind alone
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("LocalQueue", "ClusterQueue"),
)
