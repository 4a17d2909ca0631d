"""What each field of the controllers' files does, which policygen renders inside ConfigMaps."""

from collections.abc import Mapping

from policygen.explain.meaning import Field, FieldTable
from policygen.plan import kueue_configuration, scheduler, volcano_configuration

_KUBERNETES = "https://kubernetes.io/docs/"
_SCHEDULER = f"{_KUBERNETES}reference/config-api/kube-scheduler-config.v1/"
_KUEUE = "https://kueue.sigs.k8s.io/docs/"
_VOLCANO = "https://volcano.sh/docs/Scheduler/Overview"
_LEASE = "a second scheduler must not use the lease of the main one"
_PACKS = "other scores must not work against the profile (docs/semantics.md)"
_VERSION = Field(
    "The group and version in which the file is written; the controller reads no other."
)
_KIND = Field("The type of the file.", always="the controller expects it")

_NODEORDER = "A weight of the plugin nodeorder; 0 turns this score off. "
_SCORE_SWITCH = "policygen turns off each score that works against packing or spreading"
_RECLAIM = "the plugin gang must not protect gangs that use borrowed resources"

_ARGS = "profiles[].pluginConfig[].args"
_PLUGIN = "tiers[].plugins[]"

FILES: Mapping[str, FieldTable] = {
    scheduler.CONFIG_KEY: FieldTable(
        _SCHEDULER,
        {
            "apiVersion": _VERSION,
            "kind": _KIND,
            "leaderElection.leaderElect": Field(
                "Whether several schedulers elect one that is active.", always=_LEASE
            ),
            "leaderElection.resourceLock": Field(
                "The kind of object by which they elect.", always="kube-scheduler supports no other"
            ),
            "leaderElection.resourceName": Field("The name of the lease by which they elect."),
            "leaderElection.resourceNamespace": Field("The namespace of this lease."),
            "profiles[].schedulerName": Field(
                "The name of the profile. Pods with this schedulerName are scheduled by it."
            ),
            "profiles[].percentageOfNodesToScore": Field(
                "The share of the nodes that fit which are scored, in percent.",
                always="the fullest node is found only if all nodes are scored",
            ),
            "profiles[].plugins.score.enabled[].name": Field(
                "A plugin that gives points to nodes.",
                always="NodeResourcesFit scores how full a node is",
            ),
            "profiles[].plugins.score.enabled[].weight": Field(
                "The factor of the points of this plugin in the sum of all plugins.",
                always="its points must exceed those of the preferences of pods",
            ),
            "profiles[].plugins.score.disabled[].name": Field(
                "A plugin that gives no points in this profile.", always=_PACKS
            ),
            "profiles[].pluginConfig[].name": Field(
                "The plugin whose settings follow.",
                always="only the settings of these plugins differ from the defaults",
            ),
            f"{_ARGS}.apiVersion": _VERSION,
            f"{_ARGS}.kind": Field(
                "The type of the settings.", always="each plugin has its own type"
            ),
            f"{_ARGS}.scoringStrategy.type": Field(
                "How nodes are scored: MostAllocated prefers full nodes, LeastAllocated empty ones."
            ),
            f"{_ARGS}.scoringStrategy.resources[].name": Field(
                "A resource whose use counts in the score."
            ),
            f"{_ARGS}.scoringStrategy.resources[].weight": Field(
                "The factor of this resource in the mean of all resources, 1 to 100."
            ),
            f"{_ARGS}.defaultingType": Field(
                "Where the default spreading of pods comes from; List: from defaultConstraints.",
                always=_PACKS,
            ),
            f"{_ARGS}.defaultConstraints": Field(
                "The spreading of pods without constraints; an empty list means no spreading.",
                always=_PACKS,
            ),
        },
    ),
    volcano_configuration.CONFIG_KEY: FieldTable(
        _VOLCANO,
        {
            "actions": Field(
                "What Volcano's scheduler does in each session, in this order. preempt and reclaim "
                "evict pods.",
                "https://volcano.sh/docs/Scheduler/Actions",
            ),
            f"{_PLUGIN}.name": Field(
                "A plugin that takes part in decisions. The first tier whose plugins select victims "
                "decides about evictions.",
                always="queues and packing need these plugins in these tiers (docs/semantics.md)",
            ),
            f"{_PLUGIN}.enableHierarchy": Field(
                "Whether the plugin capacity uses the tree of queues.",
                always="the teams form a tree of queues",
            ),
            f"{_PLUGIN}.enablePreemptable": Field(
                "Whether the plugin takes part in the choice of pods to preempt."
            ),
            f"{_PLUGIN}.enableReclaimable": Field(
                "Whether the plugin takes part in the choice of pods to reclaim from."
            ),
            f"{_PLUGIN}.enableJobStarving": Field(
                "Whether the plugin decides which jobs still lack resources."
            ),
            f"{_PLUGIN}.arguments.strict": Field(
                "Whether the plugin nodegroup keeps queues without an affinity away from all nodes.",
                always="queues of pools without a node group must still find nodes",
            ),
            f'{_PLUGIN}.arguments["leastrequested.weight"]': Field(
                f"{_NODEORDER}It prefers empty nodes."
            ),
            f'{_PLUGIN}.arguments["balancedresource.weight"]': Field(
                f"{_NODEORDER}It prefers nodes whose cpu and memory are used equally.",
                always=_SCORE_SWITCH,
            ),
            f'{_PLUGIN}.arguments["podtopologyspread.weight"]': Field(
                f"{_NODEORDER}It spreads the pods of one workload.", always=_SCORE_SWITCH
            ),
            f'{_PLUGIN}.arguments["imagelocality.weight"]': Field(
                f"{_NODEORDER}It prefers nodes that have the image.", always=_SCORE_SWITCH
            ),
            f'{_PLUGIN}.arguments["binpack.weight"]': Field(
                "The factor of the points of binpack in the sum of all plugins.",
                always="its points must exceed those of the preferences of pods",
            ),
            f'{_PLUGIN}.arguments["binpack.cpu"]': Field(
                "The factor of cpu in the points of binpack.", always="it only breaks ties"
            ),
            f'{_PLUGIN}.arguments["binpack.memory"]': Field(
                "The factor of memory in the points of binpack.", always="it only breaks ties"
            ),
            f'{_PLUGIN}.arguments["binpack.resources"]': Field(
                "The other resources that binpack counts."
            ),
            f"{_PLUGIN}.arguments.*": Field(
                "The factor of a resource in the points of the plugin."
            ),
            f"{_PLUGIN}.arguments.resourceStrategyFitWeight": Field(
                "The factor of the points of resource-strategy-fit in the sum of all plugins.",
                always="its points must exceed those of the preferences of pods",
            ),
            f"{_PLUGIN}.arguments.resources.*": Field(
                "How the use of a resource is scored, and its factor in the mean of all resources."
            ),
        },
    ),
    kueue_configuration.CONFIG_KEY: FieldTable(
        f"{_KUEUE}reference/kueue-config.v1beta2/",
        {
            "apiVersion": _VERSION,
            "kind": _KIND,
            "waitForPodsReady.enable": Field("Turns the setting on."),
            "waitForPodsReady.timeout": Field(
                "How long the pods of an admitted workload may take to be ready. Then Kueue evicts "
                "the workload."
            ),
            "waitForPodsReady.blockAdmission": Field(
                "Whether Kueue admits no other workload before the pods of the last one are ready."
            ),
            "waitForPodsReady.requeuingStrategy.*": Field(
                "When and at which position an evicted workload is queued again."
            ),
            "waitForPodsReady.*": Field(
                "How Kueue treats an admitted workload whose pods do not start."
            ),
            "fairSharing.enable": Field("Turns the setting on."),
            "fairSharing.preemptionStrategies[]": Field(
                "When a workload may preempt one of a queue with a larger share; they are tried in "
                "this order.",
                f"{_KUEUE}concepts/fair_sharing/",
            ),
            "fairSharing.*": Field(
                "How Kueue divides idle quota by the weights of queues.",
                f"{_KUEUE}concepts/fair_sharing/",
            ),
            "integrations.frameworks[]": Field(
                "A kind of workload that Kueue queues. It ignores the queue label on other kinds."
            ),
            "integrations.*": Field("Which kinds of workloads Kueue queues."),
            "managedJobsNamespaceSelector.matchExpressions[].*": Field(
                "The namespaces in which Kueue manages workloads."
            ),
            "managedJobsNamespaceSelector.*": Field(
                "The namespaces in which Kueue manages workloads."
            ),
            "managedJobsNamespaceSelector.matchExpressions[].values[]": Field(
                "A namespace in which Kueue manages no workload."
            ),
            "health.*": Field("The address of health checks of Kueue's manager."),
            "metrics.*": Field("The address of Kueue's metrics, and what they contain."),
            "webhook.*": Field("The port of Kueue's webhooks."),
            "leaderElection.*": Field("By which lease managers elect the one that is active."),
            "controller.*": Field("How many objects of a kind the manager handles at one time."),
            "clientConnection.*": Field("How many requests a second the manager sends at most."),
            "internalCertManagement.*": Field("Whether Kueue makes its own certificates."),
            "namespace": Field("The namespace of Kueue's manager."),
            "manageJobsWithoutQueueName": Field(
                "Whether Kueue also suspends workloads that name no queue."
            ),
        },
    ),
}
"""By the name of the file."""
