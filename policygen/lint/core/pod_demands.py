"""What the pods of every workload require of a node, with what their queue adds."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.names import LOCAL_QUEUE, NODE_GROUP
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import VOLCANO_CONFIGURATION
from policygen.kubernetes.core import Requirement, TolerationView
from policygen.kubernetes.kueue_jobs import DEFAULT_QUEUE, labels
from policygen.kubernetes.kueue_settings import first
from policygen.kubernetes.node_filters import Demand, Placed
from policygen.kubernetes.priorities import LOWEST, never_preempts
from policygen.kubernetes.workloads import PodTemplate, Workload
from policygen.lint.core.autoscalers import autoscaler_of
from policygen.lint.core.known_nodes import known_nodes, node_index
from policygen.lint.core.template_demand import own_demand
from policygen.lint.kueue.coverage import PodRequest, pod_requests, refused, request_in
from policygen.lint.kueue.flavor_fits import refusal
from policygen.lint.kueue.flavor_nodes import Flavor
from policygen.lint.kueue.job_quotas import has_enough
from policygen.lint.kueue.queueless import names_a_queue, queueless
from policygen.lint.rule import Facts
from policygen.lint.volcano import queues
from policygen.lint.volcano.configuration import settings

READS = (
    "LocalQueue",
    "ClusterQueue",
    "Cohort",
    "ResourceFlavor",
    "Configuration",
    "HorizontalPodAutoscaler",
    "LimitRange",
    "Namespace",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "PodGroup",
    "PriorityClass",
    "Queue",
    "RuntimeClass",
    "ScaledObject",
    "StorageClass",
    VOLCANO_CONFIGURATION,
)
"""The kinds that `pod_demands` reads, besides nodes and workloads."""
_MOST_WAYS = 64
_ANY = TolerationView(operator="Exists")


class Way(Struct, frozen=True):
    """One way in which a queue lets the pods start."""

    demand: Demand
    flavors: tuple[Flavor, ...] = ()
    """The flavors of Kueue whose labels and tolerations the pods get."""
    scarce: tuple[Flavor, ...] = ()
    """Those of them that can never have enough quota for the workload."""


class PodDemand(Struct, frozen=True, eq=False):
    """The demand of the pods of one template."""

    workload: Workload
    template: PodTemplate
    ways: tuple[Way, ...]
    """At least one; the pods start if any of them leaves a node."""
    pods: int | None
    """The number of pods, or the minimum of an autoscaler if this is more; None: unknown."""
    most: int | None
    """The same number, or the maximum of an autoscaler if this is more."""
    scarce: tuple[Way, ...] = ()
    """Further ways, by flavors that can never have enough quota; empty if all ways are such."""


def pod_demands(facts: Facts) -> tuple[PodDemand, ...]:
    """The demand of each template whose pods a scheduler places; use it with `facts.derive`.

    Without pods of DaemonSets, which need no node, and without templates for which another rule
    reports that their queue has no quota, flavor or node group for them.
    """
    return tuple(_pod_demands(facts))


def demands_by_template(facts: Facts) -> Mapping[int, PodDemand]:
    """The same demands by the identity of their template; use it with `facts.derive`."""
    return {id(it.template): it for it in facts.derive(pod_demands)}


def fits_no_node(facts: Facts, template: PodTemplate) -> bool:
    """Whether no known node takes the pods of a template."""
    index, it = facts.derive(node_index), facts.derive(demands_by_template).get(id(template))
    if it is None or not index.all:
        return False
    return not any(index.takers(way.demand) for way in it.ways)


def _pod_demands(facts: Facts) -> Iterator[PodDemand]:
    requests = _requests(facts)
    implied = all(it.at is None for it in facts.derive(known_nodes).all)
    for workload in facts.cluster.workloads:
        if workload.kind == "DaemonSet":
            continue
        # Other rules report a wrong place of the queue name.
        default = facts.cluster.local_queues.knows(DEFAULT_QUEUE, workload.namespace)
        queued = default or LOCAL_QUEUE in labels(workload) or names_a_queue(workload)
        for template in workload.templates:
            if template.replicas == 0:
                continue
            # A spec has no nodes for pods without accelerators, except those that select its pools.
            if implied and not (
                accelerators.requested(facts.cluster, template) or _selects_pool(facts, template)
            ):
                continue
            own = _own_demand(facts, workload, template)
            found = requests.get(id(template), ())
            if found and all(refused(facts, it) for it in found):
                continue  # `request-not-covered` reports it
            ways: tuple[Way, ...]
            counting = [it for it in found if it.groups and not refused(facts, it)]
            if counting:
                ways = tuple(way for it in counting for way in _by_flavors(facts, it, own))
            elif not found and queued:  # its flavors may add tolerations
                ways = (Way(replace(own, tolerations=(_ANY,))),)
            else:
                ways = tuple(_by_node_groups(facts, workload, template, own))
            enough = tuple(it for it in ways if not it.scarce)
            scarce = tuple(it for it in ways if it.scarce) if enough else ()
            if ways:
                pods, most = _pods(facts, workload, template)
                yield PodDemand(workload, template, enough or ways, pods, most, scarce)


def _own_demand(facts: Facts, workload: Workload, template: PodTemplate) -> Demand:
    """The demand of a pod by its own fields; of pods that evict no others, with the lowest priority."""
    own = own_demand(facts.cluster, workload, template)
    never = never_preempts(facts.cluster, template.spec.priority_class_name)
    return replace(own, priority=LOWEST) if never else own


def _selects_pool(facts: Facts, template: PodTemplate) -> bool:
    """Whether the pods select all labels of a pool of the spec."""
    selected = template.spec.node_selector.items()
    return bool(selected) and any(
        dict(it.pool.node_selector).items() <= selected
        for it in (facts.plan.pools if facts.plan else ())
    )


def _pods(facts: Facts, workload: Workload, template: PodTemplate) -> tuple[int | None, int | None]:
    """The pods of a template, which an autoscaler raises to its minimum, and at most to its maximum."""
    scaled = autoscaler_of(facts.cluster, workload)
    pods = template.replicas
    if scaled is None or pods is None:
        return pods, pods
    least = scaled.pods(pods)
    return least, max(least, scaled.most) if least else least


def _requests(facts: Facts) -> Mapping[int, Sequence[PodRequest]]:
    """By identity of the template: its request in its queue, or in each queue that it should name."""
    found = {id(it.template): [it] for it in pod_requests(facts)}
    rules = first(facts.cluster, facts.target["kueue"])
    reported = "workload-names-no-queue" in facts.run
    for it in facts.derive(queueless) if reported else ():
        for template in it.workload.templates:
            found[id(template)] = [
                request_in(facts.cluster, rules, it.workload, template, queue)
                for queue in it.queues
            ]
    return found


def _by_flavors(facts: Facts, request: PodRequest, own: Demand) -> Iterator[Way]:
    """A way for each choice of flavors; none if Kueue accepts no flavor, or one is unknown."""
    known = facts.cluster.flavors
    choices, scarce = [], set[Flavor]()
    for group in request.groups:
        flavors = [known.get(it.name) for it in group.flavors]
        if None in flavors:
            return
        usable = [it for it in flavors if it and not refusal(it.fields, request.template.spec)]
        scarce.update(it for it in usable if not has_enough(facts, request, group, it.name))
        choices.append(usable)
    for chosen in islice(product(*choices), _MOST_WAYS):
        selector = [*own.selector]
        tolerations = [*own.tolerations]
        for flavor in chosen:
            selector += (_equals((), *it) for it in flavor.fields.node_labels.items())
            tolerations += flavor.fields.tolerations
        added = replace(own, selector=tuple(selector), tolerations=tuple(tolerations))
        yield Way(added, tuple(chosen), tuple(it for it in chosen if it in scarce))


def _by_node_groups(
    facts: Facts, workload: Workload, template: PodTemplate, own: Demand
) -> Iterator[Way]:
    """The way of Volcano's plugin nodegroup: nodes of the groups that the queue names.

    Source: pkg/scheduler/plugins/nodegroup/nodegroup.go of Volcano 1.14.1, predicateFn.
    """
    configuration = settings(facts)
    plugin = configuration.plugin("nodegroup") if configuration else None
    queue = facts.cluster.queues.get(queues.queue_of_pods(facts.cluster, workload, template))
    if plugin is None or queue is None:
        yield Way(own)
        return
    inherits = plugin.on("enableHierarchy")
    affinity = queues.affinity_owner(facts.cluster, queue, inherits=inherits).fields.affinity
    groups = queues.node_groups(affinity)
    nodes = facts.derive(known_nodes).groups(frozenset({NODE_GROUP}))
    if groups:
        if groups.isdisjoint(it.labels.get(NODE_GROUP) for it in nodes):
            return  # `node-group-without-nodes` reports it
        requirement = Requirement(NODE_GROUP, "In", tuple(sorted(groups)))
    elif groups is None and plugin.arguments.get("strict") is False:
        requirement = Requirement(NODE_GROUP, "DoesNotExist")
    else:
        return  # `queue-affinity-missing` reports it
    yield Way(replace(own, selector=(*own.selector, Placed((), requirement))))


def _equals(path: tuple[()], key: str, value: str) -> Placed:
    return Placed(path, Requirement(key, "In", (value,)))
