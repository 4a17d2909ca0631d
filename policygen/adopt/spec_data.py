"""The documents of a typed spec as plain data: the inverse of `policygen.spec.parse`.

Defaults are left out, and quantities are canonical. `spec.load` reads the same spec from the
documents, apart from its places (`At`).
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from msgspec import Struct

from policygen.core import versions
from policygen.plan.amounts import CPU, MEMORY, text
from policygen.spec.forms import MODEL, PLATFORM, RESOURCE_POOL, TEAM, DocumentForm
from policygen.spec.programs import (
    AdmissionSettings,
    ClusterAutoscalerSettings,
    KubeSchedulerSettings,
    KueueSettings,
    LintSettings,
    MonitoringSettings,
    NvidiaSettings,
    VolcanoSettings,
)
from policygen.spec.schedules import DAYS
from policygen.spec.types import (
    WHOLE,
    Amounts,
    Bounds,
    Capacity,
    Gpu,
    Model,
    ModelSchedule,
    NodeAutoscaler,
    NodeResources,
    PeakHours,
    Platform,
    Pool,
    Quota,
    SchedulingPolicy,
    Sizing,
    Spec,
    Taint,
    Target,
    Team,
    Toleration,
)

Data = dict[str, Any]


class SpecDocument(Struct, frozen=True):
    """One document of a spec, with its data in the order in which it is written."""

    form: DocumentForm
    name: str
    data: Data


def documents(spec: Spec) -> Iterator[SpecDocument]:
    """The documents of a spec: the Platform, then pools, teams and models by name.

    A Platform of only defaults has no document. Raises ValueError for a spec that uses a field
    which only the forms of the articles have, since our own kinds do not have it.
    """
    platform = _platform(spec.platform)
    if platform or spec.platform.name != Platform().name:
        yield _document(PLATFORM, spec.platform.name, platform)
    for pool in spec.pools:
        if pool.guess_product:
            raise ValueError(f'pool "{pool.name}" has the form of an article')
        yield _document(RESOURCE_POOL, pool.name, _pool(pool))
    for team in spec.teams:
        if team.queue_priority is not None or any(it.guarantee is None for it in team.quotas):
            raise ValueError(f'team "{team.name}" has the form of an article')
        yield _document(TEAM, team.name, _team(team))
    for model in spec.models:
        if model.renamed:
            raise ValueError(f'model "{model.name}" has the form of an article')
        yield _document(MODEL, model.name, _model(model))


def _document(form: DocumentForm, name: str, spec: Data) -> SpecDocument:
    head = {"apiVersion": form.api_version, "kind": form.kind, "metadata": {"name": name}}
    required = form != PLATFORM
    return SpecDocument(form, name, {**head, **({"spec": spec} if spec or required else {})})


def _set(**fields: Any) -> Data:
    """The fields that are set: not None, and no empty mapping or list."""
    return {name: value for name, value in fields.items() if value not in (None, {}, [])}


def _unless(value: Any, default: Any) -> Any:
    """A value; None if it is the default."""
    return None if value == default else value


def _platform(platform: Platform) -> Data:
    defaults = _set(
        scheduler=_unless(platform.scheduler, "kueue"),
        schedulingPolicy=_policy(platform.scheduling_policy),
        containerDefaults=_resources(platform.container_defaults),
    )
    return _set(
        target=_target(platform.target),
        priorities=[
            _set(
                name=it.name,
                value=it.value,
                preempts=_unless(it.preempts, default=True),
                description=it.description,
            )
            for it in platform.priorities
        ],
        sharedQueues=[{"name": it.name, "pools": list(it.pools)} for it in platform.shared_queues],
        defaults=defaults,
        kueue=_kueue(platform.kueue),
        volcano=_volcano(platform.volcano),
        kubeScheduler=_kube_scheduler(platform.kube_scheduler),
        keda=platform.keda and _set(prometheus=platform.keda.prometheus),
        nvidia=_set(namespace=_unless(platform.nvidia.namespace, NvidiaSettings().namespace)),
        clusterAutoscaler=_set(
            namespace=_unless(
                platform.cluster_autoscaler.namespace, ClusterAutoscalerSettings().namespace
            )
        ),
        monitoring=_monitoring(platform.monitoring),
        lint=_lint(platform.lint),
        admission=_admission(platform.admission),
        peakHours=platform.peak_hours and _peak_hours(platform.peak_hours),
    )


def _peak_hours(peak: PeakHours) -> Data:
    every_day = peak.days == DAYS
    return _set(
        timeZone=peak.time_zone,
        days=None if every_day else list(peak.days),
        start=peak.start,
        end=peak.end,
    )


def _target(target: Target) -> Data:
    written = {name: getattr(target, name) for name in versions.DEFAULT}
    return {name: str(it) for name, it in written.items() if it != versions.DEFAULT[name]}


def _kueue(settings: KueueSettings) -> Data:
    return _set(
        namespace=_unless(settings.namespace, KueueSettings().namespace),
        configuration=settings.configuration,
    )


def _volcano(settings: VolcanoSettings) -> Data:
    return _set(
        namespace=_unless(settings.namespace, VolcanoSettings().namespace),
        configMap=_unless(settings.config_map, VolcanoSettings().config_map),
    )


def _monitoring(settings: MonitoringSettings) -> Data:
    default = MonitoringSettings()
    return _set(
        namespace=_unless(settings.namespace, default.namespace),
        ruleLabels=dict(settings.rule_labels),
        idleBelowPercent=_unless(settings.idle_below_percent, default.idle_below_percent),
        idleFor=_unless(settings.idle_for, default.idle_for),
        guaranteeUnusedFor=_unless(settings.guarantee_unused_for, default.guarantee_unused_for),
        saturatedFor=_unless(settings.saturated_for, default.saturated_for),
        pendingFor=_unless(settings.pending_for, default.pending_for),
        fragmentedFor=_unless(settings.fragmented_for, default.fragmented_for),
        driftCheckedEvery=_unless(settings.drift_checked_every, default.drift_checked_every),
    )


def _kube_scheduler(settings: KubeSchedulerSettings) -> Data:
    return _set(
        namespace=_unless(settings.namespace, KubeSchedulerSettings().namespace),
        image=settings.image,
    )


def _admission(settings: AdmissionSettings) -> Data:
    return _set(
        action=_unless(settings.action, AdmissionSettings().action),
        rules=dict(settings.rules),
        defaults=_unless(settings.defaults, default=False),
    )


def _lint(settings: LintSettings) -> Data:
    return _set(
        severities=dict(settings.severities),
        bounds=dict(settings.bounds),
        annotations=list(settings.annotations),
        waivers=[
            _set(
                rule=it.rule,
                object=it.object,
                field=it.field,
                reason=it.reason,
                expires=it.expires,
            )
            for it in settings.waivers
        ],
    )


def _policy(policy: SchedulingPolicy) -> Data:
    ratio = policy.overcommit_ratio
    return _set(
        binPack=policy.bin_pack,
        spread=policy.spread,
        overcommitRatio=None if ratio is None else _decimal(ratio),
        topologyAware=policy.topology_aware,
        gangScheduling=policy.gang_scheduling,
        preemptionEnabled=policy.preemption_enabled,
    )


def _decimal(ratio: Fraction) -> int | float:
    """A decimal number of a spec, which is the shortest text of a float."""
    return ratio.numerator if ratio.denominator == 1 else float(ratio)


def _resources(resources: NodeResources | None) -> Data | None:
    if resources is None:
        return None
    return {"cpu": text(CPU, resources.cpu_milli), "memory": text(MEMORY, resources.memory_bytes)}


def _memory(size: int | None) -> str | None:
    return None if size is None else text(MEMORY, size)


def _cpu(milli: int | None) -> str | None:
    return None if milli is None else text(CPU, milli)


def _amounts(amounts: Amounts | None) -> int | Data | None:
    """A plain number, or numbers by MIG profile; None if there are none."""
    if not amounts:
        return None
    by_profile = dict(amounts)
    return by_profile.get(WHOLE, by_profile)


def _pool(pool: Pool) -> Data:
    tolerations = pool.tolerations
    data = _set(
        nodeSelector=dict(pool.node_selector),
        taints=[_taint(it) for it in pool.taints],
        gpu=_gpu(pool.gpu),
        capacity=_capacity(pool.capacity),
        scheduler=pool.scheduler,
        schedulingPolicy=_policy(pool.scheduling_policy),
        topology=_set(levels=list(pool.topology_levels)),
        quotaBackstop=_unless(pool.quota_backstop, default=False),
        quotaCpuAndMemory=_unless(pool.quota_cpu_and_memory, default=False),
        provisioning="spot" if pool.preemptible else None,
        autoscaler=pool.autoscaler and _autoscaler(pool.autoscaler),
    )
    if tolerations is not None:  # an empty list means: no tolerations, not those of the taints
        data["tolerations"] = [_toleration(it) for it in tolerations]
    return data


def _autoscaler(autoscaler: NodeAutoscaler) -> Data:
    node_class = autoscaler.node_class
    return _set(
        nodeGroups=list(autoscaler.node_groups),
        nodeClass=node_class
        and {"group": node_class.group, "kind": node_class.kind, "name": node_class.name},
        provisioningClass=autoscaler.provisioning_class,
    )


def _taint(taint: Taint) -> Data:
    return _set(key=taint.key, value=taint.value, effect=taint.effect)


def _toleration(toleration: Toleration) -> Data:
    return _set(
        key=toleration.key,
        operator=toleration.operator,
        value=toleration.value,
        effect=toleration.effect,
        tolerationSeconds=toleration.toleration_seconds,
    )


def _gpu(gpu: Gpu) -> Data:
    return _set(
        product=gpu.product,
        memory=_memory(gpu.memory_bytes),
        perNode=gpu.per_node,
        resource=gpu.resource,
        sharing=_unless(gpu.sharing, "none"),
        replicas=_unless(gpu.replicas, 1),
        mig=_set(
            strategy=_unless(gpu.mig_strategy, "mixed"),
            instances=_amounts(gpu.instances),
        ),
    )


def _capacity(capacity: Capacity) -> Data:
    return _set(
        nodes=capacity.nodes,
        totalGPUs=capacity.total_gpus,
        availableGPUs=capacity.available_gpus,
        nodeType=capacity.node_type,
        nodeAllocatable=_resources(capacity.node_allocatable),
        systemReserved=_resources(capacity.system_reserved),
    )


def _team(team: Team) -> Data:
    return _set(
        parent=team.parent,
        namespaces=[
            _set(name=it.name, create=_unless(it.create, default=False)) for it in team.namespaces
        ],
        maxPending=team.max_pending,
        containerDefaults=_resources(team.container_defaults),
        quotas=[_quota(it) for it in team.quotas],
    )


def _quota(quota: Quota) -> Data:
    return _set(
        pool=quota.pool,
        guarantee=_amounts(quota.guarantee),
        limit=_amounts(quota.limit),
        weight=_unless(quota.weight, 1),
        cpu=_bounds(quota.cpu, CPU),
        memory=_bounds(quota.memory, MEMORY),
    )


def _bounds(bounds: Bounds, resource: str) -> Data:
    written: Mapping[str, int | None] = {"guarantee": bounds.guarantee, "limit": bounds.limit}
    return {name: text(resource, it) for name, it in written.items() if it is not None}


def _model(model: Model) -> Data:
    gang, scaling = model.gang, model.autoscaling
    return _set(
        team=model.team,
        namespace=model.namespace,
        workload=_unless(model.workload, "serving"),
        priority=model.priority,
        family=model.family,
        size=model.size,
        resources=_set(
            gpus=model.gpus,
            gpuMemory=_memory(model.gpu_memory_bytes),
            cpu=_cpu(model.cpu_milli),
            memory=_memory(model.memory_bytes),
        ),
        container=_set(
            image=model.container.image,
            command=list(model.container.command),
            args=list(model.container.args),
            port=model.container.port,
        ),
        sizing=_sizing(model.sizing),
        replicas=model.replicas,
        gang=gang and _set(size=gang.size, runAs=_unless(gang.run_as, "pods")),
        autoscaling=scaling
        and _set(
            minReplicas=scaling.min_replicas,
            maxReplicas=scaling.max_replicas,
            targetConcurrency=scaling.target_concurrency,
            metric=scaling.metric,
        ),
        schedule=model.schedule and _schedule(model.schedule),
        availability=model.availability
        and _set(
            failureDomain=model.availability.failure_domain,
            minAvailable=model.availability.min_available,
        ),
        checkpoint=model.checkpoint
        and _set(
            gracePeriodSeconds=model.checkpoint.grace_period_s,
            command=list(model.checkpoint.command),
        ),
        placement=_set(
            pools=list(model.placement.pools),
            nodeTypes=list(model.placement.node_types),
            toleratePreemptible=_unless(model.placement.tolerate_preemptible, default=False),
        ),
    )


def _schedule(schedule: ModelSchedule) -> Data:
    return {"cron": schedule.cron, "timeZone": schedule.time_zone, "hours": schedule.hours}


def _sizing(sizing: Sizing) -> Data:
    percent = sizing.trainable_percent
    return _set(
        precision=sizing.precision,
        kvCachePrecision=sizing.kv_cache_precision,
        concurrency=sizing.concurrency,
        contextLength=sizing.context_length,
        runtimeMemory=_memory(sizing.runtime_memory_bytes),
        gpuMemoryUtilization=sizing.gpu_memory_utilization,
        anyGpuCount=_unless(sizing.any_gpu_count, default=False),
        training=sizing.training,
        trainablePercent=None if percent is None else _decimal(percent),
        gradientPrecision=sizing.gradient_precision,
        optimizerBytes=sizing.optimizer_bytes,
        sharding=sizing.sharding,
        activationMemory=_memory(sizing.activation_memory_bytes),
    )
