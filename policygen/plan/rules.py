"""What policygen reports about what a spec would render: one object for each finding."""

from policygen.core.rule import Family, Rule, Severity

ASSUMPTION = Rule(
    "assumption",
    Severity.INFO,
    Family.REPORTED,
    "A fact that the spec leaves out was taken from the hardware data",
)
BAD_BASE_FILE = Rule(
    "bad-base-file",
    Severity.ERROR,
    Family.REFUSED,
    "The base file of Kueue's Configuration cannot be merged with ours",
)
CONTAINER_DEFAULTS_MISSING = Rule(
    "container-defaults-missing",
    Severity.ERROR,
    Family.REFUSED,
    "A quota of cpu and memory would refuse containers without requests",
)
COUNTED_BY_PROFILE = Rule(
    "counted-by-profile",
    Severity.ERROR,
    Family.REFUSED,
    "Numbers are by MIG profile where the pool counts one resource, or the other way",
)
FAIR_SHARING_NEEDED = Rule(
    "fair-sharing-needed",
    Severity.INFO,
    Family.REPORTED,
    "Weights differ, and only fair sharing in Kueue's Configuration heeds them",
)
GANG_NOT_SCHEDULED = Rule(
    "gang-not-scheduled",
    Severity.WARNING,
    Family.REPORTED,
    "A gang stands in a pool whose scheduler starts pods one by one",
)
GPU_MEMORY_BELOW_CONCURRENCY = Rule(
    "gpu-memory-below-concurrency",
    Severity.WARNING,
    Family.REPORTED,
    "A model states less GPU memory than weights and KV cache take",
)
GPU_MEMORY_BELOW_WEIGHTS = Rule(
    "gpu-memory-below-weights",
    Severity.WARNING,
    Family.REPORTED,
    "A model states less GPU memory than its weights take",
)
GPUS_KEPT_BACK = Rule(
    "gpus-kept-back",
    Severity.INFO,
    Family.REPORTED,
    "Some GPUs of a pool are in no quota",
)
GPU_PRODUCT_MISSING = Rule(
    "gpu-product-missing",
    Severity.ERROR,
    Family.REFUSED,
    "No label of an article's pool names a known GPU product",
)
GUARANTEE_NOT_ENFORCED = Rule(
    "guarantee-not-enforced",
    Severity.WARNING,
    Family.REPORTED,
    "A guarantee stands in a pool whose scheduler guarantees nothing",
)
GUARANTEES_ABOVE_AVAILABLE = Rule(
    "guarantees-above-available",
    Severity.ERROR,
    Family.REFUSED,
    "Root teams are guaranteed more than the pool has",
)
GUARANTEES_ABOVE_PARENT = Rule(
    "guarantees-above-parent",
    Severity.ERROR,
    Family.REFUSED,
    "Child teams are guaranteed more than their parent",
)
HOST_SHARE_EXCEEDED = Rule(
    "host-share-exceeded",
    Severity.INFO,
    Family.REPORTED,
    "A model asks for more cpu or memory than its share of a node",
)
INERT_OPTION = Rule(
    "inert-option",
    Severity.WARNING,
    Family.REPORTED,
    "An option was given that changes nothing",
)
INERT_SETTING = Rule(
    "inert-setting",
    Severity.WARNING,
    Family.REPORTED,
    "A setting has no effect where it stands",
)
LIMIT_ABOVE_AVAILABLE = Rule(
    "limit-above-available",
    Severity.ERROR,
    Family.REFUSED,
    "A team's limit is above what the pool has",
)
LIMIT_ABOVE_PARENT = Rule(
    "limit-above-parent",
    Severity.ERROR,
    Family.REFUSED,
    "A team's limit is above its parent's",
)
LIMIT_BELOW_GUARANTEE = Rule(
    "limit-below-guarantee",
    Severity.ERROR,
    Family.REFUSED,
    "A team is limited to less than it is guaranteed",
)
LIMIT_OF_ZERO = Rule(
    "limit-of-zero",
    Severity.WARNING,
    Family.REPORTED,
    "A team's limit is 0, so it can run nothing",
)
MAX_PENDING_IS_SILENT = Rule(
    "max-pending-is-silent",
    Severity.INFO,
    Family.REPORTED,
    "Workloads above maxPending wait without an event",
)
MAX_PENDING_SUMMED = Rule(
    "max-pending-summed",
    Severity.WARNING,
    Family.REPORTED,
    "Queues that share a namespace have one bound on what waits",
)
MAX_PENDING_WITHOUT_NAMESPACES = Rule(
    "max-pending-without-namespaces",
    Severity.WARNING,
    Family.REPORTED,
    "A team bounds what waits and has no namespace",
)
MIG_INSTANCES_EXCEED_CARDS = Rule(
    "mig-instances-exceed-cards",
    Severity.WARNING,
    Family.REPORTED,
    "More MIG instances are counted than the cards can hold",
)
MIG_NOT_POSSIBLE = Rule(
    "mig-not-possible",
    Severity.ERROR,
    Family.REFUSED,
    "A GPU product that has no MIG is to be cut by it",
)
MODEL_ABOVE_LIMIT = Rule(
    "model-above-limit",
    Severity.WARNING,
    Family.REPORTED,
    "A model wants more GPUs than its team's limit",
)
MODEL_ABOVE_QUOTA = Rule(
    "model-above-quota",
    Severity.WARNING,
    Family.REPORTED,
    "A replica wants more GPUs than its team's limit leaves for each namespace",
)
MODEL_FITS_NO_POOL = Rule(
    "model-fits-no-pool",
    Severity.WARNING,
    Family.REPORTED,
    "A model can be placed nowhere",
)
MODEL_SIZE_UNKNOWN = Rule(
    "model-size-unknown",
    Severity.WARNING,
    Family.REPORTED,
    "A model says neither its GPU memory nor a known family and size",
)
NAMESPACE_WITHOUT_QUOTA = Rule(
    "namespace-without-quota",
    Severity.WARNING,
    Family.REPORTED,
    "A namespace gets no quota of a pool that needs one",
)
NO_CONFIGURATION = Rule(
    "no-configuration",
    Severity.ERROR,
    Family.REFUSED,
    "The file that is named as Kueue's Configuration holds none",
)
NODE_SHAPE_MISSING = Rule(
    "node-shape-missing",
    Severity.ERROR,
    Family.REFUSED,
    "Nothing says how much cpu and memory a node has",
)
NODE_TYPE_CONTRADICTS_PRODUCT = Rule(
    "node-type-contradicts-product",
    Severity.WARNING,
    Family.REPORTED,
    "A pool's node type has another GPU than the pool says",
)
NODE_TYPE_NOT_OFFERED = Rule(
    "node-type-not-offered",
    Severity.WARNING,
    Family.REPORTED,
    "A model names a node type that no pool offers",
)
ONLY_PREEMPTIBLE_POOLS = Rule(
    "only-preemptible-pools",
    Severity.WARNING,
    Family.REPORTED,
    "A model that does not tolerate preemption fits preemptible pools only",
)
OVERCOMMIT_EXCEEDED = Rule(
    "overcommit-exceeded",
    Severity.ERROR,
    Family.REFUSED,
    "Limits sum to more than overcommitRatio allows",
)
OVERCOMMIT_IS_NOT_SHARING = Rule(
    "overcommit-is-not-sharing",
    Severity.INFO,
    Family.REPORTED,
    "overcommitRatio bounds limits and shares no GPU",
)
PACKING_MARGIN = Rule(
    "packing-margin",
    Severity.INFO,
    Family.REPORTED,
    "How far the packing profile is from being outvoted",
)
PACKS_WEAKLY = Rule(
    "packs-weakly",
    Severity.WARNING,
    Family.REPORTED,
    "The packing profile can be outvoted on nodes with many units",
)
PARENT_WITHOUT_QUOTA = Rule(
    "parent-without-quota",
    Severity.ERROR,
    Family.REFUSED,
    "A team has a share of a pool of which its parent has none",
)
PER_NODE_CONTRADICTS_NODE_TYPE = Rule(
    "per-node-contradicts-node-type",
    Severity.WARNING,
    Family.REPORTED,
    "A pool's nodes have another number of GPUs than their type",
)
PER_NODE_MISSING = Rule(
    "per-node-missing",
    Severity.ERROR,
    Family.REFUSED,
    "Nothing says how many GPUs a node has",
)
PODS_MUST_CARRY = Rule(
    "pods-must-carry",
    Severity.INFO,
    Family.REPORTED,
    "What the pods of a model must carry",
)
POOL_UNTAINTED = Rule(
    "pool-untainted",
    Severity.INFO,
    Family.REPORTED,
    "A pool's nodes take any pod",
)
POOL_WITHOUT_TEAMS = Rule(
    "pool-without-teams",
    Severity.WARNING,
    Family.REPORTED,
    "No team has a share of a pool",
)
QUOTA_CANNOT_TELL_POOLS_APART = Rule(
    "quota-cannot-tell-pools-apart",
    Severity.ERROR,
    Family.REFUSED,
    "A team has two pools of one resource that only a ResourceQuota bounds",
)
QUOTA_COUNTS_OTHER_POOLS = Rule(
    "quota-counts-other-pools",
    Severity.WARNING,
    Family.REPORTED,
    "A quota of cpu and memory also counts the pods of the team's other pools",
)
RENDERS_NOTHING = Rule(
    "renders-nothing",
    Severity.WARNING,
    Family.REPORTED,
    "A document says nothing that can be rendered",
)
RESERVED_ABOVE_CAPACITY = Rule(
    "reserved-above-capacity",
    Severity.ERROR,
    Family.REFUSED,
    "What is reserved leaves nothing of a node",
)
SCHEDULER_PROFILES_UNREAD = Rule(
    "scheduler-profiles-unread",
    Severity.INFO,
    Family.REPORTED,
    "No scheduler reads the profiles that are rendered",
)
SERVING_ON_BORROWED_GPUS = Rule(
    "serving-on-borrowed-gpus",
    Severity.WARNING,
    Family.REPORTED,
    "A serving model runs on GPUs that its team may lose",
)
SHARE_WITHOUT_NAMESPACES = Rule(
    "share-without-namespaces",
    Severity.WARNING,
    Family.REPORTED,
    "A team has a share and no namespace to use it in",
)
SHARED_MEMORY_EXCEEDED = Rule(
    "shared-memory-exceeded",
    Severity.WARNING,
    Family.REPORTED,
    "A model wants more memory than a share of a GPU has",
)
SHARED_QUEUE_UNLIKE = Rule(
    "shared-queue-unlike",
    Severity.ERROR,
    Family.REFUSED,
    "Pools of a shared queue differ in what they count or how they schedule",
)
SHARED_QUEUE_WEIGHTS = Rule(
    "shared-queue-weights",
    Severity.ERROR,
    Family.REFUSED,
    "A team's weights differ between the pools of a shared queue",
)
TAINT_NOT_TOLERATED = Rule(
    "taint-not-tolerated",
    Severity.WARNING,
    Family.REPORTED,
    "A pool's tolerations leave out a taint of its own",
)
TEAM_WITHOUT_SHARE = Rule(
    "team-without-share",
    Severity.WARNING,
    Family.REPORTED,
    "A model's team has no share of a pool that the model fits",
)
TOO_MANY_FLAVORS = Rule(
    "too-many-flavors",
    Severity.ERROR,
    Family.REFUSED,
    "A shared queue has more pools than Kueue takes",
)
TOO_MANY_RESOURCES = Rule(
    "too-many-resources",
    Severity.ERROR,
    Family.REFUSED,
    "A queue would count more resources than Kueue takes",
)
TOPOLOGY_BY_NODE = Rule(
    "topology-by-node",
    Severity.INFO,
    Family.REPORTED,
    "A topology without levels knows nodes only",
)
TOPOLOGY_GATE_NEEDED = Rule(
    "topology-gate-needed",
    Severity.INFO,
    Family.REPORTED,
    "Topology-aware scheduling needs a feature gate in this release",
)
TREE_NOT_ENFORCED = Rule(
    "tree-not-enforced",
    Severity.WARNING,
    Family.REPORTED,
    "A tree of teams stands in a pool whose scheduler knows no tree",
)
UNKNOWN_MIG_PROFILE = Rule(
    "unknown-mig-profile",
    Severity.ERROR,
    Family.REFUSED,
    "A MIG profile is none that the card or the pool has",
)
UNKNOWN_MODEL_SIZE = Rule(
    "unknown-model-size",
    Severity.WARNING,
    Family.REPORTED,
    "A model size is not in the data",
)
UNKNOWN_NODE_TYPE = Rule(
    "unknown-node-type",
    Severity.ERROR,
    Family.REFUSED,
    "A node type is not in the data",
)
UNKNOWN_PRODUCT = Rule(
    "unknown-product",
    Severity.WARNING,
    Family.REPORTED,
    "A GPU product is not in the data",
)
VOLCANO_CONFIG_NEEDED = Rule(
    "volcano-config-needed",
    Severity.INFO,
    Family.REPORTED,
    "Volcano's scheduler configuration must say what queues mean",
)
VOLCANO_NODE_SELECTOR = Rule(
    "volcano-node-selector",
    Severity.INFO,
    Family.REPORTED,
    "Volcano must be kept off the nodes of other pools",
)
VOLCANO_PACK_AND_SPREAD = Rule(
    "volcano-pack-and-spread",
    Severity.ERROR,
    Family.REFUSED,
    "Volcano's pools disagree about packing",
)
VOLCANO_RESOURCE_SHARED = Rule(
    "volcano-resource-shared",
    Severity.ERROR,
    Family.REFUSED,
    "Volcano's queues cannot tell the nodes of two pools apart",
)
VOLCANO_TREE_TOO_DEEP = Rule(
    "volcano-tree-too-deep",
    Severity.ERROR,
    Family.REFUSED,
    "A team stands deeper than Volcano's queues may",
)
WAIT_FOR_PODS_READY_NEEDED = Rule(
    "wait-for-pods-ready-needed",
    Severity.INFO,
    Family.REPORTED,
    "Gangs need waitForPodsReady in Kueue's Configuration",
)
WAITS_FOR_PODS_ANYWAY = Rule(
    "waits-for-pods-anyway",
    Severity.INFO,
    Family.REPORTED,
    "Kueue waits for the pods of a pool without gang scheduling too",
)

