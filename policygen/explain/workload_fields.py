"""What each field of an object does that runs a model."""

from collections.abc import Mapping

from policygen.core.names import POD_GROUP, VOLCANO_QUEUE
from policygen.explain import scaling_fields
from policygen.explain.meaning import Field, FieldTable

_KUBERNETES = "https://kubernetes.io/docs/"
_KUEUE = "https://kueue.sigs.k8s.io/docs/"
_VOLCANO = "https://volcano.sh/docs/Concepts/"
_CONTROLLERS = f"{_KUBERNETES}concepts/workloads/controllers/"
_JOB = f"{_CONTROLLERS}job/"
_BUDGET = f"{_KUBERNETES}tasks/run-application/configure-pdb/"
_CRON_JOB = f"{_CONTROLLERS}cron-jobs/"
_JOB_SET = "https://jobset.sigs.k8s.io/docs/reference/jobset.v1alpha2/"
_LEADER_WORKER_SET = "https://lws.sigs.k8s.io/docs/reference/leaderworkerset.v1/"
_VOLCANO_JOB = f"{_VOLCANO}VolcanoJob"

_QUEUED: Mapping[str, Field] = {
    'metadata.labels["policygen.dev/model"]': Field(
        "The model that the object runs. policygen finds the model of an object by this label.",
        f"{_KUBERNETES}concepts/overview/working-with-objects/labels/",
    ),
    'metadata.labels["kueue.x-k8s.io/queue-name"]': Field(
        "The LocalQueue of the workload. Without it, no quota applies to the pods.",
        f"{_KUEUE}concepts/local_queue/",
    ),
    'metadata.labels["kueue.x-k8s.io/priority-class"]': Field(
        "The WorkloadPriorityClass: the order in which Kueue admits and preempts workloads.",
        f"{_KUEUE}concepts/workload_priority_class/",
    ),
    f'metadata.annotations["{VOLCANO_QUEUE}"]': Field(
        "The Queue of Volcano whose resources the pods use.", f"{_VOLCANO}Queue"
    ),
    'metadata.annotations["scheduling.volcano.sh/group-min-member"]': Field(
        "The number of pods that must start together. Volcano creates a PodGroup with it.",
        f"{_VOLCANO}PodGroup",
    ),
}
_TTL = Field(
    "How long the object is kept after it ends, in seconds. Ended workloads count in maxPending "
    "until they are deleted.",
    _JOB,
    always="a day is enough to read the logs of a job",
)
_COMPLETIONS = Field("How many pods must end successfully.", _JOB)
_PARALLELISM = Field("How many pods run at the same time.", _JOB)
_INDEXED = Field(
    "Indexed: each pod knows its index, and a pod of the same index replaces a failed one.", _JOB
)
_SELECTOR = Field("The label of the pods that belong to this object.", _CONTROLLERS)


def _spread(spec: str) -> Mapping[str, Field]:
    """The fields that separate the replicas of a serving model."""
    page = f"{_KUBERNETES}concepts/scheduling-eviction/"
    constraint = f"{spec}.topologySpreadConstraints[]"
    constraints = f"{page}topology-spread-constraints/"
    term = f"{spec}.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[]"
    affinity = f"{page}assign-pod-node/#inter-pod-affinity-and-anti-affinity"
    return {
        f"{constraint}.maxSkew": Field(
            "By how many pods the nodes or zones can differ.",
            constraints,
            always="each node or zone has about as many replicas",
        ),
        f"{constraint}.topologyKey": Field(
            "The label of the nodes that replicas are spread over.", constraints
        ),
        f"{constraint}.whenUnsatisfiable": Field(
            "ScheduleAnyway: a score. Replicas also start if all other nodes are full.",
            constraints,
            always="a replica beside another one is better than a pending replica",
        ),
        f"{constraint}.labelSelector.matchLabels.app": Field(
            "The label of the pods that are counted.", constraints
        ),
        f"{term}.topologyKey": Field(
            "No two replicas run on nodes with the same value of this label.", affinity
        ),
        f"{term}.labelSelector.matchLabels.app": Field(
            "The label of the pods that never share a node.", affinity
        ),
    }


