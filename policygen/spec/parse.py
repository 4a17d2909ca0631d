"""Parses schema-valid documents of our own kinds to the typed spec."""

from datetime import date

from policygen.core import versions
from policygen.core.finding import Hit
from policygen.core.names import KUBE_SYSTEM, KUEUE_NAMESPACE, VOLCANO_CONFIG_MAP, VOLCANO_NAMESPACE
from policygen.core.quoting import quoted
from policygen.core.versions import Version
from policygen.spec import autoscaling, availability, node_autoscalers, schedules
from policygen.spec.fields import View
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
    Waiver,
)
from policygen.spec.rules import INVALID_VALUE, PACK_AND_SPREAD, UNSUPPORTED_TARGET
from policygen.spec.types import (
    Capacity,
    Checkpoint,
    ClusterVariant,
    Gang,
    Gpu,
    Model,
    ModelContainer,
    Placement,
    Platform,
    Pool,
    PoolVariant,
    Priority,
    Quota,
    QuotaVariant,
    SchedulingPolicy,
    SharedQueue,
    Sizing,
    Taint,
    Target,
    Team,
    TeamNamespace,
    Toleration,
)


def name_of(document: View) -> str:
    """`metadata.name`, which the schema requires."""
    return str(document.view("metadata").data["name"])


def platform(document: View) -> Platform:
    """A Platform."""
    spec = document.view("spec")
    defaults = spec.view("defaults")
    kueue, volcano = spec.view("kueue"), spec.view("volcano")
    kube_scheduler = spec.view("kubeScheduler")
    return Platform(
        name=name_of(document),
        at=document.at,
        target=Target(**_versions(spec.view("target"))),
        clusters=tuple(_cluster(entry) for entry in spec.views("clusters")),
        priorities=tuple(
            Priority(
                name=entry.data["name"],
                at=entry.at,
                value=entry.number("value") or 0,
                preempts=entry.flag("preempts") is not False,
                description=entry.text("description"),
            )
            for entry in spec.views("priorities")
        ),
        shared_queues=tuple(
            SharedQueue(entry.data["name"], entry.at, entry.texts("pools"))
            for entry in spec.views("sharedQueues")
        ),
        scheduler=defaults.data.get("scheduler", "kueue"),
        scheduling_policy=scheduling_policy(defaults.view("schedulingPolicy")),
        container_defaults=defaults.resources("containerDefaults"),
        kueue=KueueSettings(
            namespace=kueue.data.get("namespace", KUEUE_NAMESPACE),
            configuration=kueue.text("configuration"),
            at=kueue.at / "configuration",
        ),
        volcano=VolcanoSettings(
            namespace=volcano.data.get("namespace", VOLCANO_NAMESPACE),
            config_map=volcano.data.get("configMap", VOLCANO_CONFIG_MAP),
        ),
        kube_scheduler=KubeSchedulerSettings(
            namespace=kube_scheduler.data.get("namespace", KUBE_SYSTEM),
            image=kube_scheduler.text("image"),
            at=kube_scheduler.at,
        ),
        nvidia=_nvidia(spec.view("nvidia")),
        cluster_autoscaler=_cluster_autoscaler(spec.view("clusterAutoscaler")),
        monitoring=_monitoring(spec.view("monitoring"), written="monitoring" in spec.data),
        keda=_keda(spec.view("keda")),
        lint=_lint(spec.view("lint")),
        admission=_admission(spec.view("admission")),
        peak_hours=schedules.peak_hours(spec.view("peakHours")),
    )


def _admission(view: View) -> AdmissionSettings:
    return AdmissionSettings(
        action=view.data.get("action", AdmissionSettings().action),
        rules=view.pairs("rules"),
        defaults=bool(view.flag("defaults")),
    )


def _nvidia(view: View) -> NvidiaSettings:
    namespace = view.text("namespace") or NvidiaSettings().namespace
    return NvidiaSettings(namespace=namespace, at=view.at)


def _cluster_autoscaler(view: View) -> ClusterAutoscalerSettings:
    namespace = view.text("namespace") or ClusterAutoscalerSettings().namespace
    return ClusterAutoscalerSettings(namespace=namespace, at=view.at)


def _keda(view: View) -> KedaSettings | None:
    address = view.text("prometheus")
    return None if address is None else KedaSettings(address, view.at)


