"""What policygen reports about what a spec would render: one object for each finding."""

from policygen.core.rule import Rule, note, refusal, warning

ADMISSION_DEFAULTS_NOT_SERVED = refusal(
    "admission-defaults-not-served",
    "The target version of Kubernetes does not serve the policy that adds missing fields",
    "Remove spec.admission.defaults, or use a later version of Kubernetes.",
)
ASSUMPTION = note(
    "assumption",
    "The spec omits a value or is ambiguous, so policygen assumes a value from its hardware data",
    "Check the assumed value. If the value is wrong, write the correct value into the spec.",
)
AUTOSCALER_BOUNDS_LOWERED = note(
    "autoscaler-bounds-lowered",
    "The rendered autoscaler of a model has fewer replicas than the model states, because its team or the nodes have less room",
    "Raise the guarantee or the limit of the team, add nodes, or lower minReplicas or maxReplicas.",
)
AUTOSCALER_METRIC_CAPPED = warning(
    "autoscaler-metric-capped",
    "The server of a model limits its requests in flight, so its autoscaler never adds a replica",
    "Lower autoscaling.targetConcurrency, or raise the limit of the server.",
)
AUTOSCALER_NOT_RENDERED = note(
    "autoscaler-not-rendered",
    "A model has minReplicas and maxReplicas, but no metric by which an autoscaler can scale it",
    "Write autoscaling.metric and autoscaling.targetConcurrency of the model.",
)
AVAILABLE_BELOW_TOTAL = note(
    "available-below-total",
    "Some GPUs of a pool are in no quota, because availableGPUs is below totalGPUs",
    "Raise capacity.availableGPUs if teams should be able to use these GPUs.",
    aliases=("gpus-kept-back",),
)
BAD_BASE_FILE = refusal(
    "bad-base-file",
    "policygen cannot merge its settings into a field of Kueue's Configuration file",
    "Correct the field in the file that spec.kueue.configuration of the Platform names.",
)
CONTAINER_DEFAULTS_EXCEED_NODE = refusal(
    "container-defaults-exceed-node",
    "containerDefaults request more cpu or memory than a node of any pool of the team has",
    "Lower containerDefaults of the team or the Platform.",
)
CONTAINER_DEFAULTS_MISSING = refusal(
    "container-defaults-missing",
    "With quotaCpuAndMemory, Kubernetes would reject containers without cpu and memory requests",
    "Write containerDefaults for the team or in the Platform, or remove quotaCpuAndMemory.",
)
CONTEXT_LENGTH_ABOVE_MODEL = warning(
    "context-length-above-model",
    "contextLength of a model is above the largest context that the published model supports",
    "Lower sizing.contextLength.",
)
FAIR_SHARING_NEEDED = note(
    "fair-sharing-needed",
    "Kueue ignores the different weights of teams unless its Configuration enables fairSharing",
    "Enable fairSharing in Kueue's Configuration. `render --with kueue-config` writes it into the file that spec.kueue.configuration names.",
)
GANG_NOT_SCHEDULED = warning(
    "gang-not-scheduled",
    "A gang is in a pool whose scheduler starts pods one by one",
    "Use a pool of Kueue or Volcano with gangScheduling: true, or remove the gang.",
)
GANG_SCHEDULING_FALSE_IGNORED = note(
    "gang-scheduling-false-ignored",
    "gangScheduling is false, but this Kueue release waits for all pods of a workload anyway",
    "Enable Kueue's feature gate DisableWaitForPodsReady, or remove gangScheduling: false.",
    aliases=("waits-for-pods-anyway",),
)
GANG_ON_BORROWED_GPUS = warning(
    "gang-on-borrowed-gpus",
    "A gang of Volcano needs more than its team deserves, so reclaim can evict some of its pods",
    "Raise the team's guarantee to the size of the gang, or let the job restart if a pod is evicted.",
)
GPU_MEMORY_BELOW_CONCURRENCY = warning(
    "gpu-memory-below-concurrency",
    "A model's gpuMemory is less than its weights and KV cache need",
    "Raise resources.gpuMemory, or lower sizing.concurrency.",
)
GPU_MEMORY_BELOW_TRAINING = warning(
    "gpu-memory-below-training",
    "A training model's gpuMemory or gpus have less memory than its training needs",
    "Raise resources.gpuMemory or gpus, or write sizing.training: lora.",
)
GPU_MEMORY_BELOW_WEIGHTS = warning(
    "gpu-memory-below-weights",
    "A model's gpuMemory or gpus have less memory than its weights need",
    "Raise resources.gpuMemory or gpus, or write the precision of the weights under sizing.",
)
GPU_MEMORY_CONTRADICTS_PRODUCT = warning(
    "gpu-memory-contradicts-product",
    "gpu.memory of a pool is more than twice or less than half the memory of gpu.product",
    "Write the usable memory of a complete GPU in gpu.memory, or correct gpu.product.",
)
GPU_PRODUCT_MISSING = refusal(
    "gpu-product-missing",
    "A pool with apiVersion gpu.example.com/v1 has no label that names a known GPU product",
    "Write a known GPU product as the label value, or write the pool as a ResourcePool.",
)
GPUS_BELOW_GPU_MEMORY = warning(
    "gpus-below-gpu-memory",
    "A model's gpus have less memory than its gpuMemory",
    "Raise resources.gpus, or write only one of gpus and gpuMemory.",
)
GUARANTEE_NOT_ENFORCED = warning(
    "guarantee-not-enforced",
    "The scheduler of a pool cannot enforce the guarantee of a team: kube-scheduler, or Volcano without preemption",
    "Schedule the pool with kueue, or lower the teams' limits until their sum fits the pool. With Volcano, "
    "you can also remove preemptionEnabled: false.",
)
GUARANTEES_ABOVE_AVAILABLE = refusal(
    "guarantees-above-available",
    "The guarantees of root teams sum to more than the available capacity of the pool",
    "Lower the guarantees, or raise the pool's capacity.",
)
GUARANTEES_ABOVE_PARENT = refusal(
    "guarantees-above-parent",
    "The guarantees of child teams sum to more than their parent's guarantee",
    "Raise the parent's guarantee, or lower the guarantees of its children.",
)
HOST_QUOTA_SMALL = warning(
    "host-quota-small",
    "A team's limit of cpu or memory is less than a tenth of the share of its GPUs",
    "Raise the limit of cpu or memory, or remove it: it is then proportional to the GPUs.",
)
HOST_SHARE_EXCEEDED = note(
    "host-share-exceeded",
    "A model requests more cpu or memory than the part of a node that belongs to its GPUs",
    "Lower the model's cpu or memory, or accept that some GPUs of the queue stay idle.",
)
INERT_OPTION = warning(
    "inert-option",
    "A command-line option has no effect on this spec",
    "Remove the option.",
)
INERT_SETTING = warning(
    "inert-setting",
    "A setting of the spec has no effect with this pool's scheduler or other settings",
    "Remove the setting, or change the scheduler or the other setting that prevents its effect.",
)
LIMIT_ABOVE_AVAILABLE = refusal(
    "limit-above-available",
    "A team's limit is above the available capacity of the pool",
    "Lower the limit, or raise the pool's capacity.",
)
LIMIT_ABOVE_PARENT = refusal(
    "limit-above-parent",
    "A team's limit is above the limit of its parent",
    "Lower the limit, or raise the limit of the parent.",
)
LIMIT_BELOW_GUARANTEE = refusal(
    "limit-below-guarantee",
    "A team's limit is below its guarantee",
    "Raise the limit, or lower the guarantee.",
)
LIMIT_OMITS_PROFILES = note(
    "limit-omits-profiles",
    "A team's limit omits a MIG profile of the pool, so this profile has no limit of its own",
    "Write a number for each profile of the pool; 0 if the team must not use the profile.",
)
LIMIT_OF_ZERO = warning(
    "limit-of-zero",
    "A team's limit is 0, so its workloads never start",
    "Raise the team's weight, or write a limit.",
)
MAX_PENDING_IS_SILENT = note(
    "max-pending-is-silent",
    "When maxPending is reached, new Jobs wait without a Workload object and without an event",
    "Set ttlSecondsAfterFinished on Jobs, so that finished Jobs are deleted and make room.",
)
MAX_PENDING_SUMMED = warning(
    "max-pending-summed",
    "Several queues share a namespace, so maxPending limits only the sum of their workloads",
    "Write each queue as a Team with its own namespace.",
)
MAX_PENDING_WITHOUT_NAMESPACES = warning(
    "max-pending-without-namespaces",
    "maxPending of a team has no effect, because the team has no namespaces",
    "Write maxPending for the child teams that have namespaces, or give the team namespaces.",
)
MIG_INSTANCES_EXCEED_CARDS = refusal(
    "mig-instances-exceed-cards",
    "The GPUs of a pool cannot hold the MIG instances that the pool lists",
    "Lower the numbers in mig.instances, or correct the number of GPUs in capacity.",
)
MIG_INSTANCES_FEW = warning(
    "mig-instances-few",
    "The MIG instances of a pool fit on at most half of its GPUs, so the other GPUs are in no quota",
    "Write the number of instances of the whole pool, not of one card or node.",
)
MIG_INSTANCES_UNLIKELY = warning(
    "mig-instances-unlikely",
    "A pool of an unknown GPU product lists more MIG instances than seven slices for each GPU",
    "Lower the numbers in mig.instances, or write a known product in gpu.product.",
)
MIG_NOT_POSSIBLE = refusal(
    "mig-not-possible",
    "A pool uses MIG on a GPU product that does not support MIG",
    "Use timeSlicing or mps to share the card, or `sharing: none`.",
)
MIG_QUOTA_MISMATCH = refusal(
    "mig-quota-mismatch",
    "A quota is one number, but the pool needs a number per MIG profile (or the reverse)",
    "Write the quota as one number, or as one number for each MIG profile, as the message shows.",
    aliases=("counted-by-profile",),
)
MODEL_ABOVE_LIMIT = warning(
    "model-above-limit",
    "A model needs more GPUs than its team's limit",
    "Raise the team's limit, or lower the model's replicas.",
)
MODEL_ABOVE_QUOTA = warning(
    "model-above-quota",
    "One replica of a model needs more GPUs than the quota of each namespace of its team",
    "Raise the team's limit, or give the team fewer namespaces.",
)
MODEL_FITS_NO_POOL = warning(
    "model-fits-no-pool",
    "A model fits no node of the pools that it may use",
    "Correct the model's resources or placement, or add a pool with larger nodes.",
)
MODEL_PLACED = note(
    "model-placed",
    "policygen chooses the pool of a model",
    "To choose another pool, write placement.pools of the model.",
)
MODEL_SIZE_UNKNOWN = warning(
    "model-size-unknown",
    "The GPU memory that a model needs is unknown",
    "Write resources.gpuMemory, resources.gpus, or a known family and size.",
)
MODELS_EXCEED_LIMIT = warning(
    "models-exceed-limit",
    "Models together need more than the limit of their team, of a parent, or than the pool has",
    "Lower the replicas, raise the limit, or move a model to another pool.",
)
MODELS_EXCEED_NODES = warning(
    "models-exceed-nodes",
    "Models are within all limits, but the nodes of the pool never have room for all their pods",
    "Add nodes, lower the replicas, or change the GPUs of a pod.",
)
NAMESPACE_WITHOUT_QUOTA = warning(
    "namespace-without-quota",
    "A team's limit is less than one GPU for each namespace, so some namespaces have a quota of 0",
    "Raise the limit, or give the team fewer namespaces.",
)
NO_CONFIGURATION = refusal(
    "no-configuration",
    "The file in the Platform's spec.kueue.configuration contains no Configuration of Kueue",
    "Name the file of Kueue's Configuration, or of its ConfigMap, in spec.kueue.configuration.",
)
NODE_ALLOCATABLE_IMPLAUSIBLE = warning(
    "node-allocatable-implausible",
    "nodeAllocatable has more than twice or less than half the cpu or memory of known nodes",
    "Correct the number in capacity.nodeAllocatable, or its unit, such as Mi instead of Gi.",
)
NODE_SHAPE_MISSING = refusal(
    "node-shape-missing",
    "The cpu and memory of a pool's nodes are not known",
    "Write capacity.nodeAllocatable, capacity.nodeType or gpu.product.",
)
NODE_TYPE_CONTRADICTS_PRODUCT = warning(
    "node-type-contradicts-product",
    "The nodes of a pool's nodeType have a different GPU than gpu.product",
    "Correct capacity.nodeType or gpu.product.",
)
NODE_TYPE_NOT_OFFERED = warning(
    "node-type-not-offered",
    "A model names a node type that no pool offers",
    "Correct the node type, or add a pool that offers it.",
)
ONLY_PREEMPTIBLE_POOLS = warning(
    "only-preemptible-pools",
    "A model may use only preemptible pools, but does not tolerate preemptible nodes",
    "Allow another pool, or write toleratePreemptible: true.",
)
OVERCOMMIT_EXCEEDED = refusal(
    "overcommit-exceeded",
    "The limits of root teams sum to more than overcommitRatio allows",
    "Lower the limits, or raise the pool's overcommitRatio.",
)
OVERCOMMIT_IS_NOT_SHARING = note(
    "overcommit-is-not-sharing",
    "overcommitRatio changes only the sum of the teams' limits, not the number of pods on a GPU",
    "Set gpu.sharing if several pods should share one GPU.",
)
PACKING_MARGIN = note(
    "packing-margin",
    "The packing profile always prefers the node with more GPUs in use",
    "No change is needed.",
)
PARENT_WITHOUT_QUOTA = refusal(
    "parent-without-quota",
    "A team has a quota for a pool, but its parent has no quota for that pool",
    "Add the pool to the parent's quotas.",
)
PEAK_EXCEEDS_LIMIT = note(
    "peak-exceeds-limit",
    "With all their replicas, models need more than the limit of their team, of a parent, or than "
    "the pool has",
    "Lower the largest numbers of replicas, or accept that some replicas wait.",
)
PER_NODE_CONTRADICTS_NODE_TYPE = warning(
    "per-node-contradicts-node-type",
    "gpu.perNode differs from the number of GPUs of the node type",
    "Correct gpu.perNode or capacity.nodeType, or write capacity.nodeAllocatable.",
)
PER_NODE_MISSING = refusal(
    "per-node-missing",
    "The number of GPUs on a node of a pool is not known",
    "Write gpu.perNode.",
)
PODS_MUST_CARRY = note(
    "pods-must-carry",
    "The policy applies only to pods that have the labels and fields in the message",
    "Copy the labels and fields into the pod templates of the model.",
)
IMAGE_MISSING = warning(
    "image-missing",
    "A model has no image, so the API server refuses the workload that policygen renders for it",
    "Write the image in spec.container.image of the model, or in the rendered workload.",
)
WORKLOAD_NOT_RENDERED = warning(
    "workload-not-rendered",
    "A model has no team, so it has no namespace and no workload is rendered for it",
    "Write the team of the model.",
)
SPREAD_NOT_RENDERED = warning(
    "spread-not-rendered",
    "The availability of a model needs replicas on different nodes or in different zones, but the policy of its pool prevents this",
    "Use a pool with spread: true, or at most as many replicas as the pool has nodes.",
)
POOL_UNTAINTED = note(
    "pool-untainted",
    "A pool has no taint, so pods that need no GPU can use the cpu and memory of its nodes",
    "Taint the nodes, and write the taint into spec.taints of the pool.",
)
POOL_WITHOUT_TEAMS = warning(
    "pool-without-teams",
    "No team has a quota for a pool, so no workload can use the pool",
    "Add the pool to the quotas of a team.",
)
PROFILE_PACKS_WEAKLY = warning(
    "profile-packs-weakly",
    "A kube-scheduler profile packs GPUs, but other scores can outweigh the packing score",
    "Disable scores that spread pods, raise the weight of the GPU resource, or let fewer pods "
    "share a GPU.",
    aliases=("packs-weakly",),
)
QUANTIZED_FULL_TRAINING = warning(
    "quantized-full-training",
    "A model trains all its weights, but its precision is that of quantized weights",
    "Write sizing.training: lora, or a precision of 16 or 32 bits.",
)
QUOTA_CANNOT_TELL_POOLS_APART = refusal(
    "quota-cannot-tell-pools-apart",
    "A team has quotas in two pools with the same GPU resource, and a ResourceQuota cannot count "
    "them separately",
    "Use one team for each pool, or give one pool another resource name.",
)
QUOTA_COUNTS_OTHER_POOLS = warning(
    "quota-counts-other-pools",
    "A ResourceQuota for cpu and memory also counts the pods of the team's other pools",
    "Use one team for each pool, or remove quotaCpuAndMemory.",
)
RENDERS_NOTHING = warning(
    "renders-nothing",
    "The spec renders no object",
    "Write pools and teams.",
)
RESERVED_ABOVE_CAPACITY = refusal(
    "reserved-above-capacity",
    "systemReserved takes all cpu or all memory of a node, so nothing is left for pods",
    "Lower capacity.systemReserved.",
)
SCHEDULER_PROFILES_NOT_LOADED = note(
    "scheduler-profiles-not-loaded",
    "The rendered scheduler profiles have no effect until a scheduler loads them",
    "Render with `--with second-scheduler`, or load the profiles into the main scheduler.",
    aliases=("scheduler-profiles-unread",),
)
SCHEDULE_OVERLAPS_PEAK = warning(
    "schedule-overlaps-peak",
    "A model with a schedule can run in the peak hours of the platform",
    "Write a shorter window or another time into spec.schedule of the model.",
)
SCHEDULED_PRIORITY_HIGH = warning(
    "scheduled-priority-high",
    "A scheduled model that waits in its queue can run in the peak hours, where serving models of its "
    "queue cannot preempt it",
    "Give the scheduled model a lower priority than the serving models of its team.",
)
SERVING_ON_BORROWED_GPUS = warning(
    "serving-on-borrowed-gpus",
    "A serving model needs more GPUs than its team is guaranteed, or deserves on Volcano, so other "
    "teams can reclaim the rest",
    "Raise the team's guarantee, or lower the model's replicas.",
)
SHARE_EXCEEDS_NODE = refusal(
    "share-exceeds-node",
    "A MIG instance of a pool has a larger share of cpu and memory than a node has",
    "Write the number of instances of the whole pool, not of one card or node.",
)
SHARE_WITHOUT_NAMESPACES = warning(
    "share-without-namespaces",
    "A team has a quota, but no namespace in which workloads can use the quota",
    "Write namespaces for the team, or add the pool to the quotas of a child team.",
)
SHARED_MEMORY_EXCEEDED = warning(
    "shared-memory-exceeded",
    "A model needs more GPU memory than one share of a shared GPU",
    "Place the model on another pool, make it smaller, or lower gpu.replicas.",
)
SHARED_QUEUE_POOLS_DIFFER = refusal(
    "shared-queue-pools-differ",
    "Pools of one shared queue differ in their resources or scheduling policy",
    "Give the pools the same resources and scheduling policy, or remove one pool from the shared "
    "queue.",
    aliases=("shared-queue-unlike",),
)
SHARED_QUEUE_WEIGHTS_DIFFER = refusal(
    "shared-queue-weights-differ",
    "A team's weights differ between the pools of one shared queue",
    "Write the same weight for all pools of the queue.",
    aliases=("shared-queue-weights",),
)
SPOT_WITHOUT_FALLBACK = warning(
    "spot-without-fallback",
    "Workloads of a spot pool do not move to the next pool of their queue if the spot nodes disappear",
    "Write schedulingPolicy.topologyAware: true for the pools of the shared queue.",
)
TAINT_NOT_TOLERATED = warning(
    "taint-not-tolerated",
    "A pool has a taint that the pool's own tolerations do not tolerate",
    "Add the toleration, or remove `tolerations`: policygen then tolerates all taints of the pool.",
)
TEAM_WITHOUT_SHARE = warning(
    "team-without-share",
    "A model's team has no quota for the pools that the model fits",
    "Add the pool to the team's quotas.",
)
TOO_MANY_FLAVORS = refusal(
    "too-many-flavors",
    "A shared queue has too many pools, because Kueue limits the flavors of a ClusterQueue",
    "Divide the shared queue into several.",
)
TOO_MANY_RESOURCES = refusal(
    "too-many-resources",
    "A queue would have more resources than Kueue allows",
    "Use fewer MIG profiles in the pool, or make two pools.",
)
TOPOLOGY_BY_NODE = note(
    "topology-by-node",
    "A pool is topologyAware but has no topology.levels, so the node is the only level, and Kueue does not know racks or blocks",
    "Write topology.levels, the widest level first.",
)
TOPOLOGY_GATE_NEEDED = note(
    "topology-gate-needed",
    "This Kueue release needs a feature gate for topology-aware scheduling",
    "Enable the feature gate TopologyAwareScheduling.",
)
TOPOLOGY_PREVENTS_GROWTH = warning(
    "topology-prevents-growth",
    "A pool with topologyAware has an autoscaler that never adds a node",
    "Write autoscaler.provisioningClass, or topologyAware: false.",
)
TREE_NOT_ENFORCED = warning(
    "tree-not-enforced",
    "kube-scheduler cannot enforce the limit of a parent team on its child teams",
    "Schedule the pool with kueue or volcano.",
)
UNKNOWN_MIG_PROFILE = refusal(
    "unknown-mig-profile",
    "The GPU product or the pool has no MIG profile of this name",
    "Write a profile that the message lists.",
)
UNKNOWN_MODEL_SIZE = warning(
    "unknown-model-size",
    "A model's size is not a number of parameters",
    "Write the size as in 7b, 1.5b or 8x7b.",
)
UNKNOWN_NODE_TYPE = refusal(
    "unknown-node-type",
    "The hardware data has no node type of this name",
    "Correct the name, or write capacity.nodeAllocatable.",
)
UNKNOWN_PRODUCT = warning(
    "unknown-product",
    "The hardware data has no GPU product of this name",
    "Correct the name, or replace gpu.product by gpu.memory, gpu.perNode and capacity.nodeAllocatable.",
)
VOLCANO_CONFIG_NEEDED = note(
    "volcano-config-needed",
    "Volcano's default configuration ignores the guarantees and the tree of queues",
    "Render with `--with volcano-config`, and apply the rendered configuration.",
)
VOLCANO_NODE_SELECTOR = note(
    "volcano-node-selector",
    "Volcano also counts the nodes of other pools, unless a node selector limits its scheduler",
    "Start Volcano's scheduler with the --node-selector that the message shows.",
)
VOLCANO_PACK_AND_SPREAD = refusal(
    "volcano-pack-and-spread",
    "Volcano's pools differ in binPack or spread, but Volcano has one setting for all pools",
    "Give all pools of Volcano the same binPack and spread.",
)
VOLCANO_RESOURCE_SHARED = refusal(
    "volcano-resource-shared",
    "Two pools of Volcano have the same resource, and Volcano's queues cannot separate their nodes",
    "Write different values of the label volcano.sh/nodegroup-name in the pools' nodeSelectors.",
)
VOLCANO_TREE_TOO_DEEP = refusal(
    "volcano-tree-too-deep",
    "The queue of a team is nested deeper than Volcano allows",
    "Write a parent nearer to the root in spec.parent of this team.",
)
WAIT_FOR_PODS_READY_NEEDED = note(
    "wait-for-pods-ready-needed",
    "The pods of a gang start together only if Kueue's Configuration sets waitForPodsReady",
    "Set waitForPodsReady. `render --with kueue-config` writes it into the file that spec.kueue.configuration names.",
)

RULES = tuple(rule for rule in vars().values() if isinstance(rule, Rule))