def _pods(template: str, source: str) -> Mapping[str, Field]:
    """The fields of a pod template at a path."""
    pods = f"{_KUBERNETES}concepts/"
    container = f"{template}.spec.containers[]"
    devices = f"{pods}configuration/manage-resources-containers/"
    return {
        f"{template}.metadata.labels.app": Field(
            "The label by which the object finds its pods.", source
        ),
        f'{template}.metadata.labels["policygen.dev/model"]': Field(
            "The model that the pod runs.", source
        ),
        f'{template}.metadata.annotations["{VOLCANO_QUEUE}"]': Field(
            "The Queue of Volcano whose resources the pod uses.", f"{_VOLCANO}Queue"
        ),
        f'{template}.metadata.annotations["{POD_GROUP}"]': Field(
            "The PodGroup of the pod. Volcano starts the pods of a group together.",
            f"{_VOLCANO}PodGroup",
        ),
        f'{template}.metadata.annotations["kueue.x-k8s.io/podset-preferred-topology"]': Field(
            "Kueue places the pods in one domain of this level if it can.",
            f"{_KUEUE}concepts/topology_aware_scheduling/",
        ),
        f"{template}.spec.schedulerName": Field(
            "The scheduler or profile that places the pod. Each pool has one.",
            f"{_KUBERNETES}tasks/extend-kubernetes/configure-multiple-schedulers/",
        ),
        f"{template}.spec.priorityClassName": Field(
            "The priority of the pod: which pods start first, and which it can evict.",
            f"{pods}scheduling-eviction/pod-priority-preemption/",
        ),
        f"{template}.spec.restartPolicy": Field(
            "Whether a failed container is restarted in its pod.",
            f"{pods}workloads/pods/pod-lifecycle/",
            always="a new pod replaces a failed one, and can run on another node",
        ),
        f"{template}.spec.nodeSelector.*": Field(
            "A label of the nodes of the pool. The pod runs only on these nodes.",
            f"{pods}scheduling-eviction/assign-pod-node/",
        ),
        **_spread(f"{template}.spec"),
        f"{template}.spec.tolerations[].*": Field(
            "The taint of the pool's nodes that the pod tolerates.",
            f"{pods}scheduling-eviction/taint-and-toleration/",
        ),
        f"{container}.name": Field(
            "The name of the container.", source, always="the pod has only this container"
        ),
        f"{container}.image": Field("The image of the container.", source),
        f"{container}.command[]": Field("The program of the container, or an argument.", source),
        f"{container}.args[]": Field("An argument of the program.", source),
        f"{template}.spec.terminationGracePeriodSeconds": Field(
            "How long a pod can continue after it is stopped, such as to write a checkpoint.",
            f"{pods}workloads/pods/pod-lifecycle/#pod-termination",
        ),
        f"{container}.lifecycle.preStop.exec.command[]": Field(
            "The program that runs before the container gets SIGTERM, or an argument of it.",
            f"{pods}containers/container-lifecycle-hooks/",
        ),
        f"{container}.ports[].containerPort": Field("The port on which the model listens.", source),
        f"{container}.resources.requests.*": Field(
            "What the pod reserves on its node. Quotas and schedulers count it.", devices
        ),
        f"{container}.resources.limits.*": Field(
            "What the pod can use at most. It equals the request, so the QoS class is Guaranteed.",
            devices,
        ),
    }


