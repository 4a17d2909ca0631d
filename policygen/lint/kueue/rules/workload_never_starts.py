"""A workload does not start even if no other workload runs."""

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from policygen.core.amounts import readable, with_gpus
from policygen.core.finding import At
from policygen.core.quoting import as_yaml, bare, counted, listed, some
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.rules import (
    pod_affinity_matches_no_pod,
    pod_field_refused,
    pod_fits_no_node,
    replicas_exceed_nodes,
    replicas_exceed_queue,
)
from policygen.lint.kueue.flavor_nodes import nodes
from policygen.lint.kueue.never_started import NeverStarted, never_started
from policygen.lint.kueue.quotas import flavors
from policygen.lint.kueue.rules import (
    flavor_labels_collide,
    flavor_matches_no_node,
    flavor_missing,
    flavor_without_labels_first,
    memory_quota_without_unit,
    no_quota_anywhere,
    node_taint_not_tolerated,
    node_without_topology_level,
    request_not_covered,
    selector_ignored_by_flavor,
    topology_domain_too_small,
    topology_level_unknown,
    topology_missing,
    topology_request_refused,
    topology_request_without_topology,
    workload_exceeds_quota,
    workload_fits_no_flavor,
)
from policygen.lint.kueue.rules.workload_fits_no_flavor import tolerated
from policygen.lint.kueue.simulated import READS
from policygen.lint.kueue.strict_queues import blocking
from policygen.lint.other_rules import places
from policygen.lint.rule import (
    Facts,
    Family,
    Hit,
    Hits,
    Need,
    ObjectRule,
    Severity,
)

if TYPE_CHECKING:  # inputs without queued jobs need no simulation
    from policygen.simulate.why.causes import Cause, FlavorObstacle, NeverPlaced

_OTHERS = (
    flavor_labels_collide.RULE,
    flavor_matches_no_node.RULE,
    flavor_missing.RULE,
    flavor_without_labels_first.RULE,
    memory_quota_without_unit.RULE,
    no_quota_anywhere.RULE,
    node_taint_not_tolerated.RULE,
    pod_affinity_matches_no_pod.RULE,
    pod_field_refused.RULE,
    pod_fits_no_node.RULE,
    replicas_exceed_nodes.RULE,
    replicas_exceed_queue.RULE,
    request_not_covered.RULE,
    selector_ignored_by_flavor.RULE,
    topology_domain_too_small.RULE,
    topology_level_unknown.RULE,
    topology_missing.RULE,
    topology_request_refused.RULE,
    topology_request_without_topology.RULE,
    workload_exceeds_quota.RULE,
    workload_fits_no_flavor.RULE,
)
"""The rules that report a simple cause of such a wait."""


def check(facts: Facts) -> Hits:
    """Kueue finds no quota or topology domain for it, or admits it into a flavor whose nodes cannot run it.

    Found by a simulation of Kueue: see lint/kueue/never_started.py. If another rule reports the cause at
    the workload, its queue or its flavors, this one does not.
    Source: pkg/scheduler/flavorassigner/flavorassigner.go of Kueue 0.19.2.
    """
    found = facts.derive(never_started)
    with_topology = {it.name for it in facts.cluster.flavors if it.fields.topology_name}
    reported = facts.derive(_reported) if found else frozenset()
    found = [it for it in found if reported.isdisjoint(_places(facts, it))]
    by_flavor: dict[str, list[NeverStarted]] = {}
    for it in found:
        if name := _untolerated(facts, it):
            by_flavor.setdefault(name, []).append(it)
    for it in found:
        name = _untolerated(facts, it)
        equal = by_flavor.get(name, [])
        if len(equal) > 1:
            if it is equal[0]:
                yield _of_flavor(facts, name, equal, with_topology)
        elif hit := _of_selector(facts, it):
            yield hit
        elif words := "; ".join(_words(it, with_topology)):
            yield Hit(RULE, words, it.owner.at / "spec")


