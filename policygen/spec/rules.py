"""The rules about a spec itself: its schema, references and pools."""

from policygen.core.rule import Family, Rule, Severity

AVAILABLE_ABOVE_TOTAL = Rule(
    "available-above-total",
    Severity.ERROR,
    Family.REFUSED,
    "A pool has more available GPUs than GPUs in total",
    "Lower availableGPUs, or correct the total.",
)
CAPACITY_MISSING = Rule(
    "capacity-missing",
    Severity.ERROR,
    Family.REFUSED,
    "A pool does not set how many GPUs it has",
    "Write capacity.nodes or capacity.totalGPUs.",
)
CLASS_MISSING = Rule(
    "class-missing",
    Severity.WARNING,
    Family.REPORTED,
    "A ModelServingSpec does not set schedulingClass, so it joins no queue",
    "Write the name of a queue into schedulingClass.",
)
CLASS_WITHOUT_QUEUE = Rule(
    "class-without-queue",
    Severity.WARNING,
    Family.REPORTED,
    "The schedulingClass of a ModelServingSpec is not the name of a queue",
    "Add a queue of this name to gpu-scheduler-config, or correct schedulingClass.",
)
COMPOSED_NAME_TOO_LONG = Rule(
    "composed-name-too-long",
    Severity.ERROR,
    Family.REFUSED,
    "A name that policygen builds from several names is longer than Kubernetes allows",
    "Shorten one of the names that the message shows.",
)
DUPLICATE_ENTRY = Rule(
    "duplicate-entry",
    Severity.ERROR,
    Family.REFUSED,
    "A list has the same entry twice where entries must differ",
    "Remove one of the two entries, or correct its key.",
    aliases=("list-entry-twice",),
)
FOREIGN_DOCUMENTS = Rule(
    "foreign-documents",
    Severity.INFO,
    Family.REPORTED,
    "Files of the spec contain documents of other API groups, which are skipped",
    "Do nothing, or move these documents out of the spec's folder.",
)
INVALID_LABEL = Rule(
    "invalid-label",
    Severity.ERROR,
    Family.REFUSED,
    "A label key or value is not valid",
    "Write a label key or value that Kubernetes accepts.",
    aliases=("bad-label", "label-refused"),
)
INVALID_NAME = Rule(
    "invalid-name",
    Severity.ERROR,
    Family.REFUSED,
    "A name is missing or not valid for its kind",
    "Write a name that Kubernetes accepts.",
    aliases=("bad-name", "name-refused"),
)
INVALID_TAINT = Rule(
    "invalid-taint",
    Severity.ERROR,
    Family.REFUSED,
    "A taint of a pool is not valid, or is set twice",
    "Correct the taint's key or value, or remove the second one.",
    aliases=("bad-taint",),
)
INVALID_TOLERATION = Rule(
    "invalid-toleration",
    Severity.ERROR,
    Family.REFUSED,
    "A toleration of a pool is not valid",
    "Correct the field that the message names.",
    aliases=("bad-toleration",),
)
INVALID_TOPOLOGY = Rule(
    "invalid-topology",
    Severity.ERROR,
    Family.REFUSED,
    "A topology level of a pool is not a label that Kueue can use",
    "Correct the level, or move it to the place that the message names.",
    aliases=("bad-topology",),
)
INVALID_VALUE = Rule(
    "invalid-value",
    Severity.ERROR,
    Family.REFUSED,
    "A value does not have the format that its field requires",
    "Write a value in the format that the message names.",
    aliases=("bad-quantity", "bad-date", "bad-duration", "value-form-refused"),
)
LOOKS_LIKE_QUEUES = Rule(
    "looks-like-queues",
    Severity.WARNING,
    Family.REPORTED,
    "A ConfigMap looks like gpu-scheduler-config but has another name or header, so it is skipped",
    "Write the apiVersion, kind or name that the message shows.",
)
MEMORY_WITHOUT_UNIT = Rule(
    "memory-without-unit",
    Severity.WARNING,
    Family.REPORTED,
    "An amount of memory is below 1Mi, probably because its unit is missing",
    "Write a unit, such as 16Gi.",
)
MIG_SINGLE_MIXED = Rule(
    "mig-single-mixed",
    Severity.ERROR,
    Family.REFUSED,
    "A pool with MIG strategy single has several MIG profiles",
    "Keep one profile, or write strategy: mixed.",
)
MIG_WITHOUT_INSTANCES = Rule(
    "mig-without-instances",
    Severity.ERROR,
    Family.REFUSED,
    "A pool uses MIG but does not set how many instances of which profile it has",
    "Write gpu.mig.instances, such as 1g.10gb: 14.",
)
MIG_WITHOUT_SHARING = Rule(
    "mig-without-sharing",
    Severity.ERROR,
    Family.REFUSED,
    "A pool has settings for MIG but does not use MIG",
    "Write sharing: mig, or remove the settings.",
)
MISSING_FIELD = Rule(
    "missing-field",
    Severity.ERROR,
    Family.REFUSED,
    "A required field is missing",
    "Write the field that the message names.",
    aliases=("missing-key", "field-missing"),
)
MODEL_IN_INNER_TEAM = Rule(
    "model-in-inner-team",
    Severity.ERROR,
    Family.REFUSED,
    "A model belongs to a team that has child teams but no namespace",
    "Assign the model to one of the child teams, or give its team a namespace.",
)
NAME_COLLISION = Rule(
    "name-collision",
    Severity.ERROR,
    Family.REFUSED,
    "Two objects that policygen renders would have the same name",
    "Rename the queue or the priority that the message names.",
)
NAMESPACE_IN_TWO_TEAMS = Rule(
    "namespace-in-two-teams",
    Severity.ERROR,
    Family.REFUSED,
    "Two teams have the same namespace",
    "Remove the namespace from one of the two teams.",
)
OBJECT_DECLARED_TWICE = Rule(
    "object-declared-twice",
    Severity.ERROR,
    Family.REFUSED,
    "Two objects or documents in the input have the same kind, namespace and name",
    "Remove one of the two, or rename it.",
    aliases=("duplicate-identity", "identity-twice"),
)
OUT_OF_RANGE = Rule(
    "out-of-range",
    Severity.ERROR,
    Family.REFUSED,
    "A number is below or above the bounds of its field",
    "Write a number within the bounds that the message names.",
    aliases=("number-out-of-range",),
)
PACK_AND_SPREAD = Rule(
    "pack-and-spread",
    Severity.ERROR,
    Family.REFUSED,
    "A scheduling policy sets both binPack and spread",
    "Set one of the two to false.",
)
POOL_IN_TWO_QUEUES = Rule(
    "pool-in-two-queues",
    Severity.ERROR,
    Family.REFUSED,
    "A pool is in two shared queues",
    "Remove the pool from one of the two queues.",
)
POOLS_OVERLAP = Rule(
    "pools-overlap",
    Severity.ERROR,
    Family.REFUSED,
    "The nodeSelectors of two pools can match the same node",
    "Give one label key different values in the two nodeSelectors.",
)
QUEUES_WITHOUT_POOLS = Rule(
    "queues-without-pools",
    Severity.WARNING,
    Family.REPORTED,
    "gpu-scheduler-config lists queues, but the spec has no pool",
    "Add a ResourcePool.",
)
REPLICAS_REVERSED = Rule(
    "replicas-reversed",
    Severity.ERROR,
    Family.REFUSED,
    "minReplicas of a model is above maxReplicas",
    "Lower minReplicas, or raise maxReplicas.",
)
REPLICAS_WITHOUT_SHARING = Rule(
    "replicas-without-sharing",
    Severity.ERROR,
    Family.REFUSED,
    "A pool sets replicas of a GPU but does not share its GPUs",
    "Write sharing: timeSlicing or mps, or remove replicas.",
)
RESERVED_NAME = Rule(
    "reserved-name",
    Severity.ERROR,
    Family.REFUSED,
    "A name is reserved by Kubernetes, Kueue or Volcano",
    "Choose another name.",
)
RESERVED_NAMESPACE = Rule(
    "reserved-namespace",
    Severity.ERROR,
    Family.REFUSED,
    "A team has a namespace in which the cluster's own components run",
    "Use a namespace of the team's own.",
)
SHARED_QUEUE_NOT_KUEUE = Rule(
    "shared-queue-not-kueue",
    Severity.ERROR,
    Family.REFUSED,
    "A shared queue has a pool that Kueue does not schedule",
    "Set the pool's scheduler to kueue, or remove it from the shared queue.",
)
SHARING_WITHOUT_REPLICAS = Rule(
    "sharing-without-replicas",
    Severity.ERROR,
    Family.REFUSED,
    "A pool shares its GPUs but does not set how many pods share one",
    "Write gpu.replicas, 2 or more.",
)
TEAM_CYCLE = Rule(
    "team-cycle",
    Severity.ERROR,
    Family.REFUSED,
    "A team is its own ancestor",
    "Remove the parent of one of these teams.",
)
TEAM_WITHOUT_NAMESPACES = Rule(
    "team-without-namespaces",
    Severity.ERROR,
    Family.REFUSED,
    "A team has neither namespaces nor child teams, so no pod can use its quota",
    "Write spec.namespaces, or remove the team.",
)
TOTAL_CONTRADICTS_NODES = Rule(
    "total-contradicts-nodes",
    Severity.ERROR,
    Family.REFUSED,
    "totalGPUs differs from the number of nodes times the GPUs of a node",
    "Correct one of the numbers, or write only nodes or totalGPUs.",
)
TWO_SCHEDULERS = Rule(
    "two-schedulers",
    Severity.ERROR,
    Family.REFUSED,
    "The nodeSelectors of two pools with different schedulers can match the same node",
    "Give one label key different values in the two nodeSelectors.",
)
UNKNOWN_FIELD = Rule(
    "unknown-field",
    Severity.ERROR,
    Family.REFUSED,
    "A field does not exist in its kind",
    "Correct the name or the indentation, or remove the field.",
    aliases=("unknown-key", "field-unknown"),
)
UNKNOWN_KIND = Rule(
    "unknown-kind",
    Severity.ERROR,
    Family.REFUSED,
    "An apiVersion has no kind of this name",
    "Write a kind that the message names.",
)
UNKNOWN_MODEL = Rule(
    "unknown-model",
    Severity.WARNING,
    Family.REPORTED,
    "policygen has no data about a model family or size",
    "Write a known name, or set gpuMemory and omit the family.",
)
UNKNOWN_REFERENCE = Rule(
    "unknown-reference",
    Severity.ERROR,
    Family.REFUSED,
    "A name refers to something that does not exist",
    "Correct the name, or add what it refers to.",
)
UNKNOWN_VERSION = Rule(
    "unknown-version",
    Severity.ERROR,
    Family.REFUSED,
    "policygen does not read this apiVersion",
    "Write the apiVersion that the message names.",
)
UNSUPPORTED_TARGET = Rule(
    "unsupported-target",
    Severity.ERROR,
    Family.REFUSED,
    "A target version is not valid or not supported",
    "Write a supported version, in quotes.",
)
UNSUPPORTED_VALUE = Rule(
    "unsupported-value",
    Severity.ERROR,
    Family.REFUSED,
    "A field has a value that is not one of its allowed values",
    "Write one of the values that the message names.",
    aliases=("not-allowed", "value-unsupported"),
)
VALIDATORS_DISAGREE = Rule(
    "validators-disagree",
    Severity.ERROR,
    Family.REFUSED,
    "policygen refuses a document but cannot explain why: a bug in policygen",
    "Report this bug, with the document.",
)
WRONG_LENGTH = Rule(
    "wrong-length",
    Severity.ERROR,
    Family.REFUSED,
    "A string or list is shorter or longer than its field allows",
    "Keep to the length that the message names.",
    aliases=("too-few-entries", "too-many-entries", "empty-text", "length-refused"),
)
WRONG_TYPE = Rule(
    "wrong-type",
    Severity.ERROR,
    Family.REFUSED,
    "A value has another type than its field",
    "Write a value of the type that the message names.",
    aliases=("type-refused",),
)