def _monitoring(view: View, *, written: bool) -> MonitoringSettings:
    default = MonitoringSettings()
    return MonitoringSettings(
        namespace=view.text("namespace") or default.namespace,
        rule_labels=view.pairs("ruleLabels"),
        idle_below_percent=view.number("idleBelowPercent") or default.idle_below_percent,
        idle_for=view.text("idleFor") or default.idle_for,
        guarantee_unused_for=view.text("guaranteeUnusedFor") or default.guarantee_unused_for,
        saturated_for=view.text("saturatedFor") or default.saturated_for,
        pending_for=view.text("pendingFor") or default.pending_for,
        fragmented_for=view.text("fragmentedFor") or default.fragmented_for,
        drift_checked_every=view.text("driftCheckedEvery") or default.drift_checked_every,
        at=view.at if written else None,
    )


def _lint(view: View) -> LintSettings:
    for entry in view.views("waivers"):
        expires = entry.text("expires")
        if expires is not None and not _is_date(expires):
            message = (
                f"{quoted(expires)} is not a valid date; write a date that exists, as YYYY-MM-DD"
            )
            view.hits.append(Hit(INVALID_VALUE, message, entry.at / "expires"))
    return LintSettings(
        severities=view.pairs("severities"),
        bounds=view.pairs("bounds"),
        waivers=tuple(
            Waiver(
                rule=entry.data["rule"],
                reason=entry.data["reason"],
                at=entry.at,
                object=entry.text("object"),
                field=entry.text("field"),
                expires=entry.text("expires"),
            )
            for entry in view.views("waivers")
        ),
        annotations=view.texts("annotations"),
        at=view.at,
    )


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _cluster(view: View) -> ClusterVariant:
    return ClusterVariant(
        name=view.data["name"],
        at=view.at,
        target=tuple(_versions(view.view("target")).items()),
        pools=tuple(
            PoolVariant(
                name=entry.data["name"],
                at=entry.at,
                capacity=_capacity(entry.view("capacity")),
                quotas=tuple(
                    QuotaVariant(
                        it.data["team"], it.at, it.amounts("guarantee"), it.amounts("limit")
                    )
                    for it in entry.views("quotas")
                ),
            )
            for entry in view.views("pools")
        ),
    )


def _versions(view: View) -> dict[str, Version]:
    """The versions of a target, by component."""
    read: dict[str, Version] = {}
    for component in versions.SUPPORTED:
        text = view.text(component)
        if text is None:
            continue
        try:
            read[component] = versions.parse(component, text)
        except ValueError as error:
            view.hits.append(Hit(UNSUPPORTED_TARGET, str(error), view.at / component))
    return read


def scheduling_policy(view: View) -> SchedulingPolicy:
    """A schedulingPolicy, of a pool, of the Platform's defaults or of the articles' forms."""
    if view.flag("binPack") and view.flag("spread"):
        view.hits.append(
            Hit(
                PACK_AND_SPREAD,
                "binPack and spread are both true, but they contradict each other; set one of them to false",
                view.at / "spread",
            )
        )
    return SchedulingPolicy(
        bin_pack=view.flag("binPack"),
        spread=view.flag("spread"),
        overcommit_ratio=view.ratio("overcommitRatio"),
        topology_aware=view.flag("topologyAware"),
        gang_scheduling=view.flag("gangScheduling"),
        preemption_enabled=view.flag("preemptionEnabled"),
    )


def taints(spec: View) -> tuple[Taint, ...]:
    """The taints of a pool."""
    return tuple(
        Taint(entry.data["key"], entry.data["effect"], entry.text("value"))
        for entry in spec.views("taints")
    )


def tolerations(spec: View) -> tuple[Toleration, ...] | None:
    """The tolerations of a pool; None if they are not set."""
    if spec.data.get("tolerations") is None:
        return None
    return tuple(
        Toleration(
            key=entry.text("key"),
            operator=entry.text("operator"),
            value=entry.text("value"),
            effect=entry.text("effect"),
            toleration_seconds=entry.number("tolerationSeconds"),
        )
        for entry in spec.views("tolerations")
    )


def _capacity(view: View) -> Capacity:
    return Capacity(
        nodes=view.number("nodes"),
        total_gpus=view.number("totalGPUs"),
        available_gpus=view.number("availableGPUs"),
        node_type=view.text("nodeType"),
        node_allocatable=view.resources("nodeAllocatable"),
        system_reserved=view.resources("systemReserved", zero=True),
    )


