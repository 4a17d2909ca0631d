"""The nodes have room for only some of a workload's pods, which must all run at once."""

from collections.abc import Iterator, Sequence

from policygen.core.finding import At, Exceeded
from policygen.core.names import HOSTNAME
from policygen.core.quoting import counted, listed, some
from policygen.kubernetes.node_domains import Room
from policygen.kubernetes.node_groups import HOST_PORT
from policygen.kubernetes.workloads import KINDS, replicas_at
from policygen.lint.core.daemon_pods import beside
from policygen.lint.core.excess_words import advice, exceeded, fault
from policygen.lint.core.gang_domains import ScatteredGang, scattered_gangs
from policygen.lint.core.known_nodes import known_nodes
from policygen.lint.core.model_findings import are_reported
from policygen.lint.core.node_rooms import exceeding
from policygen.lint.core.node_sums import gang_sums
from policygen.lint.core.pod_demands import READS, PodDemand
from policygen.lint.core.queue_rooms import rooms_in_queues
from policygen.lint.core.rollouts import rollout
from policygen.lint.core.rules import replicas_exceed_queue
from policygen.lint.other_rules import places
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_Short = tuple[PodDemand, Room, At]
"""Pods without room, and the place of the constraint."""


def check(facts: Facts) -> Hits:
    """The other pods stay Pending. Nodes count as empty.

    Source: pkg/scheduler/framework/plugins/{noderesources,interpodaffinity,podtopologyspread} of
    Kubernetes 1.36.3.
    """
    by_key: dict[str, list[_Short]] = {}
    for it, room, at in _short(facts):
        if room.path and _lacks_values(room):
            by_key.setdefault(room.key, []).append((it, room, at))
        else:
            yield _hit(facts, it, room, at)
    for found in by_key.values():
        workloads = {it.workload.at for it, *_ in found}
        domains = {room.domains for _, room, _ in found}
        if len(workloads) > 1 and len(domains) == 1:
            yield _of_key(found)
        else:
            yield from (_hit(facts, *it) for it in found)
    for gang in facts.derive(scattered_gangs):
        yield Hit(RULE, _scattered(gang), gang.first.template.at.to("spec", *gang.path))
    scattered = {it.first.workload.at for it in facts.derive(scattered_gangs)}
    for excess in facts.derive(gang_sums):
        if excess.members[0].workload.at in scattered:
            continue
        root = excess.members[0].workload.at
        yield Hit(
            RULE,
            f"{fault(excess)}; {advice(excess)}",
            root / "spec",
            exceeds=tuple(exceeded(excess, root)),
        )


def _short(facts: Facts) -> Iterator[_Short]:
    """The pods that this rule reports, with the place of each."""
    in_queue = rooms_in_queues(facts, "replicas-exceed-queue")
    with_nodes = set(places(facts, (replicas_exceed_queue.RULE,)))
    for it, room in facts.derive(exceeding).items():
        if not room.path and replicas_at(it.workload, it.template) in with_nodes:
            continue  # replicas-exceed-queue proposes what the nodes have room for
        if in_queue.get(id(it.template), room.pods + 1) <= room.pods:
            continue  # replicas-exceed-queue reports it
        if are_reported(facts, (it.workload,)):
            continue
        constraint = it.template.at.to("spec", *room.path)
        yield it, room, constraint if room.path else replicas_at(it.workload, it.template)


def _hit(facts: Facts, it: PodDemand, room: Room, at: At) -> Hit:
    nodes = facts.derive(known_nodes).all
    first = nodes[0].at
    return Hit(
        RULE,
        _message(facts, it, room, beside(nodes, room.short)),
        at,
        (first,) if first else (),
        exceeds=tuple(_exceeded(it, room)),
    )


def _lacks_values(room: Room) -> bool:
    """Whether nodes with further values of a label would take all pods."""
    anti_affinity = room.path[0] == "affinity" and room.path[1] != "podAffinity"
    return room.key != HOSTNAME and (anti_affinity or (room.fewest > 0 and not room.closed))


def _of_key(found: Sequence[_Short]) -> Hit:
    """One hit for several workloads that need more values of a label: the labels of the nodes may be wrong."""
    names = [f"{room.pods} of the {it.pods} pods of {it.workload}" for it, room, _ in found]
    (_, room, first), *others = found
    return Hit(
        RULE,
        f"only {some(names, 'other workload')} can run, because their anti-affinity or minDomains needs more values "
        f"of {room.key}, and nodes that can take them have {counted(room.domains, 'value')}; correct the labels of the "
        "nodes, or relax the constraints",
        first,
        tuple(at for _, _, at in others),
    )


