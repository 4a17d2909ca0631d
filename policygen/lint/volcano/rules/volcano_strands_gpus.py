"""Volcano spreads the pods of small gangs, so that GPUs stay free that a larger gang waits for."""

from fractions import Fraction
from typing import TYPE_CHECKING

from policygen.core.amounts import with_gpus
from policygen.core.quoting import counted, listed, some
from policygen.kubernetes.cluster import VOLCANO_CONFIGURATION
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.simulated import JOB_S, READS, Owners, check_size, scene_of
from policygen.lint.other_rules import is_inside, places
from policygen.lint.rule import (
    Facts,
    Family,
    Hit,
    Hits,
    Need,
    ObjectRule,
    Severity,
    TooLargeError,
)
from policygen.lint.volcano.configuration import all_settings
from policygen.lint.volcano.rules import (
    binpack_outweighed,
    binpack_weight_not_listed,
    binpack_without_gpu,
    deviceshare_does_not_pack_nodes,
    volcano_argument_mistyped,
)

if TYPE_CHECKING:  # most inputs need no simulation
    from policygen.simulate.volcano.stranding import StrandedGangs

_MOST_PODS = 1_000
_OTHERS = (
    binpack_outweighed.RULE,
    binpack_weight_not_listed.RULE,
    binpack_without_gpu.RULE,
    deviceshare_does_not_pack_nodes.RULE,
    volcano_argument_mistyped.RULE,
)
"""The rules that report settings which are meant to pack and do not."""


def check(facts: Facts) -> Hits:
    """Found by a simulation of Volcano in which gangs with the smallest pods start first.

    With binpack for GPUs, fewer gangs wait in the same order.
    Source: pkg/scheduler/plugins/{binpack,nodeorder} of Volcano 1.14.1.
    """
    configuration = next(all_settings(facts), None)
    gangs = any(it.object.group == "batch.volcano.sh" for it in facts.cluster.workloads)
    if configuration is None or not (gangs or facts.cluster.pod_groups.any):
        return
    check_size(facts)
    from policygen.simulate.scene_jobs import arrivals  # noqa: PLC0415 - most inputs need no simulation
    from policygen.simulate.volcano.stranding import largest_pod, stranded_gangs  # noqa: PLC0415 - the same

    scene = scene_of(facts, nodes=True)
    jobs = [
        it
        for it in arrivals(scene, JOB_S)
        if it.gang is not None and largest_pod(it) and not (it.refusal or it.unscheduled)
    ]
    if len({largest_pod(it) for it in jobs}) < 2:
        return  # pods of one size leave no node with a part of its GPUs
    if sum(batch.count for it in jobs for batch in it.pods) > _MOST_PODS:
        raise TooLargeError(f"lint simulates at most {_MOST_PODS} pods of Volcano")
    found = stranded_gangs(scene, jobs)
    if (
        found is None
        or not any(found.free.values())
        or any(is_inside(at, configuration.entry.at) for at in places(facts, _OTHERS))
    ):
        return
    owners = Owners(facts)
    waiting = [owner for it in found.waiting if (owner := owners.of(it)) is not None]
    names = some([str(it) for it in waiting], "other gang")
    wait, run = ("waits", "it runs") if len(found.waiting) == 1 else ("wait", "all run")
    fewer = f"only {counted(found.packed, 'gang')} of them wait{'s' if found.packed == 1 else ''}"
    free = listed([with_gpus(name, Fraction(it)) for name, it in found.free.items() if it], "and")
    packing = next((it for it in configuration.plugins if it.name == "binpack"), None)
    yield Hit(
        RULE,
        f"Volcano does not pack GPUs: if the smallest gangs of the input start first, {names} {wait}, although "
        f"{free} are free; with binpack for GPUs, {fewer if found.packed else run}; "
        f"{listed(_steps(found, missing=packing is None), 'and')}",
        packing.at if packing is not None else configuration.entry.at / "tiers",
        tuple(it.at for it in waiting[:1]),
    )


def _steps(found: "StrandedGangs", *, missing: bool) -> list[str]:
    """What to change in the configuration; `missing`: it has no plugin binpack."""
    steps = ["add the plugin binpack"] if missing else []
    for plugin, arguments in (("binpack", found.binpack), ("nodeorder", found.order)):
        if arguments:
            texts = [f"{key}: {value}" for key, value in arguments.items()]
            steps.append(f"set {', '.join(texts)} in the arguments of {plugin}")
    return [*steps, *(f"remove the plugin {it}" for it in found.removed)]


RULE = ObjectRule(
    "volcano-strands-gpus",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Add the plugin binpack with each GPU resource, set the weights of nodeorder that prefer emptier nodes to 0, and remove resource-strategy-fit.",
    judges=(VOLCANO_CONFIGURATION,),
    check=check,
    needs=frozenset({Need.KNOWN_NODES, Need.WORKLOADS}),
    reads=tuple(dict.fromkeys((*READS, "ClusterQueue", "Node", *KINDS))),
)