RULES: tuple[Rule, ...] = (
    ASSUMPTION,
    BAD_BASE_FILE,
    CONTAINER_DEFAULTS_MISSING,
    COUNTED_BY_PROFILE,
    FAIR_SHARING_NEEDED,
    GANG_NOT_SCHEDULED,
    GPU_MEMORY_BELOW_CONCURRENCY,
    GPU_MEMORY_BELOW_WEIGHTS,
    GPUS_KEPT_BACK,
    GPU_PRODUCT_MISSING,
    GUARANTEE_NOT_ENFORCED,
    GUARANTEES_ABOVE_AVAILABLE,
    GUARANTEES_ABOVE_PARENT,
    HOST_SHARE_EXCEEDED,
    INERT_OPTION,
    INERT_SETTING,
    LIMIT_ABOVE_AVAILABLE,
    LIMIT_ABOVE_PARENT,
    LIMIT_BELOW_GUARANTEE,
    LIMIT_OF_ZERO,
    MAX_PENDING_IS_SILENT,
    MAX_PENDING_SUMMED,
    MAX_PENDING_WITHOUT_NAMESPACES,
    MIG_INSTANCES_EXCEED_CARDS,
    MIG_NOT_POSSIBLE,
    MODEL_ABOVE_LIMIT,
    MODEL_ABOVE_QUOTA,
    MODEL_FITS_NO_POOL,
    MODEL_SIZE_UNKNOWN,
    NAMESPACE_WITHOUT_QUOTA,
    NO_CONFIGURATION,
    NODE_SHAPE_MISSING,
    NODE_TYPE_CONTRADICTS_PRODUCT,
    NODE_TYPE_NOT_OFFERED,
    ONLY_PREEMPTIBLE_POOLS,
    OVERCOMMIT_EXCEEDED,
    OVERCOMMIT_IS_NOT_SHARING,
    PACKING_MARGIN,
    PACKS_WEAKLY,
    PARENT_WITHOUT_QUOTA,
    PER_NODE_CONTRADICTS_NODE_TYPE,
    PER_NODE_MISSING,
    PODS_MUST_CARRY,
    POOL_UNTAINTED,
    POOL_WITHOUT_TEAMS,
    QUOTA_CANNOT_TELL_POOLS_APART,
    QUOTA_COUNTS_OTHER_POOLS,
    RENDERS_NOTHING,
    RESERVED_ABOVE_CAPACITY,
    SCHEDULER_PROFILES_UNREAD,
    SERVING_ON_BORROWED_GPUS,
    SHARE_WITHOUT_NAMESPACES,
    SHARED_MEMORY_EXCEEDED,
    SHARED_QUEUE_UNLIKE,
    SHARED_QUEUE_WEIGHTS,
    TAINT_NOT_TOLERATED,
    TEAM_WITHOUT_SHARE,
    TOO_MANY_FLAVORS,
    TOO_MANY_RESOURCES,
    TOPOLOGY_BY_NODE,
    TOPOLOGY_GATE_NEEDED,
    TREE_NOT_ENFORCED,
    UNKNOWN_MIG_PROFILE,
    UNKNOWN_MODEL_SIZE,
    UNKNOWN_NODE_TYPE,
    UNKNOWN_PRODUCT,
    VOLCANO_CONFIG_NEEDED,
    VOLCANO_NODE_SELECTOR,
    VOLCANO_PACK_AND_SPREAD,
    VOLCANO_RESOURCE_SHARED,
    VOLCANO_TREE_TOO_DEEP,
    WAIT_FOR_PODS_READY_NEEDED,
    WAITS_FOR_PODS_ANYWAY,
)