KINDS: Mapping[str, FieldTable] = {
    **scaling_fields.KINDS,
    "Deployment": FieldTable(
        f"{_CONTROLLERS}deployment/",
        {
            **_QUEUED,
            "spec.replicas": Field("The number of replicas of the model that run."),
            "spec.strategy.rollingUpdate.maxSurge": Field(
                "How many pods an update creates above the number of replicas. There is no room for one.",
            ),
            "spec.strategy.rollingUpdate.maxUnavailable": Field(
                "How many pods an update deletes before new ones are ready.",
                always="the least number with which an update without room can begin",
            ),
            "spec.selector.matchLabels.app": _SELECTOR,
            **_pods("spec.template", f"{_CONTROLLERS}deployment/"),
        },
    ),
    "StatefulSet": FieldTable(
        f"{_CONTROLLERS}statefulset/",
        {
            **_QUEUED,
            "spec.replicas": Field("The number of pods of the gang."),
            "spec.podManagementPolicy": Field(
                "Whether all pods are created at once, or one after the other.",
                always="pods of a gang start only together",
            ),
            "spec.selector.matchLabels.app": _SELECTOR,
            **_pods("spec.template", f"{_CONTROLLERS}statefulset/"),
        },
    ),
    # The fields of Kubernetes' Job and of Volcano's have different paths.
    "Job": FieldTable(
        _JOB,
        {
            **_QUEUED,
            "spec.parallelism": _PARALLELISM,
            "spec.completions": _COMPLETIONS,
            "spec.completionMode": _INDEXED,
            "spec.ttlSecondsAfterFinished": _TTL,
            **_pods("spec.template", _JOB),
            "spec.schedulerName": Field(
                "The scheduler of the pods.", _VOLCANO_JOB, always="only Volcano runs its Jobs"
            ),
            "spec.queue": Field("The Queue whose resources the pods use.", _VOLCANO_JOB),
            "spec.priorityClassName": Field(
                "The priority of the Job in its queue, and of its pods.", _VOLCANO_JOB
            ),
            "spec.minAvailable": Field(
                "The number of pods that must start together.", _VOLCANO_JOB
            ),
            "spec.maxRetry": Field(
                "The number of restarts after which Volcano ends the Job.",
                _VOLCANO_JOB,
                always="each eviction of a gang counts as a restart",
            ),
            "spec.policies[].event": Field(
                "The event that the policy is about.",
                _VOLCANO_JOB,
                always="Volcano evicts pods when another queue reclaims its resources",
            ),
            "spec.policies[].action": Field(
                "What Volcano does then.",
                _VOLCANO_JOB,
                always="a gang cannot continue without one of its pods",
            ),
            "spec.tasks[].name": Field(
                "The name of the group of pods.", _VOLCANO_JOB, always="the Job has only one"
            ),
            "spec.tasks[].replicas": Field("The number of pods.", _VOLCANO_JOB),
            "spec.tasks[].minAvailable": Field(
                "The number of pods of the group that must start together.", _VOLCANO_JOB
            ),
            "spec.tasks[].maxRetry": Field(
                "How many restarts of its containers a task survives, as Volcano sets it on create.",
                _VOLCANO_JOB,
                always="without it, Volcano refuses every later apply of the Job",
            ),
            **_pods("spec.tasks[].template", _VOLCANO_JOB),
        },
    ),
    "CronJob": FieldTable(
        _CRON_JOB,
        {
            **_QUEUED,
            "spec.schedule": Field("When the CronJob creates a Job.", _CRON_JOB),
            "spec.timeZone": Field("The time zone of the schedule.", _CRON_JOB),
            "spec.concurrencyPolicy": Field(
                "Forbid: no Job begins while the one before it is not finished.",
                _CRON_JOB,
                always="two runs would use the quota twice",
            ),
            "spec.startingDeadlineSeconds": Field(
                "How late a Job can begin. Later, the run is skipped.",
                _CRON_JOB,
                always="a run that begins late ends after its window",
            ),
            'spec.jobTemplate.metadata.labels["kueue.x-k8s.io/queue-name"]': _QUEUED[
                'metadata.labels["kueue.x-k8s.io/queue-name"]'
            ],
            'spec.jobTemplate.metadata.labels["kueue.x-k8s.io/priority-class"]': _QUEUED[
                'metadata.labels["kueue.x-k8s.io/priority-class"]'
            ],
            'spec.jobTemplate.metadata.annotations["scheduling.volcano.sh/group-min-member"]': _QUEUED[
                'metadata.annotations["scheduling.volcano.sh/group-min-member"]'
            ],
            "spec.jobTemplate.spec.activeDeadlineSeconds": Field(
                "The length of the window. Kubernetes ends a Job that takes longer. On Kueue, the time "
                "begins when Kueue starts the Job.",
                _JOB,
            ),
            "spec.jobTemplate.spec.parallelism": _PARALLELISM,
            "spec.jobTemplate.spec.completions": _COMPLETIONS,
            "spec.jobTemplate.spec.completionMode": _INDEXED,
            "spec.jobTemplate.spec.ttlSecondsAfterFinished": _TTL,
            **_pods("spec.jobTemplate.spec.template", _JOB),
        },
    ),
    "PodDisruptionBudget": FieldTable(
        _BUDGET,
        {
            **_QUEUED,
            "spec.maxUnavailable": Field(
                "How many pods can be unavailable while nodes are drained.", _BUDGET
            ),
            "spec.minAvailable": Field("How many pods stay while nodes are drained.", _BUDGET),
            "spec.unhealthyPodEvictionPolicy": Field(
                "AlwaysAllow: pods that are not ready can always be evicted.",
                _BUDGET,
                always="a pod that never gets ready would block the drain of its node",
            ),
            "spec.selector.matchLabels.app": Field(
                "The label of the pods that the budget protects.", _BUDGET
            ),
        },
    ),
    "JobSet": FieldTable(
        _JOB_SET,
        {
            **_QUEUED,
            "spec.ttlSecondsAfterFinished": _TTL,
            "spec.replicatedJobs[].name": Field(
                "The name of the group of Jobs.", always="the JobSet has only one"
            ),
            "spec.replicatedJobs[].replicas": Field(
                "The number of Jobs.", always="each gang or job of a model has its own JobSet"
            ),
            "spec.replicatedJobs[].template.spec.parallelism": _PARALLELISM,
            "spec.replicatedJobs[].template.spec.completions": _COMPLETIONS,
            **_pods("spec.replicatedJobs[].template.spec.template", _JOB_SET),
        },
    ),
    "LeaderWorkerSet": FieldTable(
        _LEADER_WORKER_SET,
        {
            **_QUEUED,
            "spec.replicas": Field("The number of gangs, each with a leader and its workers."),
            "spec.leaderWorkerTemplate.size": Field("The number of pods of a gang."),
            **_pods("spec.leaderWorkerTemplate.workerTemplate", _LEADER_WORKER_SET),
        },
    ),
}
