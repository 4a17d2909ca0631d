"""Packing counts a GPU resource whose name looks like a slip, or that no pod asks for."""

from collections.abc import Iterator

from policygen.core.finding import At, Hit
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core import accelerators
from policygen.lint.core.resource_names import meant
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.scheduler.scoring import profiles
from policygen.lint.volcano.configuration import all_settings


def check(facts: Facts) -> Iterator[Hit]:
    """Names are compared with the pods' requests and with nothing else.

    What pods ask for is judged where some ask for a GPU, and none for any that is counted.
    Source: noderesources/resource_allocation.go; volcano's plugins/binpack/binpack.go.
    """
    asked = facts.cluster.derive(_asked)
    for names, at in _counted(facts):
        slips = {name: meant(name) for name in names}
        for name, right in slips.items():
            if right is not None:
                yield Hit(
                    RULE,
                    f'packing counts "{name}", which no node is known to have; write "{right}"',
                    at,
                )
        if asked and asked.isdisjoint(names) and not any(slips.values()):
            shown = " and ".join(sorted(names))
            yield Hit(
                RULE,
                f"packing counts {shown}, and the GPU pods here ask for "
                f"{' and '.join(sorted(asked))}; {suggest(shown, asked)}",
                at,
            )


def _counted(facts: Facts) -> Iterator[tuple[set[str], At]]:
    for profile in profiles(facts.cluster):
        if profile.scoring.packs and profile.scoring.at is not None:
            yield set(profile.scoring.extended), profile.scoring.at / "resources"
    for each in all_settings(facts):
        packs = each.plugin("binpack")
        listed = packs.arguments.get("binpack.resources") if packs else None
        if packs and isinstance(listed, str):
            names = {name.strip() for name in listed.split(",") if "/" in name}
            if names:
                yield names, packs.at.to("arguments", "binpack.resources")


def _asked(cluster: Cluster) -> frozenset[str]:
    return frozenset(
        name
        for workload in cluster.workloads
        for template in workload.templates
        for name in accelerators.asked(cluster, template)
    )


RULE = ObjectRule(
    "packing-counts-another-resource",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("KubeSchedulerConfiguration", "volcano-scheduler.conf"),
    check=check,
    reads=(*KINDS,),
)
