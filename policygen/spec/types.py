"""The spec, typed and frozen: the user's settings, before defaults are applied.

Quantities are exact integers here: cpu in thousandths of a core (`cpu_milli`), memory in
bytes. Counts of GPUs, instances or replicas are in units of the pool's resource.
"""

from fractions import Fraction
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import At
from policygen.core.versions import DEFAULT, Version
from policygen.spec.programs import (
    AdmissionSettings,
    ClusterAutoscalerSettings,
    KedaSettings,
    KubeSchedulerSettings,
    KueueSettings,
    LintSettings,
    MonitoringSettings,
    NvidiaSettings,
    VolcanoSettings,
)

Scheduler = Literal["kueue", "volcano", "kube-scheduler"]
Sharing = Literal["none", "mig", "timeSlicing", "mps"]
RunAs = Literal["pods", "vcjob", "lws", "job"]
FailureDomain = Literal["none", "node", "zone"]

WHOLE = ""
"""Key of a plain number in `Amounts`: units of the pool's only resource."""

Amounts = tuple[tuple[str, int], ...]
"""Units by MIG profile, or by WHOLE where the pool has one resource."""


class Target(Struct, frozen=True):
    """The versions that the cluster runs."""

    kubernetes: Version = DEFAULT["kubernetes"]
    kueue: Version = DEFAULT["kueue"]
    volcano: Version = DEFAULT["volcano"]


class Priority(Struct, frozen=True):
    """A priority that workloads can request."""

    name: str
    at: At
    value: int
    preempts: bool = True
    description: str | None = None


class SharedQueue(Struct, frozen=True):
    """Pools that are alternatives of each other, in the order in which they are tried."""

    name: str
    at: At
    pools: tuple[str, ...]


class SchedulingPolicy(Struct, frozen=True):
    """How a pool places pods and shares GPUs; None: not set here, so the next wider setting applies."""

    bin_pack: bool | None = None
    spread: bool | None = None
    overcommit_ratio: Fraction | None = None
    topology_aware: bool | None = None
    gang_scheduling: bool | None = None
    preemption_enabled: bool | None = None

    def over(self, wider: "SchedulingPolicy") -> "SchedulingPolicy":
        """The settings of this place, completed by those of the wider place."""
        own = self
        if own.bin_pack or own.spread:
            # One of the two set here also decides the other, whatever the wider place sets.
            own = replace(own, bin_pack=bool(own.bin_pack), spread=bool(own.spread))
        fields = {
            field: mine if (mine := getattr(own, field)) is not None else getattr(wider, field)
            for field in self.__struct_fields__
        }
        return SchedulingPolicy(**fields)


class NodeResources(Struct, frozen=True):
    """CPU and memory of one node, or of one container."""

    cpu_milli: int
    memory_bytes: int


class QuotaVariant(Struct, frozen=True):
    """The quota of a team in one cluster; None: as the team has it."""

    team: str
    at: At
    guarantee: "Amounts | None" = None
    limit: "Amounts | None" = None


class PoolVariant(Struct, frozen=True):
    """What differs for a pool in one cluster."""

    name: str
    at: At
    capacity: "Capacity"
    quotas: tuple[QuotaVariant, ...] = ()


class ClusterVariant(Struct, frozen=True):
    """One of the clusters that a spec describes, and what differs from the spec."""

    name: str
    at: At
    target: tuple[tuple[str, Version], ...] = ()
    """Versions by component."""
    pools: tuple[PoolVariant, ...] = ()


class PeakHours(Struct, frozen=True):
    """When GPUs are needed for serving."""

    time_zone: str
    start: str
    """HH:MM."""
    end: str
    """HH:MM, on the next day if it is before `start`."""
    days: tuple[str, ...]
    """Those on which it begins, such as Mon."""


