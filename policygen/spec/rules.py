"""What policygen reports about a spec by itself: one object for each finding."""

from policygen.core.rule import Family, Rule, Severity

AVAILABLE_ABOVE_TOTAL = Rule(
    "available-above-total",
    Severity.ERROR,
    Family.REFUSED,
    "More GPUs are available than there are",
)
BAD_DATE = Rule(
    "bad-date",
    Severity.ERROR,
    Family.REFUSED,
    "A date is none, or not written as YYYY-MM-DD",
)
BAD_DURATION = Rule(
    "bad-duration",
    Severity.ERROR,
    Family.REFUSED,
    "A duration is none, or longer than anybody waits",
)
BAD_LABEL = Rule(
    "bad-label",
    Severity.ERROR,
    Family.REFUSED,
    "A label's key or value is none that Kubernetes takes",
)
BAD_NAME = Rule(
    "bad-name",
    Severity.ERROR,
    Family.REFUSED,
    "A name is none that Kubernetes takes",
)
BAD_QUANTITY = Rule(
    "bad-quantity",
    Severity.ERROR,
    Family.REFUSED,
    "An amount is no Kubernetes quantity, or too small to mean anything",
)
BAD_TAINT = Rule(
    "bad-taint",
    Severity.ERROR,
    Family.REFUSED,
    "A taint is none that a node could have",
)
BAD_TOLERATION = Rule(
    "bad-toleration",
    Severity.ERROR,
    Family.REFUSED,
    "A toleration is none that a pod could have",
)
BAD_TOPOLOGY = Rule(
    "bad-topology",
    Severity.ERROR,
    Family.REFUSED,
    "A level of a topology is no label that Kueue could use",
)
CAPACITY_MISSING = Rule(
    "capacity-missing",
    Severity.ERROR,
    Family.REFUSED,
    "Nothing says how many GPUs a pool has",
)
CLASS_MISSING = Rule(
    "class-missing",
    Severity.WARNING,
    Family.REPORTED,
    "A model in the form of the articles names no queue",
)
CLASS_WITHOUT_QUEUE = Rule(
    "class-without-queue",
    Severity.WARNING,
    Family.REPORTED,
    "A model's scheduling class is no queue's name",
)
COMPOSED_NAME_TOO_LONG = Rule(
    "composed-name-too-long",
    Severity.ERROR,
    Family.REFUSED,
    "A name that is made of several is longer than Kubernetes takes",
)
DUPLICATE_ENTRY = Rule(
    "duplicate-entry",
    Severity.ERROR,
    Family.REFUSED,
    "A list has two entries of one name",
)
DUPLICATE_IDENTITY = Rule(
    "duplicate-identity",
    Severity.ERROR,
    Family.REFUSED,
    "Two documents, or two entries, are the same thing",
)
EMPTY_TEXT = Rule(
    "empty-text",
    Severity.ERROR,
    Family.REFUSED,
    "A text is empty",
)
FOREIGN_DOCUMENTS = Rule(
    "foreign-documents",
    Severity.INFO,
    Family.REPORTED,
    "Documents of other API groups stand among the spec",
)
LOOKS_LIKE_QUEUES = Rule(
    "looks-like-queues",
    Severity.WARNING,
    Family.REPORTED,
    "A ConfigMap looks like gpu-scheduler-config under another name",
)
MEMORY_WITHOUT_UNIT = Rule(
    "memory-without-unit",
    Severity.WARNING,
    Family.REPORTED,
    "An amount of memory is below 1Mi, as if its unit were missing",
)
MIG_SINGLE_MIXED = Rule(
    "mig-single-mixed",
    Severity.ERROR,
    Family.REFUSED,
    "MIG's strategy single has several profiles",
)
MIG_WITHOUT_INSTANCES = Rule(
    "mig-without-instances",
    Severity.ERROR,
    Family.REFUSED,
    "A pool is cut by MIG, and nothing says into what",
)
MIG_WITHOUT_SHARING = Rule(
    "mig-without-sharing",
    Severity.ERROR,
    Family.REFUSED,
    "MIG instances are given for a pool that is not cut by MIG",
)
MISSING_KEY = Rule(
    "missing-key",
    Severity.ERROR,
    Family.REFUSED,
    "A key that is needed is missing",
)
MODEL_IN_INNER_TEAM = Rule(
    "model-in-inner-team",
    Severity.ERROR,
    Family.REFUSED,
    "A model's team has no namespace of its own",
)
NAME_COLLISION = Rule(
    "name-collision",
    Severity.ERROR,
    Family.REFUSED,
    "Two objects would have one name",
)
NAMESPACE_IN_TWO_TEAMS = Rule(
    "namespace-in-two-teams",
    Severity.ERROR,
    Family.REFUSED,
    "Two teams have one namespace",
)
NOT_ALLOWED = Rule(
    "not-allowed",
    Severity.ERROR,
    Family.REFUSED,
    "A value is none of those that are allowed",
)
OUT_OF_RANGE = Rule(
    "out-of-range",
    Severity.ERROR,
    Family.REFUSED,
    "A number is too small or too large",
)
PACK_AND_SPREAD = Rule(
    "pack-and-spread",
    Severity.ERROR,
    Family.REFUSED,
    "One policy asks for packing and for spreading",
)
POOL_IN_TWO_QUEUES = Rule(
    "pool-in-two-queues",
    Severity.ERROR,
    Family.REFUSED,
    "A pool stands in two shared queues",
)
POOLS_OVERLAP = Rule(
    "pools-overlap",
    Severity.ERROR,
    Family.REFUSED,
    "A node can match two pools",
)
QUEUES_WITHOUT_POOLS = Rule(
    "queues-without-pools",
    Severity.WARNING,
    Family.REPORTED,
    "Queues are given, and no pool to share",
)
REPLICAS_REVERSED = Rule(
    "replicas-reversed",
    Severity.ERROR,
    Family.REFUSED,
    "minReplicas is above maxReplicas",
)
REPLICAS_WITHOUT_SHARING = Rule(
    "replicas-without-sharing",
    Severity.ERROR,
    Family.REFUSED,
    "Replicas of a GPU are given for a pool that does not share them",
)
RESERVED_NAME = Rule(
    "reserved-name",
    Severity.ERROR,
    Family.REFUSED,
    "A name is taken by Kubernetes, Kueue or Volcano",
)
RESERVED_NAMESPACE = Rule(
    "reserved-namespace",
    Severity.ERROR,
    Family.REFUSED,
    "A team is given a namespace of the cluster itself",
)
SHARED_QUEUE_NOT_KUEUE = Rule(
    "shared-queue-not-kueue",
    Severity.ERROR,
    Family.REFUSED,
    "A shared queue has a pool that Kueue does not schedule",
)
SHARING_WITHOUT_REPLICAS = Rule(
    "sharing-without-replicas",
    Severity.ERROR,
    Family.REFUSED,
    "A pool shares its GPUs, and nothing says among how many",
)
TEAM_CYCLE = Rule(
    "team-cycle",
    Severity.ERROR,
    Family.REFUSED,
    "Teams are each other's parents",
)
TEAM_WITHOUT_NAMESPACES = Rule(
    "team-without-namespaces",
    Severity.ERROR,
    Family.REFUSED,
    "A team has neither namespaces nor child teams",
)
TOO_FEW_ENTRIES = Rule(
    "too-few-entries",
    Severity.ERROR,
    Family.REFUSED,
    "A list or mapping has fewer entries than it needs",
)
TOO_MANY_ENTRIES = Rule(
    "too-many-entries",
    Severity.ERROR,
    Family.REFUSED,
    "A list or mapping has more entries than are allowed",
)
TOTAL_CONTRADICTS_NODES = Rule(
    "total-contradicts-nodes",
    Severity.ERROR,
    Family.REFUSED,
    "totalGPUs is not what the nodes have together",
)
TWO_SCHEDULERS = Rule(
    "two-schedulers",
    Severity.ERROR,
    Family.REFUSED,
    "A node can match pools of two schedulers",
)
UNKNOWN_KEY = Rule(
    "unknown-key",
    Severity.ERROR,
    Family.REFUSED,
    "A key is none that is known here",
    "Write the key that the message names, or remove it; `policygen schema KIND` prints all of them with what they do. A key of a newer policygen needs that version.",
)
UNKNOWN_KIND = Rule(
    "unknown-kind",
    Severity.ERROR,
    Family.REFUSED,
    "An apiVersion has no such kind",
)
UNKNOWN_MODEL = Rule(
    "unknown-model",
    Severity.WARNING,
    Family.REPORTED,
    "A model family is not in the data",
)
UNKNOWN_REFERENCE = Rule(
    "unknown-reference",
    Severity.ERROR,
    Family.REFUSED,
    "A name leads nowhere",
)
UNKNOWN_VERSION = Rule(
    "unknown-version",
    Severity.ERROR,
    Family.REFUSED,
    "An apiVersion is none that is read",
)
UNSUPPORTED_TARGET = Rule(
    "unsupported-target",
    Severity.ERROR,
    Family.REFUSED,
    "A target version is none that is supported",
)
VALIDATORS_DISAGREE = Rule(
    "validators-disagree",
    Severity.ERROR,
    Family.REFUSED,
    "a document breaks its schema, but policygen cannot say where: an error in policygen",
)
WRONG_TYPE = Rule(
    "wrong-type",
    Severity.ERROR,
    Family.REFUSED,
    "A value is of another type than its field",
)

