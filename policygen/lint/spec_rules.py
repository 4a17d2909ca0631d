"""SPEC_RULES: what is reported of a spec though it can be rendered, by name.

The faults themselves are found where their numbers are decided, in `spec/` and `plan/`; a test
compares their names with these.
"""

from collections.abc import Mapping

SPEC_RULES: Mapping[str, str] = {
    "assumption": "A fact that the spec leaves out was taken from the hardware data",
    "class-missing": "A model names a priority that nothing defines",
    "class-without-queue": "A model's scheduling class is no queue's name",
    "fair-sharing-needed": "Weights differ, and only fair sharing in Kueue's Configuration heeds them",
    "foreign-documents": "Documents of other API groups stand among the spec",
    "gang-not-scheduled": "A gang stands in a pool whose scheduler starts pods one by one",
    "gpu-memory-below-concurrency": "A model states less GPU memory than weights and KV cache take",
    "gpu-memory-below-weights": "A model states less GPU memory than its weights take",
    "gpus-kept-back": "Some GPUs of a pool are in no quota",
    "guarantee-not-enforced": "A guarantee stands in a pool whose scheduler guarantees nothing",
    "host-share-exceeded": "A model asks for more cpu or memory than its share of a node",
    "inert-option": "An option was given that changes nothing",
    "inert-setting": "A setting has no effect under the pool's scheduler",
    "limit-of-zero": "A team's limit is 0, so it can run nothing",
    "looks-like-queues": "A ConfigMap looks like gpu-scheduler-config under another name",
    "max-pending-is-silent": "Workloads above maxPending wait without an event",
    "max-pending-summed": "Queues that share a namespace have one bound on what waits",
    "max-pending-without-namespaces": "A team bounds what waits and has no namespace",
    "memory-without-unit": "An amount of memory is below 1Mi, as if its unit were missing",
    "mig-instances-exceed-cards": "More MIG instances are counted than the cards can hold",
    "model-above-limit": "A model wants more GPUs than its team's limit",
    "model-above-quota": "A model wants more cpu or memory than its team's quota",
    "model-fits-no-pool": "A model can be placed nowhere",
    "model-size-unknown": "A model says neither its GPU memory nor a known family and size",
    "namespace-without-quota": "A namespace gets no quota of a pool that needs one",
    "node-type-contradicts-product": "A pool's node type has another GPU than the pool says",
    "node-type-not-offered": "A model names a node type that no pool offers",
    "only-preemptible-pools": "A model that does not tolerate preemption fits preemptible pools only",
    "overcommit-is-not-sharing": "overcommitRatio bounds limits and shares no GPU",
    "packing-margin": "How far the packing profile is from being outvoted",
    "packs-weakly": "The packing profile can be outvoted on nodes with many units",
    "per-node-contradicts-node-type": "A pool's nodes have another number of GPUs than their type",
    "pods-must-carry": "What the pods of a model must carry",
    "pool-untainted": "A pool's nodes take any pod",
    "pool-without-teams": "No team has a share of a pool",
    "queues-without-pools": "Queues are given, and no pool to share",
    "renders-nothing": "A document says nothing that can be rendered",
    "scheduler-profiles-unread": "No scheduler reads the profiles that are rendered",
    "serving-on-borrowed-gpus": "A serving model runs on GPUs that its team may lose",
    "share-without-namespaces": "A team has a share and no namespace to use it in",
    "shared-memory-exceeded": "A model wants more memory than a share of a GPU has",
    "taint-not-tolerated": "A pool's tolerations leave out a taint of its own",
    "team-without-share": "A model's team has no share of a pool that the model fits",
    "topology-by-node": "A topology without levels knows nodes only",
    "topology-gate-needed": "Topology-aware scheduling needs a feature gate in this release",
    "tree-not-enforced": "A tree of teams stands in a pool whose scheduler knows no tree",
    "unknown-model": "A model family is not in the data",
    "unknown-model-size": "A model size is not in the data",
    "unknown-product": "A GPU product is not in the data",
    "volcano-config-needed": "Volcano's scheduler configuration must say what queues mean",
    "volcano-node-selector": "Volcano must be kept off the nodes of other pools",
    "wait-for-pods-ready-needed": "Gangs need waitForPodsReady in Kueue's Configuration",
    "waits-for-pods-anyway": "Kueue waits for the pods of a pool without gang scheduling too",
}
"""Names and faults, in the order of the names."""

NOTES: frozenset[str] = frozenset(
    {
        "assumption",
        "fair-sharing-needed",
        "foreign-documents",
        "gpus-kept-back",
        "host-share-exceeded",
        "kinds-not-judged",
        "max-pending-is-silent",
        "no-object",
        "overcommit-is-not-sharing",
        "packing-margin",
        "pods-must-carry",
        "pool-untainted",
        "scheduler-profiles-unread",
        "topology-by-node",
        "topology-gate-needed",
        "volcano-config-needed",
        "volcano-node-selector",
        "wait-for-pods-ready-needed",
        "waits-for-pods-anyway",
    }
)
"""Which of these, and of what is said of a run, are facts worth knowing and no fault."""
