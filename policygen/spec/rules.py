"""The rules about a spec itself: its schema, references and pools."""

from policygen.core.rule import Rule, note, refusal, warning

AVAILABLE_ABOVE_TOTAL = refusal(
    "available-above-total",
    "availableGPUs of a pool is larger than the total number of its GPUs",
    "Lower availableGPUs, or correct totalGPUs or nodes.",
)
CAPACITY_MISSING = refusal(
    "capacity-missing",
    "A pool does not set how many GPUs it has",
    "Write capacity.nodes, capacity.totalGPUs or capacity.availableGPUs.",
)
CLASS_MISSING = warning(
    "class-missing",
    "A ModelServingSpec has no schedulingClass, so its model is in no queue",
    "Set schedulingClass to the name of a queue or a Team.",
)
CLASS_WITHOUT_QUEUE = warning(
    "class-without-queue",
    "The schedulingClass of a ModelServingSpec is not the name of a queue",
    "Add a queue of this name to gpu-scheduler-config, or correct schedulingClass.",
)
COMPOSED_NAME_TOO_LONG = refusal(
    "composed-name-too-long",
    "A name that policygen composes, such as TEAM.POOL, is longer than Kubernetes allows",
    "Shorten one of the names that the message shows.",
)
DUPLICATE_ENTRY = refusal(
    "duplicate-entry",
    "A list has the same entry twice, but its entries must be unique",
    "Remove one of the two entries, or correct its key.",
    aliases=("list-entry-twice",),
)
FOREIGN_DOCUMENTS = note(
    "foreign-documents",
    "policygen skipped documents of other API groups in the files of the spec",
    "Do nothing, or move these documents out of the spec's folder.",
)
INVALID_LABEL = refusal(
    "invalid-label",
    "A label key or value is not valid",
    "Write a label key or value that Kubernetes accepts.",
    aliases=("bad-label", "label-refused"),
)
INVALID_NAME = refusal(
    "invalid-name",
    "A name is missing or not valid for its kind",
    "Write a name that Kubernetes accepts.",
    aliases=("bad-name", "name-refused"),
)
INVALID_TAINT = refusal(
    "invalid-taint",
    "A taint of a pool is not valid, or is set twice",
    "Correct the taint's key or value, or remove the second taint.",
    aliases=("bad-taint",),
)
INVALID_TOLERATION = refusal(
    "invalid-toleration",
    "A toleration of a pool is not valid",
    "Correct the field that the message names.",
    aliases=("bad-toleration",),
)
INVALID_TOPOLOGY = refusal(
    "invalid-topology",
    "A topology level of a pool is not a label that Kueue can use",
    "Write a valid label key, remove the duplicate, or move kubernetes.io/hostname to the end.",
    aliases=("bad-topology",),
)
INVALID_VALUE = refusal(
    "invalid-value",
    "A value does not have the format that its field requires",
    "Write a value in the format that the message names.",
    aliases=("bad-quantity", "bad-date", "bad-duration", "value-form-refused"),
)
LOOKS_LIKE_QUEUES = warning(
    "looks-like-queues",
    "policygen skipped a document that contains queues, because its name, apiVersion or kind is wrong",
    "Write the apiVersion, kind or name that the message shows.",
)
MEMORY_WITHOUT_UNIT = warning(
    "memory-without-unit",
    "An amount of memory is below 1Mi, because its unit is missing, or is m instead of Mi",
    "Write a unit, such as 16Gi.",
)
MIG_SINGLE_MIXED = refusal(
    "mig-single-mixed",
    "A pool with MIG strategy single has several MIG profiles",
    "Keep one profile, or write gpu.mig.strategy: mixed.",
)
MIG_WITHOUT_INSTANCES = refusal(
    "mig-without-instances",
    "A pool uses MIG but does not set the number of instances of each profile",
    "Write gpu.mig.instances, such as 1g.10gb: 14.",
)
MIG_WITHOUT_SHARING = refusal(
    "mig-without-sharing",
    "A pool has settings for MIG but does not use MIG",
    "Write gpu.sharing: mig, or remove gpu.mig.",
)
MISSING_FIELD = refusal(
    "missing-field",
    "A required field is missing",
    "Write the field that the message names.",
    aliases=("missing-key", "field-missing"),
)
MODEL_TEAM_WITHOUT_NAMESPACES = refusal(
    "model-team-without-namespaces",
    "A model belongs to a team that has child teams but no namespace",
    "Assign the model to one of the child teams, or give its team a namespace.",
    aliases=("model-in-inner-team",),
)
NAME_COLLISION = refusal(
    "name-collision",
    "Two objects or configurations that policygen renders would have the same name",
    "Rename the queue, the priority or the pool that the message names.",
)
NAMESPACE_IN_TWO_TEAMS = refusal(
    "namespace-in-two-teams",
    "Two teams have the same namespace",
    "Remove the namespace from one of the two teams.",
)
NUMBER_AS_TEXT = note(
    "number-as-text",
    "A field for text contains a number, and policygen reads it as the only known value that it can mean",
    "Write the text that the message shows.",
)
OBJECT_DECLARED_TWICE = refusal(
    "object-declared-twice",
    "Two objects or documents in the input have the same kind, namespace and name",
    "Remove one of the two objects, or rename one of them.",
    aliases=("duplicate-identity", "identity-twice"),
)
OUT_OF_RANGE = refusal(
    "out-of-range",
    "A number is below the minimum or above the maximum of its field",
    "Write a number in the range that the message names.",
    aliases=("number-out-of-range",),
)
PACK_AND_SPREAD = refusal(
    "pack-and-spread",
    "A scheduling policy sets both binPack and spread",
    "Set binPack or spread to false.",
)
POOL_IN_TWO_QUEUES = refusal(
    "pool-in-two-queues",
    "A pool is in two shared queues",
    "Remove the pool from one of the two queues.",
)
POOLS_OVERLAP = refusal(
    "pools-overlap",
    "The nodeSelectors of two pools can match the same node",
    "Give one label key different values in the two nodeSelectors.",
)
QUEUES_WITHOUT_POOLS = warning(
    "queues-without-pools",
    "gpu-scheduler-config lists queues, but the spec has no pool",
    "Add a ResourcePool.",
)
REPLICAS_REVERSED = refusal(
    "replicas-reversed",
    "minReplicas of a model is above maxReplicas",
    "Lower minReplicas, or raise maxReplicas.",
)
REPLICAS_WITHOUT_SHARING = refusal(
    "replicas-without-sharing",
    "A pool sets gpu.replicas but does not share its GPUs",
    "Write gpu.sharing: timeSlicing or mps, or remove gpu.replicas.",
)
RESERVED_NAME = refusal(
    "reserved-name",
    "A name is reserved by Kubernetes, Kueue or Volcano",
    "Choose another name.",
)
RESERVED_NAMESPACE = refusal(
    "reserved-namespace",
    "A team has a namespace in which the cluster's own components run",
    "Use a namespace that only this team uses.",
)
SHARED_QUEUE_NOT_KUEUE = refusal(
    "shared-queue-not-kueue",
    "A shared queue has a pool that Kueue does not schedule",
    "Set the pool's scheduler to kueue, or remove the pool from the shared queue.",
)
SHARING_WITHOUT_REPLICAS = refusal(
    "sharing-without-replicas",
    "A pool shares its GPUs but does not set how many pods share one GPU",
    "Write gpu.replicas, 2 or more.",
)
TEAM_CYCLE = refusal(
    "team-cycle",
    "The parents of teams form a cycle",
    "Remove spec.parent from one of these teams.",
)
TEAM_WITHOUT_NAMESPACES = refusal(
    "team-without-namespaces",
    "A team has neither namespaces nor child teams, so no pod can use its quota",
    "Write spec.namespaces, or remove the team.",
)
TIME_ZONE_UNKNOWN = warning(
    "time-zone-unknown",
    "The time zone of a schedule, CronJob or the peak hours is not in the time zone database of this machine",
    "Write the name of a time zone, such as Europe/Berlin.",
)
TOTAL_CONTRADICTS_NODES = refusal(
    "total-contradicts-nodes",
    "totalGPUs differs from the number of nodes times the GPUs of a node",
    "Correct one of the numbers, or write only nodes or only totalGPUs.",
)
TWO_SCHEDULERS = refusal(
    "two-schedulers",
    "The nodeSelectors of two pools with different schedulers can match the same node",
    "Give one label key different values in the two nodeSelectors.",
)
UNEXPLAINED_REFUSAL = refusal(
    "unexplained-refusal",
    "A bug in policygen: a document is refused, but policygen cannot report why",
    "Report this bug, and attach the document.",
    aliases=("validators-disagree",),
)
UNKNOWN_FIELD = refusal(
    "unknown-field",
    "An object has a field that does not exist in its kind",
    "Correct the name or the indentation, or remove the field.",
    aliases=("unknown-key", "field-unknown"),
)
UNKNOWN_KIND = refusal(
    "unknown-kind",
    "The kind of a document does not exist in its apiVersion",
    "Write a kind that the message names.",
)
UNKNOWN_MODEL = warning(
    "unknown-model",
    "policygen has no data about a model family or size",
    "Write a family and size that docs/hardware.md lists, or set gpuMemory and omit the family.",
)
UNKNOWN_REFERENCE = refusal(
    "unknown-reference",
    "A name refers to an object that does not exist",
    "Correct the name, or add the object to which the name refers.",
)
UNKNOWN_VERSION = refusal(
    "unknown-version",
    "A document has an apiVersion that policygen does not support",
    "Write the apiVersion that the message names.",
)
UNSUPPORTED_TARGET = refusal(
    "unsupported-target",
    "A target version is not valid or not supported",
    "Write one of the versions that the message lists, in quotes.",
)
UNSUPPORTED_VALUE = refusal(
    "unsupported-value",
    "A field has a value that is not one of its allowed values",
    "Write one of the values that the message names.",
    aliases=("not-allowed", "value-unsupported"),
)
WRONG_LENGTH = refusal(
    "wrong-length",
    "A string or list is shorter or longer than its field allows",
    "Write a value of the length that the message names.",
    aliases=("too-few-entries", "too-many-entries", "empty-text", "length-refused"),
)
WRONG_TYPE = refusal(
    "wrong-type",
    "A value does not have the type that its field requires",
    "Write a value of the type that the message names.",
    aliases=("type-refused",),
)

RULES = tuple(rule for rule in vars().values() if isinstance(rule, Rule))
