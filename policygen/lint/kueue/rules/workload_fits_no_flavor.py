"""A workload's node selector or tolerations fit no flavor of its queue."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from msgspec.structs import replace

from policygen.core.quoting import listed, some
from policygen.kubernetes.flavor_match import required_terms, untolerated
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.coverage import (
    READS,
    PodRequest,
    namespace_refused,
    pod_requests,
    refused,
)
from policygen.lint.kueue.flavor_fits import OF_FLAVOR, FlavorRefusal, refusal
from policygen.lint.kueue.flavor_nodes import Flavor, nodes
from policygen.lint.kueue.strict_queues import blocking
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_TOLERATIONS: Final = "tolerations"
_MOST_ADVICE = 3
"""The number of flavors for which a message names the toleration."""


class _Misfit(NamedTuple):
    """A pod that fits no flavor of a resource group."""

    request: PodRequest
    flavors: Sequence[Flavor]
    reasons: Sequence[FlavorRefusal]

    @property
    def skipped(self) -> str:
        """Why Kueue skips each flavor."""
        return _skipped(zip(self.flavors, self.reasons, strict=True))

    @property
    def tainted(self) -> Sequence[tuple[Flavor, FlavorRefusal]]:
        """The flavors that only lack a toleration."""
        spec = self.request.template.spec
        return [
            (flavor, it)
            for flavor, it in zip(self.flavors, self.reasons, strict=True)
            if it.path[0] == _TOLERATIONS
            and not refusal(replace(flavor.fields, node_taints=()), spec)
        ]


def _skipped(flavors: Iterable[tuple[Flavor, FlavorRefusal]]) -> str:
    return ", ".join(f"{flavor.name}: {it.reason}" for flavor, it in flavors)


def check(facts: Facts) -> Hits:
    """Kueue skips every flavor (NoMatchingFlavor): a toleration is missing or a label differs.

    If no workload tolerates the taints of a flavor, the fault is that of the flavor.
    Source: pkg/scheduler/flavorassigner/flavorassigner.go, checkFlavorForPodSets; issue 3158.
    """
    misfits = list(_misfits(facts))
    by_taints: dict[str, list[_Misfit]] = {}
    for it in misfits:
        if it.tainted:
            by_taints.setdefault(_skipped(it.tainted), []).append(it)
    accepted = facts.derive(tolerated) if by_taints else ()
    for it in misfits:
        equal = by_taints.get(_skipped(it.tainted), [])
        several = len({each.request.workload.at for each in equal}) > 1
        of_flavor = len(it.tainted) == 1 and it.tainted[0][1].where == OF_FLAVOR
        if not (several or of_flavor) or any(flavor.name in accepted for flavor, _ in it.tainted):
            yield _of_workload(it)
        elif it is equal[0]:
            yield _of_flavors(equal)


def _misfits(facts: Facts) -> Iterator[_Misfit]:
    known = facts.cluster.flavors
    not_covered = "request-not-covered" in facts.run
    for request in pod_requests(facts):
        if (not_covered and refused(facts, request)) or namespace_refused(facts, request):
            continue  # its queue is wrong, or its resource
        for group in request.groups:
            flavors = [it for each in group.flavors if (it := known.get(each.name))]
            reasons = [refusal(it.fields, request.template.spec) for it in flavors]
            found = [it for it in reasons if it]
            if not found or len(found) < len(group.flavors):
                continue
            if not _flavors_are_wrong(facts, request, flavors):
                yield _Misfit(request, flavors, found)
                break


def _of_workload(it: _Misfit) -> Hit:
    first = it.reasons[0]
    advice, path = f"{first.advice}, or change the flavor", first.path
    if any(reason != first for reason in it.reasons):
        advice = "change the node selector, affinity or tolerations"
        path = first.path if all(reason.path == first.path for reason in it.reasons) else ()
        near = sorted(it.tainted, key=lambda tainted: not tainted[1].where)
        if near:
            advice, path = _for_flavors(near), near[0][1].path
    request = it.request
    return Hit(
        RULE,
        f"{request.workload} fits no flavor of {request.queue} ({it.skipped}){blocking(request.queue)}; {advice}",
        request.template.at.to("spec", *path),
        related=tuple(flavor.at for flavor in it.flavors),
    )


def _for_flavors(tainted: Sequence[tuple[Flavor, FlavorRefusal]]) -> str:
    """What to change for each of the flavors that only lack a toleration; one of the changes is enough."""
    names: dict[str, list[str]] = {}
    for flavor, it in tainted:
        names.setdefault(it.advice, []).append(flavor.name)
    if len(names) == 1:
        return next(iter(names))
    parts = [f"{advice} (flavor {listed(them, 'and')})" for advice, them in names.items()]
    return listed(parts[:_MOST_ADVICE])


def _of_flavors(found: Sequence[_Misfit]) -> Hit:
    """One hit for all workloads that do not tolerate the taints of the same flavors."""
    names = list(dict.fromkeys(str(it.request.workload) for it in found))
    tainted = found[0].tainted
    first, refused = tainted[0]
    advice = (
        f"add the tolerations to {listed([str(it) for it, _ in tainted], 'and')}, or to the pods"
    )
    if len(tainted) == 1 and refused.where:
        advice = f"{refused.advice}, or change nodeTaints of {first}"
    fit = "fit no flavor of their queues" if names[1:] else "fits no flavor of its queue"
    return Hit(
        RULE,
        f"{some(names, 'other workload')} {fit} ({_skipped(tainted)}); {advice}",
        first.at.to("spec", "nodeTaints"),
        related=tuple(it.request.template.at.to("spec", _TOLERATIONS) for it in found),
    )


def tolerated(facts: Facts) -> AbstractSet[str]:
    """The names of flavors whose taints a workload of the input tolerates; use it with `facts.derive`."""
    known, found = facts.cluster.flavors, set[str]()
    for request in pod_requests(facts):
        for group in request.groups:
            for quotas in group.flavors:
                flavor = None if quotas.name in found else known.get(quotas.name)
                if flavor and not untolerated(flavor.fields, request.template.spec.tolerations):
                    found.add(flavor.name)
    return found


def _flavors_are_wrong(facts: Facts, request: PodRequest, refusing: Sequence[Flavor]) -> bool:
    """Whether another rule reports the flavors, and the pods select nodes or a flavor of the queue."""
    pod, cluster = request.template.spec, facts.cluster
    if "flavor-matches-no-node" in facts.run and cluster.nodes.any:
        found = cluster.derive(nodes)
        if not any(found[it.name].nodes for it in refusing):
            terms = required_terms(pod)
            return bool(pod.node_selector or terms) and any(
                pod.node_selector.items() <= node.labels.items()
                and (not terms or any(all(it.holds(node.labels) for it in term) for term in terms))
                for node in cluster.nodes
            )
    if "flavor-labels-collide" not in facts.run:
        return False
    every = (cluster.flavors.get(it.name) for group in request.groups for it in group.flavors)
    selected = [it.fields.node_labels for it in every if it and not refusal(it.fields, pod)]
    return all(
        any(_differ(it.fields.node_labels, labels) for labels in selected) for it in refusing
    )


def _differ(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether two flavors set a label to different values."""
    return any(other.get(key, value) != value for key, value in one.items())


RULE = ObjectRule(
    "workload-fits-no-flavor",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Change the node selector, affinity or tolerations of the workload, or change the flavor.",
    judges=(*KINDS, "ResourceFlavor"),
    check=check,
    reads=(*READS, "Namespace", "Node"),
)
