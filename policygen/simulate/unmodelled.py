"""Features of the input that a simulation does not know, and how many jobs each can affect."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from policygen.kubernetes import kueue_gates
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.configurations import SchedulerProfileView
from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.kueue_settings import USAGE_BASED, Settings
from policygen.kubernetes.pod_quotas import charge
from policygen.kubernetes.untyped import mappings
from policygen.simulate.arrival import Arrival
from policygen.simulate.assumptions import CHECK, GATE
from policygen.simulate.kueue.workload import QueuedWorkload
from policygen.simulate.placement.profile import Profile, profile
from policygen.simulate.result import Unmodelled
from policygen.simulate.scene import Scene, names_nodes
from policygen.simulate.volcano.build import scheduler_settings

_MODELLED = frozenset(
    {
        "AdmissionFairSharing", "DisableWaitForPodsReady", "PartialAdmission", "QuotaCheckStrategy",
        "ShortWorkloadNames", "TopologyAwareScheduling", "WorkloadIdentifierAnnotations",
        "WorkloadPriorityClassDefaulting",
    }
)  # fmt: skip
"""Feature gates of which a simulation knows both states."""
_WITHOUT_EFFECT = frozenset(
    {
        "CustomMetricLabels", "LocalQueueMetrics", "MetricForWorkloadCreationLatency",
        "MetricsForCohorts", "RemoveFinalizersWithStrictPatch", "TASAssignmentsEncodingByHostnamePrefix",
        "TASCacheNodeMatchResults", "TASCacheTopologyTree", "TASCachingRemainingResources", "TLSOptions",
        "UnadmittedWorkloadsExplicitStatus", "UnadmittedWorkloadsObservability",
        "VectorizedResourceRequests", "VisibilityOnDemand", "WorkloadRequestUseMergePatch",
    }
)  # fmt: skip
"""Feature gates of metrics, caches, connections and the form of status: they decide about no workload."""
_CHECKS = "MultiKueue"
"""Gates of admission checks, which are named where a queue has one."""
CLAIMS = "resource claims (DRA)"
NAMED_NODES = "names of nodes in pods, because the input has no nodes"
PORTS = "host ports"
SAMPLED = 100
SAMPLE = f"the sample of nodes that Volcano takes of more than {SAMPLED}"


def unmodelled(scene: Scene, arrivals: Iterable[Arrival]) -> tuple[Unmodelled, ...]:
    """The features that are in use, sorted by name."""
    found: Counter[str] = Counter()
    arrivals = tuple(arrivals)
    of_settings = frozenset((*_of_settings(scene), *_of_gates(scene.settings)))
    known: dict[object, frozenset[str]] = {}
    for it in arrivals:
        if it.refusal:
            found[f"{it.kind}: {it.refusal}"] += it.unknown
            continue
        specs = tuple((id(one.spec), one.gates) for one in it.pods)
        key = (
            specs,
            it.namespace,
            it.kind,
            it.gang is None,
            it.workload.queue if it.workload is not None else None,
        )
        if key not in known:
            known[key] = frozenset(_of_job(scene, it))
            if it.workload is not None:
                known[key] |= of_settings
        found.update(known[key].union(it.unmodelled))
    return tuple(sorted((*scene.unmodelled, *(Unmodelled(*it) for it in found.items() if it[1]))))


def _of_job(scene: Scene, job: Arrival) -> Iterator[str]:
    specs = [it.spec for it in job.pods]
    if not scene.nodes and any(map(names_nodes, specs)):
        yield NAMED_NODES
    if any(it.resource_claims for it in specs):
        yield CLAIMS
    if scene.growing and job.gang is not None:
        yield "an autoscaler that adds nodes for pods of Volcano"
    elif scene.growing and any(it.topology_spread_constraints for it in specs):
        yield "topology spread over nodes that an autoscaler adds, which count before they exist"
    yield from _gates(scene, job)
    yield from _quotas(scene, job)
    if scene.nodes and any(
        port.get("hostPort") for it in specs for one in it.containers for port in one.ports
    ):
        yield PORTS
    if job.gang is not None:
        yield from (f"{it} of Volcano" for it in scheduler_settings(scene.cluster).unmodelled)
        if len(scene.nodes) > SAMPLED:
            yield SAMPLE
    elif scene.nodes and not job.unscheduled:
        yield from _of_profiles(scene, {it.scheduler_name or "default-scheduler" for it in specs})
    if job.workload is not None:
        yield from _of_workload(scene, job.workload)


def _of_workload(scene: Scene, workload: QueuedWorkload) -> Iterator[str]:
    namespace, _, name = workload.queue.partition("/")
    local = scene.cluster.local_queues.get(name, namespace)
    queue = scene.cluster.cluster_queues.get(local.fields.cluster_queue) if local else None
    if queue is not None:
        yield from _checks(scene, queue.fields)
        for feature, applies in _OF_QUEUE.items():
            if applies(scene, queue.fields):
                yield feature


def _gates(scene: Scene, job: Arrival) -> Iterator[str]:
    """The scheduling gates of which `--assume` does not state the removal."""
    for gate in sorted({gate for it in job.pods for gate in it.gates}):
        if job.gang is not None:
            yield f"scheduling gate {gate} of pods of Volcano"
        elif gate not in scene.assumptions.gates:
            yield (
                f"scheduling gate {gate}, which is assumed to stay; --assume {GATE}/{gate}=5m "
                "states when it is removed"
            )


def _quotas(scene: Scene, job: Arrival) -> Iterator[str]:
    """ResourceQuotas that count the object of a job, or pods that Volcano's controller creates."""
    for quota in scene.cluster.resource_quotas.by_namespace.get(job.namespace, ()):
        for key in quota.fields.hard:
            if key.startswith(f"count/{job.kind.lower()}s."):
                yield f"key {key} of a ResourceQuota"
        if job.gang is not None and any(
            charge(it.spec, key) for it in job.pods for key in quota.fields.hard
        ):
            yield "a ResourceQuota for pods of Volcano"