def _of_selector(facts: Facts, it: NeverStarted) -> Hit | None:
    """A node selector by a label of nodes that no flavor of the queue has, so that Kueue does not compare it."""
    from policygen.simulate.why.causes import CauseKind  # noqa: PLC0415 - most inputs need no simulation

    if it.cause.kind is not CauseKind.NO_NODES:
        return None
    known, found = facts.cluster.flavors, facts.cluster.derive(nodes)
    own = [flavor for _, used in flavors(it.queue) if (flavor := known.get(used.name)) is not None]
    compared = {key for flavor in own for key in flavor.fields.node_labels}
    templates = (
        each for job in facts.cluster.workloads if job.at == it.owner.at for each in job.templates
    )
    for template in templates:
        for key, value in template.spec.node_selector.items():
            selected = {
                flavor.name: {
                    node.object.labels.get(key) == value for node in found[flavor.name].nodes
                }
                for flavor in own
            }
            lack = not any(True in selected.get(name, ()) for name in it.cause.names)
            having = [flavor for flavor in own if selected[flavor.name] == {True}]
            if key in compared or not lack or len(having) != 1:
                continue
            labels = [
                f"{name}: {as_yaml(text)}" for name, text in having[0].fields.node_labels.items()
            ]
            return Hit(
                RULE,
                f"Kueue admits {it.owner} into flavor {listed([*it.cause.names], 'and')}, but its nodes do not have "
                f"{key}={bare(value)}, which the pods select and no flavor of {it.queue} has as a label, so pods stay "
                f"Pending; add {listed(labels, 'and')} of flavor {having[0].name} to the nodeSelector",
                template.at.to("spec", "nodeSelector", key),
            )
    return None


def _untolerated(facts: Facts, it: NeverStarted) -> str:
    """The first flavor that lacks a toleration which no workload has either; or an empty text."""
    from policygen.simulate.why.causes import ObstacleKind  # noqa: PLC0415 - most inputs need no simulation

    taints = (each.flavor for each in it.cause.obstacles if each.kind is ObstacleKind.TAINT)
    return next((name for name in taints if name not in facts.derive(tolerated)), "")


def _of_flavor(
    facts: Facts, name: str, found: Sequence[NeverStarted], with_topology: Collection[str]
) -> Hit:
    """One hit for all workloads that only lack the toleration of one flavor."""
    flavor = facts.cluster.flavors.get(name)
    owners = [str(it.owner) for it in found]
    first = found[0]
    return Hit(
        RULE,
        f"Kueue never admits {some(owners, 'other workload')}, because no flavor of {first.queue} takes their pods "
        f"({', '.join(_refusals(first.cause, with_topology))}), and no workload tolerates it; add the toleration to "
        f"ResourceFlavor {name}, or to the pods",
        flavor.at.to("spec", "nodeTaints") if flavor else first.owner.at / "spec",
        tuple(it.owner.at / "spec" for it in found),
    )


def _places(facts: Facts, it: NeverStarted) -> Iterator[At]:
    """The objects at which another rule can report the cause."""
    from policygen.simulate.why.causes import CauseKind, ObstacleKind  # noqa: PLC0415 - most inputs need no simulation

    yield it.owner.at
    yield it.queue.at
    obstacles, of_flavors = it.cause.obstacles, (ObstacleKind.TAINT, ObstacleKind.TOPOLOGY_REFUSED)
    names = [
        *it.cause.names,
        *(each.flavor for each in obstacles if each.kind in of_flavors),
    ]
    if it.cause.kind is CauseKind.TOPOLOGY_TOO_SMALL:
        names += (obstacle.flavor for obstacle in obstacles)
    for name in names:
        flavor = facts.cluster.flavors.get(name)
        if flavor is not None:
            yield flavor.at