def pool(document: View) -> Pool:
    """A ResourcePool of policygen.dev."""
    spec = document.view("spec")
    gpu = spec.view("gpu")
    mig = gpu.view("mig")
    return Pool(
        name=name_of(document),
        at=document.at,
        node_selector=spec.pairs("nodeSelector"),
        scheduler=spec.data.get("scheduler"),
        taints=taints(spec),
        tolerations=tolerations(spec),
        gpu=Gpu(
            product=gpu.text("product"),
            memory_bytes=gpu.measure("memory", "memory"),
            per_node=gpu.number("perNode"),
            resource=gpu.text("resource"),
            sharing=gpu.data.get("sharing", "none"),
            replicas=gpu.number("replicas") or 1,
            mig_strategy=mig.data.get("strategy", "mixed"),
            instances=mig.amounts("instances") or (),
        ),
        capacity=_capacity(spec.view("capacity")),
        scheduling_policy=scheduling_policy(spec.view("schedulingPolicy")),
        topology_levels=spec.view("topology").texts("levels"),
        quota_backstop=bool(spec.flag("quotaBackstop")),
        quota_cpu_and_memory=bool(spec.flag("quotaCpuAndMemory")),
        preemptible=spec.text("provisioning") == "spot",
        autoscaler=node_autoscalers.of_pool(spec.view("autoscaler")),
    )


def team(document: View) -> Team:
    """A Team."""
    spec = document.view("spec")
    return Team(
        name=name_of(document),
        at=document.at,
        parent=spec.text("parent"),
        namespaces=tuple(
            TeamNamespace(entry.data["name"], bool(entry.flag("create")))
            for entry in spec.views("namespaces")
        ),
        max_pending=spec.number("maxPending"),
        max_pending_at=spec.at / "maxPending",
        quotas=tuple(
            Quota(
                pool=entry.data["pool"],
                at=entry.at,
                guarantee=entry.amounts("guarantee") or (),
                limit=entry.amounts("limit"),
                weight=entry.number("weight") or 1,
                cpu=entry.bounds("cpu"),
                memory=entry.bounds("memory"),
            )
            for entry in spec.views("quotas")
        ),
        container_defaults=spec.resources("containerDefaults"),
    )


def model(document: View) -> Model:
    """A Model."""
    spec = document.view("spec")
    resources, sizing, gang = spec.view("resources"), spec.view("sizing"), spec.view("gang")
    placement, container = spec.view("placement"), spec.view("container")
    schedule = schedules.of_model(spec, name_of(document))
    run_as = gang.data.get("runAs", "job" if schedule else "pods")
    return Model(
        name=name_of(document),
        at=document.at,
        workload=spec.data.get("workload", "serving"),
        team=spec.text("team"),
        namespace=spec.text("namespace"),
        priority=spec.text("priority"),
        family=spec.text("family"),
        size=spec.text("size"),
        gpu_memory_bytes=resources.measure("gpuMemory", "memory"),
        gpus=resources.number("gpus"),
        cpu_milli=resources.measure("cpu", "cpu"),
        memory_bytes=resources.measure("memory", "memory"),
        container=ModelContainer(
            image=container.text("image"),
            command=container.texts("command"),
            args=container.texts("args"),
            port=container.number("port"),
        ),
        sizing=Sizing(
            precision=sizing.text("precision"),
            kv_cache_precision=sizing.text("kvCachePrecision"),
            concurrency=sizing.number("concurrency"),
            context_length=sizing.number("contextLength"),
            runtime_memory_bytes=sizing.measure("runtimeMemory", "memory"),
            gpu_memory_utilization=sizing.number("gpuMemoryUtilization"),
            any_gpu_count=bool(sizing.flag("anyGpuCount")),
            training=sizing.data.get("training"),
            trainable_percent=sizing.ratio("trainablePercent"),
            gradient_precision=sizing.text("gradientPrecision"),
            optimizer_bytes=sizing.number("optimizerBytes"),
            sharding=sizing.data.get("sharding"),
            activation_memory_bytes=sizing.measure("activationMemory", "memory"),
        ),
        replicas=spec.number("replicas"),
        gang=Gang(gang.number("size") or 1, run_as) if gang else None,
        autoscaling=autoscaling.of_model(spec),
        schedule=schedule,
        availability=availability.of_model(spec),
        checkpoint=_checkpoint(spec.view("checkpoint")),
        placement=Placement(
            pools=placement.texts("pools"),
            node_types=placement.texts("nodeTypes"),
            tolerate_preemptible=bool(placement.flag("toleratePreemptible")),
        ),
    )


def _checkpoint(view: View) -> Checkpoint | None:
    seconds = view.number("gracePeriodSeconds")
    return None if seconds is None else Checkpoint(seconds, view.texts("command"))