RULES: tuple[Rule, ...] = (
    AVAILABLE_ABOVE_TOTAL,
    CAPACITY_MISSING,
    CLASS_MISSING,
    CLASS_WITHOUT_QUEUE,
    COMPOSED_NAME_TOO_LONG,
    DUPLICATE_ENTRY,
    FOREIGN_DOCUMENTS,
    INVALID_LABEL,
    INVALID_NAME,
    INVALID_TAINT,
    INVALID_TOLERATION,
    INVALID_TOPOLOGY,
    INVALID_VALUE,
    LOOKS_LIKE_QUEUES,
    MEMORY_WITHOUT_UNIT,
    MIG_SINGLE_MIXED,
    MIG_WITHOUT_INSTANCES,
    MIG_WITHOUT_SHARING,
    MISSING_FIELD,
    MODEL_IN_INNER_TEAM,
    NAME_COLLISION,
    NAMESPACE_IN_TWO_TEAMS,
    OBJECT_DECLARED_TWICE,
    OUT_OF_RANGE,
    PACK_AND_SPREAD,
    POOL_IN_TWO_QUEUES,
    POOLS_OVERLAP,
    QUEUES_WITHOUT_POOLS,
    REPLICAS_REVERSED,
    REPLICAS_WITHOUT_SHARING,
    RESERVED_NAME,
    RESERVED_NAMESPACE,
    SHARED_QUEUE_NOT_KUEUE,
    SHARING_WITHOUT_REPLICAS,
    TEAM_CYCLE,
    TEAM_WITHOUT_NAMESPACES,
    TOTAL_CONTRADICTS_NODES,
    TWO_SCHEDULERS,
    UNKNOWN_FIELD,
    UNKNOWN_KIND,
    UNKNOWN_MODEL,
    UNKNOWN_REFERENCE,
    UNKNOWN_VERSION,
    UNSUPPORTED_TARGET,
    UNSUPPORTED_VALUE,
    VALIDATORS_DISAGREE,
    WRONG_LENGTH,
    WRONG_TYPE,
)