class Platform(Struct, frozen=True):
    """Settings of the complete set."""

    name: str = "default"
    at: At | None = None
    target: Target = Target()
    clusters: tuple[ClusterVariant, ...] = ()
    cluster: ClusterVariant | None = None
    """The one that the spec is read for."""
    priorities: tuple[Priority, ...] = ()
    shared_queues: tuple[SharedQueue, ...] = ()
    scheduler: Scheduler = "kueue"
    """For pools without their own."""
    scheduling_policy: SchedulingPolicy = SchedulingPolicy()
    container_defaults: NodeResources | None = None
    kueue: KueueSettings = KueueSettings()
    volcano: VolcanoSettings = VolcanoSettings()
    kube_scheduler: KubeSchedulerSettings = KubeSchedulerSettings()
    nvidia: NvidiaSettings = NvidiaSettings()
    cluster_autoscaler: ClusterAutoscalerSettings = ClusterAutoscalerSettings()
    monitoring: MonitoringSettings = MonitoringSettings()
    keda: KedaSettings | None = None
    """None: KEDA scales no model."""
    lint: LintSettings = LintSettings()
    admission: AdmissionSettings = AdmissionSettings()
    peak_hours: PeakHours | None = None


class Taint(Struct, frozen=True):
    """A taint of the pool's nodes."""

    key: str
    effect: str
    value: str | None = None


class Toleration(Struct, frozen=True):
    """A toleration that the pool's workloads get."""

    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None
    toleration_seconds: int | None = None


class Gpu(Struct, frozen=True):
    """The accelerator of a pool's nodes and how it is shared."""

    product: str | None = None
    memory_bytes: int | None = None
    per_node: int | None = None
    resource: str | None = None
    sharing: Sharing = "none"
    replicas: int = 1
    """Per GPU, when time-sliced or shared by MPS."""
    mig_strategy: Literal["single", "mixed"] = "mixed"
    instances: Amounts = ()
    """Available MIG instances of the pool, by profile."""


class Capacity(Struct, frozen=True):
    """The size of a pool. GPUs are physical cards here."""

    nodes: int | None = None
    total_gpus: int | None = None
    available_gpus: int | None = None
    node_type: str | None = None
    node_allocatable: NodeResources | None = None
    system_reserved: NodeResources | None = None
    elsewhere: tuple[tuple[str, At], ...] = ()
    """The places of fields that a cluster of the Platform sets."""


class NodeClass(Struct, frozen=True):
    """An object of a cloud from which Karpenter makes nodes."""

    group: str
    kind: str
    name: str


class NodeAutoscaler(Struct, frozen=True):
    """The program that adds nodes to a pool and removes them."""

    node_groups: tuple[str, ...] = ()
    """Regular expressions for the groups of Cluster Autoscaler, the preferred one first."""
    node_class: NodeClass | None = None
    """Set if Karpenter makes the nodes."""
    provisioning_class: str | None = None
    """Set if Kueue requests the nodes of each workload."""


class Pool(Struct, frozen=True):
    """A set of equal nodes."""

    name: str
    at: At
    node_selector: tuple[tuple[str, str], ...]
    scheduler: Scheduler | None = None
    taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] | None = None
    """None: those that the taints need."""
    gpu: Gpu = Gpu()
    capacity: Capacity = Capacity()
    scheduling_policy: SchedulingPolicy = SchedulingPolicy()
    topology_levels: tuple[str, ...] = ()
    quota_backstop: bool = False
    quota_cpu_and_memory: bool = False
    preemptible: bool = False
    """Spot nodes, which the provider may take away."""
    autoscaler: NodeAutoscaler | None = None
    guess_product: bool = False
    """Guess the product from the nodeSelector (the articles' form has no field for it)."""

    def capacity_at(self, name: str) -> At:
        """The place of a field of its capacity."""
        places = dict(self.capacity.elsewhere)
        return places.get(name) or self.at.to("spec", "capacity", name)


class TeamNamespace(Struct, frozen=True):
    """A namespace of a team."""

    name: str
    create: bool = False
    shared: bool = False
    """Several queues of the articles' ConfigMap share it, and each needs its own LocalQueue."""


class Bounds(Struct, frozen=True):
    """Guarantee and limit of cpu (thousandths) or memory (bytes); None if not set."""

    guarantee: int | None = None
    limit: int | None = None


class Quota(Struct, frozen=True):
    """The quota of a team in one pool."""

    pool: str
    at: At
    guarantee: Amounts | None = ()
    """None: the weight's share of the pool (the articles' queues)."""
    limit: Amounts | None = None
    weight: int = 1
    cpu: Bounds = Bounds()
    memory: Bounds = Bounds()
    renamed: tuple[tuple[str, str], ...] = ()
    """Names of fields in the document's form, if they differ."""
    elsewhere: tuple[tuple[str, At], ...] = ()
    """The places of fields that a cluster of the Platform sets."""

    def field(self, name: str) -> At:
        """The place of a field, under its name in the document's form."""
        return dict(self.elsewhere).get(name) or self.at / dict(self.renamed).get(name, name)