RULES: tuple[Rule, ...] = (
    AVAILABLE_ABOVE_TOTAL,
    BAD_DATE,
    BAD_DURATION,
    BAD_LABEL,
    BAD_NAME,
    BAD_QUANTITY,
    BAD_TAINT,
    BAD_TOLERATION,
    BAD_TOPOLOGY,
    CAPACITY_MISSING,
    CLASS_MISSING,
    CLASS_WITHOUT_QUEUE,
    COMPOSED_NAME_TOO_LONG,
    DUPLICATE_ENTRY,
    DUPLICATE_IDENTITY,
    EMPTY_TEXT,
    FOREIGN_DOCUMENTS,
    LOOKS_LIKE_QUEUES,
    MEMORY_WITHOUT_UNIT,
    MIG_SINGLE_MIXED,
    MIG_WITHOUT_INSTANCES,
    MIG_WITHOUT_SHARING,
    MISSING_KEY,
    MODEL_IN_INNER_TEAM,
    NAME_COLLISION,
    NAMESPACE_IN_TWO_TEAMS,
    NOT_ALLOWED,
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
    TOO_FEW_ENTRIES,
    TOO_MANY_ENTRIES,
    TOTAL_CONTRADICTS_NODES,
    TWO_SCHEDULERS,
    UNKNOWN_KEY,
    UNKNOWN_KIND,
    UNKNOWN_MODEL,
    UNKNOWN_REFERENCE,
    UNKNOWN_VERSION,
    UNSUPPORTED_TARGET,
    VALIDATORS_DISAGREE,
    WRONG_TYPE,
)