def _of_profiles(scene: Scene, names: Iterable[str]) -> Iterator[str]:
    known, extended = scene.cluster.derive(_profiles)
    for name in names:
        found = known.get(name)
        if name in extended:
            yield "extenders of kube-scheduler"
        if found is not None:
            yield from (f"plugin {it} of kube-scheduler" for it in found.not_modelled)
        elif name != "default-scheduler":
            yield f"scheduler {name}, simulated as kube-scheduler with its defaults"


def _profiles(cluster: Cluster) -> tuple[Mapping[str, Profile], Collection[str]]:
    """The profiles of kube-scheduler by name, and the names of those with extenders."""
    known = {
        it.scheduler_name: profile(it)
        for entry in cluster.scheduler_configurations
        for it in entry.fields.profiles
    }
    extended = {
        it.scheduler_name
        for entry in cluster.scheduler_configurations
        if mappings(entry.object.data.get("extenders"))
        for it in entry.fields.profiles or (SchedulerProfileView(),)
    }
    return known, extended


def _of_settings(scene: Scene) -> Iterator[str]:
    """What Kueue's Configuration switches on and a simulation does not know."""
    entry = scene.settings.entry
    if entry is None:
        return
    waiting = (entry.fields.wait_for_pods_ready or {}) if scene.settings.waits_for_pods else {}
    if waiting.get("blockAdmission") is True:
        yield "waitForPodsReady.blockAdmission of Kueue"
    if waiting.get("recoveryTimeout") is not None:
        yield "waitForPodsReady.recoveryTimeout of Kueue"


def _of_gates(settings: Settings) -> Iterator[str]:
    """The feature gates of the Configuration or the command line that a simulation knows with their default."""
    for gate in kueue_gates.names(settings.target):
        on = settings.gate(gate)
        known = gate in _MODELLED | _WITHOUT_EFFECT or gate.startswith(_CHECKS)
        if not known and on is not kueue_gates.on(gate, settings.target):
            yield f"feature gate {gate} of Kueue, which is {'on' if on else 'off'}"


def _topology(scene: Scene, queue: ClusterQueueView) -> bool:
    if scene.knows_topologies:
        return False
    names = {it.name for group in queue.resource_groups for it in group.flavors}
    return any(it.fields.topology_name for it in scene.cluster.flavors if it.object.name in names)


def _checks(scene: Scene, queue: ClusterQueueView) -> Iterator[str]:
    """The admission checks whose outcome `--assume` does not state."""
    strategy = queue.admission_checks_strategy
    for it in strategy.admission_checks if strategy is not None else ():
        if it.name not in scene.assumptions.checks:
            yield (
                f"admission check {it.name} of Kueue, which is assumed to be ready at once; "
                f"--assume {CHECK}/{it.name}=Ready:5m states another outcome"
            )


def _usage(scene: Scene, queue: ClusterQueueView) -> bool:
    scope = queue.admission_scope
    based = scope is not None and scope.admission_mode == USAGE_BASED
    return based and scene.settings.admission_fair_sharing


_OF_QUEUE: dict[str, Callable[[Scene, ClusterQueueView], bool]] = {
    "topology-aware scheduling of Kueue, because nodes are not known": _topology,
    "fair sharing by usage (admissionScope) of Kueue": _usage,
    "concurrent admission of Kueue": lambda _, queue: bool(queue.concurrent_admission_policy),
}