def _scattered(it: ScatteredGang) -> str:
    host = it.key == HOSTNAME
    different = "nodes" if host else f"values of {it.key}"
    room = "node can" if it.domains == 1 else "nodes can"
    have = (
        f"only {it.domains} {room} take them"
        if host
        else f"nodes that can take them have {counted(it.domains, 'value')}"
    )
    return (
        f"only {it.domains} of the {it.pods} pods of {it.first.workload} that must start together can run, because "
        f"anti-affinity between its templates keeps them on different {different}, and {have}; lower the number of "
        "pods, or relax the constraint"
    )


def _exceeded(it: PodDemand, room: Room) -> Iterator[Exceeded]:
    """The amount of which the nodes have too little, if it is a resource."""
    each = it.template.spec.requests.get(room.short)
    if each and not room.path:
        limit = f"the nodes have room for only {room.pods} of the {it.pods} pods"
        yield Exceeded(it.workload.at, room.short, room.pods * each, limit)


def _message(facts: Facts, it: PodDemand, room: Room, used: str) -> str:
    some = f"{room.pods} of the {it.pods} pods of {it.workload}"
    if it.pods != it.template.replicas:
        some += " (the minimum of its autoscaler)"
    key = room.key
    update = rollout(facts.cluster, it.workload, room.pods)
    lower = "lower the number of pods"
    if update and not update.unavailable:  # rollout-exceeds-nodes would report the lower number
        lower += " and write maxUnavailable: 1 and maxSurge: 0"
    change = f"{lower}, or relax the constraint"
    if room.short.startswith(HOST_PORT):
        return (
            f"the nodes have room for only {some}, because each of {counted(room.nodes, 'node')} has {room.short} "
            f"once{used}; {lower}, or remove hostPort"
        )
    if not room.path:
        nodes = counted(room.nodes, "node")
        why = (
            f"{room.short} runs out on {nodes}{used}"
            if room.short
            else f"only {nodes} can take them"
        )
        if room.short == "pods":
            why = f"maxPods of the kubelet is reached on {nodes}"
        return (
            f"the nodes have room for only {some}, because {why}; "
            "lower the number or the requests of the pods, or add nodes"
        )
    if room.path[:2] == ("affinity", "podAffinity"):
        return (
            f"only {some} can run, because their affinity to themselves keeps them in one value of {key}, "
            f"and no value has room for more; {change}"
        )
    if room.path[0] == "affinity":
        return (
            f"only {some} can run, because their anti-affinity allows one pod for each value of {key}, and "
            f"nodes that can take them have {counted(room.domains, 'value')}; {change}"
        )
    if room.fewest or room.closed:
        return f"only {some} can run, because {_of_spread(it, room)}"
    return f"only {some} can run, because the smallest value of {key} is full; {change}"


def _of_spread(it: PodDemand, room: Room) -> str:
    """Why a spread constraint lets few pods run, and all that must change."""
    key = room.key
    host = key == HOSTNAME
    facts, remedies = [], []
    if room.fewest:
        facts.append(
            f"minDomains is {room.fewest}, but "
            + (
                f"only {counted(room.domains, 'node')} can take them"
                if host
                else f"their nodes have only {counted(room.domains, 'value')} of {key}"
            )
        )
        remedies.append(f"write minDomains: {room.domains}")
    if room.closed:
        values = counted(room.closed, "node" if host else "value")
        of = " that" if host else f" of {key} whose nodes"
        facts.append(f"the spread constraint also counts {values}{of} cannot take them")
        remedies.append(
            f"write {room.only} in nodeSelector"
            if room.only
            else "select only nodes that can take them"
        )
    if room.relaxed < (it.pods or 0):
        remedies.append(f"run at most {room.relaxed} pods")
    return f"{', and '.join(facts)}; {listed(remedies, 'and')}"


RULE = ObjectRule(
    "replicas-exceed-nodes",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Lower the number of pods or their requests, relax the constraint, or add nodes.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.KNOWN_NODES}),
    reads=tuple(dict.fromkeys((*READS, *replicas_exceed_queue.RULE.reads))),
)
