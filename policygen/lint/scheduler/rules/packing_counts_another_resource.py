"""A packing score counts a GPU resource that is misspelled or that no pod requests."""

from collections.abc import Iterator

from policygen.core.finding import At
from policygen.core.suggest import suggest
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.resource_names import meant, meant_mig
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity, written
from policygen.lint.scheduler.scoring import profiles
from policygen.lint.volcano.configuration import all_settings


def check(facts: Facts) -> Hits:
    """The score compares these names only with the requests of pods.

    Requests are checked only if some pods request a GPU, and no pod requests a counted resource.
    Source: noderesources/resource_allocation.go; volcano's plugins/binpack/binpack.go.
    """
    requested = facts.cluster.derive(_requested)
    for owner, listed, at, text in _counted(facts):
        names = {it for it in listed if "/" in it}
        corrections = {name: meant_mig(name) or meant(name) for name in sorted(listed)}
        for name, right in corrections.items():
            if right is not None:
                advice = "remove it" if right in listed else f'did you mean "{right}"?'
                yield Hit(
                    RULE,
                    f'{owner} counts "{name}", which is not a known resource of nodes; {advice}',
                    at,
                    meant=written(at, text.replace(name, right))
                    if text and right not in listed
                    else (),
                )
        if requested and requested.isdisjoint(names) and not any(corrections.values()):
            shown = " and ".join(sorted(names))
            yield Hit(
                RULE,
                f"{owner} counts {shown}, but the pods with GPUs request "
                f"{' and '.join(sorted(requested))}; {suggest(shown, requested)}",
                at,
            )


def _counted(facts: Facts) -> Iterator[tuple[str, set[str], At, str]]:
    """What packs, the resources that it counts, at least one of them extended, the place of that list, and its text."""
    for profile in profiles(facts.cluster):
        if profile.scoring.packs and profile.scoring.at is not None:
            at = profile.scoring.at / "resources"
            yield f"profile {profile.name}", set(profile.scoring.resources), at, ""
    for configuration in all_settings(facts):
        packs = configuration.plugin("binpack")
        listed = packs.arguments.get("binpack.resources") if packs else None
        if packs and isinstance(listed, str):
            names = {name.strip() for name in listed.split(",")}
            if any("/" in name for name in names):
                at = packs.at.to("arguments", "binpack.resources")
                yield "plugin binpack", names, at, listed


def _requested(cluster: Cluster) -> frozenset[str]:
    return frozenset(
        name
        for workload in cluster.workloads
        for template in workload.templates
        for name in accelerators.requested(cluster, template)
    )


RULE = ObjectRule(
    "packing-counts-another-resource",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="In the packing score, list every GPU resource that the pods of the pool request.",
    judges=("KubeSchedulerConfiguration", "volcano-scheduler.conf"),
    check=check,
    reads=KINDS,
)