def _words(it: NeverStarted, with_topology: Collection[str]) -> Iterator[str]:
    """What keeps it from starting, and the remedy; nothing for causes that have rules of their own."""
    from policygen.simulate.why.causes import CauseKind  # noqa: PLC0415 - most inputs need no simulation

    cause = it.cause
    match cause.kind:
        case CauseKind.ABOVE_MAXIMUM | CauseKind.FLAVORS_REFUSE:
            yield (
                f"Kueue never admits {it.owner}, because no flavor of {it.queue} takes its pods "
                f"({', '.join(_refusals(cause, with_topology))}){blocking(it.queue)}"
            )
            yield "let the pods match a flavor with enough quota, or lower the requests"
        case CauseKind.TOPOLOGY_TOO_SMALL:
            yield (
                f"Kueue never admits {it.owner}, because no domain of the topology of flavor "
                f"{cause.obstacles[0].flavor} has room for its pods, even without other pods{blocking(it.queue)}"
            )
            yield "request a higher level of the topology, or fewer or smaller pods"
        case CauseKind.NO_NODES if cause.never is not None:
            flavors = listed([*cause.names], "and")
            yield (
                f"Kueue admits {it.owner} into flavor {flavors}, but its nodes have "
                f"{_room(cause.never)}, so pods stay Pending"
            )
            yield "select a flavor whose nodes have room with a nodeSelector, or list such a flavor first"


def _refusals(cause: "Cause", with_topology: Collection[str]) -> list[str]:
    """Why each flavor does not take the pod set that no flavor takes."""
    from policygen.simulate.why.causes import ObstacleKind  # noqa: PLC0415 - as above

    by_set: dict[str, dict[str, FlavorObstacle]] = {}
    for it in cause.obstacles:
        by_set.setdefault(it.pod_set, {}).setdefault(it.flavor, it)
    found = []
    for flavor, it in sorted(max(by_set.values(), key=len).items()):
        match it.kind:
            case ObstacleKind.TAINT:
                found.append(f"they do not tolerate a taint of flavor {flavor}")
            case ObstacleKind.AFFINITY:
                found.append(f"flavor {flavor} does not match their node selector or affinity")
            case ObstacleKind.TOPOLOGY_REFUSED:
                found.append(
                    f"flavor {flavor} has a topology, which they do not request"
                    if flavor in with_topology
                    else f"flavor {flavor} does not have the topology that they request"
                )
            case _:
                asked, most = _units(it.resource, it.asked), _units(it.resource, it.most)
                found.append(
                    f"flavor {flavor} has at most {readable(it.resource, most, asked)} of the "
                    f"{with_gpus(it.resource, asked)} that they need"
                )
    return found


def _room(never: "NeverPlaced") -> str:
    near = never.nearest
    if near is not None:
        asked, free = _units(near.resource, near.asked), _units(near.resource, near.free)
        return f"at most {readable(near.resource, free)} of the {with_gpus(near.resource, asked)} that a pod requests"
    return f"room for only {never.placed} of {counted(never.pods, 'pod')}"


def _units(resource: str, amount: int) -> Fraction:
    """An amount in Kueue's unit as a quantity."""
    return Fraction(amount, 1000) if resource == "cpu" else Fraction(amount)


def _reported(facts: Facts) -> frozenset[At]:
    """The objects about which another rule reports a cause; use it with `facts.derive`."""
    roots = {(it.at.document, it.at.path): it.at for it in facts.cluster.objects}
    found = (
        roots.get((it.document, it.path[:length]))
        for it in (*places(facts, _OTHERS), *_without_levels(facts))
        for length in range(len(it.path) + 1)
    )
    return frozenset(it for it in found if it is not None)


def _without_levels(facts: Facts) -> Iterator[At]:
    """The flavors some of whose nodes have no domain of their topology."""
    rule = node_without_topology_level.RULE
    if rule.name in facts.run and rule.needs <= facts.given:
        for hit in rule.check(facts):
            yield from hit.related


RULE = ObjectRule(
    "workload-never-starts",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Let the pods match a flavor that has enough quota, and nodes with room for them.",
    judges=(*KINDS, "ResourceFlavor", "Workload"),
    check=check,
    needs=frozenset({Need.QUEUES}),
    reads=tuple(
        dict.fromkeys(
            kind
            for kinds in (
                READS,
                *(it.reads for it in _OTHERS),
                ("ClusterQueue", "Node", "ProvisioningRequestConfig"),
            )
            for kind in kinds
        )
    ),
    since={"kueue": (0, 19)},
)