class Team(Struct, frozen=True):
    """A team that shares pools with others."""

    name: str
    at: At
    parent: str | None = None
    namespaces: tuple[TeamNamespace, ...] = ()
    max_pending: int | None = None
    max_pending_at: At | None = None
    quotas: tuple[Quota, ...] = ()
    container_defaults: NodeResources | None = None
    queue_priority: int | None = None

    def quota_at(self, pool: str, field: str = "pool") -> At:
        """The place of a field of its quota for a pool; the team's place if it has no such quota."""
        return next((quota.field(field) for quota in self.quotas if quota.pool == pool), self.at)


class Sizing(Struct, frozen=True):
    """Assumptions of the memory rule; None: the default of docs/hardware.md."""

    precision: str | None = None
    kv_cache_precision: str | None = None
    concurrency: int | None = None
    context_length: int | None = None
    runtime_memory_bytes: int | None = None
    gpu_memory_utilization: int | None = None
    """Percent."""
    any_gpu_count: bool = False
    """Allows numbers of GPUs that are not powers of two."""
    training: Literal["full", "lora"] | None = None
    """Whether all parameters are trained, or only adapters. Also below: only for training."""
    trainable_percent: Fraction | None = None
    """Parameters of the adapters, in percent of the model's."""
    gradient_precision: str | None = None
    optimizer_bytes: int | None = None
    """For each trained parameter."""
    sharding: Literal["none", "optimizer", "gradients", "full"] | None = None
    """What the pods of a gang divide."""
    activation_memory_bytes: int | None = None
    """On each GPU."""


class Gang(Struct, frozen=True):
    """Pods that must start together."""

    size: int
    run_as: RunAs = "pods"


class Autoscaling(Struct, frozen=True):
    """Bounds of a serving model's replicas."""

    min_replicas: int
    max_replicas: int
    target_concurrency: int | None = None
    metric: str | None = None
    """Of a pod, whose value an autoscaler keeps at `target_concurrency`; None: it is not rendered."""


class ModelContainer(Struct, frozen=True):
    """The container of a model's pods, as far as its owner decides it."""

    image: str | None = None
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    port: int | None = None


class ModelSchedule(Struct, frozen=True):
    """When a training or batch model runs."""

    cron: str
    time_zone: str
    hours: int
    """Length of the window that begins at each time of `cron`."""


class Availability(Struct, frozen=True):
    """What the replicas of a serving model survive."""

    failure_domain: FailureDomain
    min_available: int | None = None
    """Pods that a drain leaves; None: all but one."""


class Checkpoint(Struct, frozen=True):
    """What a pod does before Kubernetes stops it."""

    grace_period_s: int
    command: tuple[str, ...] = ()


class Placement(Struct, frozen=True):
    """Where a model may run."""

    pools: tuple[str, ...] = ()
    node_types: tuple[str, ...] = ()
    tolerate_preemptible: bool = False


class Model(Struct, frozen=True):
    """A model to run. Resources are those of one replica, or of one pod of a gang."""

    name: str
    at: At
    workload: Literal["serving", "training", "batch"] = "serving"
    team: str | None = None
    namespace: str | None = None
    priority: str | None = None
    family: str | None = None
    size: str | None = None
    gpu_memory_bytes: int | None = None
    gpus: int | None = None
    cpu_milli: int | None = None
    memory_bytes: int | None = None
    container: ModelContainer = ModelContainer()
    sizing: Sizing = Sizing()
    replicas: int | None = None
    gang: Gang | None = None
    autoscaling: Autoscaling | None = None
    schedule: ModelSchedule | None = None
    availability: Availability | None = None
    checkpoint: Checkpoint | None = None
    placement: Placement = Placement()
    renamed: tuple[tuple[str, str], ...] = ()
    """Names of fields in the document's form, if they differ."""

    def field(self, name: str) -> At:
        """The place of a field of `spec`, under its name in the document's form."""
        return self.at / "spec" / dict(self.renamed).get(name, name)


class Spec(Struct, frozen=True):
    """The complete spec. Sorted by name, so that the order of files has no effect."""

    platform: Platform = Platform()
    pools: tuple[Pool, ...] = ()
    teams: tuple[Team, ...] = ()
    models: tuple[Model, ...] = ()
