"""A gang has both highestTierAllowed and highestTierName."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core.finding import At
from policygen.kubernetes.cluster import VOLCANO
from policygen.kubernetes.untyped import mapping, numbered
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import jobs

_FIELD = "networkTopology"


def check(facts: Facts) -> Hits:
    """Source: podgroups/validate/validate_podgroup.go and jobs/validate/admit_job.go."""
    for owner, at, holder in _holders(facts):
        topology = holder.get(_FIELD)
        if (
            isinstance(topology, dict)
            and topology.get("highestTierAllowed") is not None
            and topology.get("highestTierName")
        ):
            yield Hit(
                RULE,
                f"{owner} has both highestTierAllowed and highestTierName, which Volcano refuses; remove one of the two fields",
                at / _FIELD,
            )


def _holders(facts: Facts) -> Iterator[tuple[str, At, Mapping[str, Any]]]:
    for group in facts.cluster.of(VOLCANO, "PodGroup"):
        spec = mapping(group.data, "spec")
        yield str(group), group.at / "spec", spec
        for i, part in numbered(spec, "subGroupPolicy"):
            yield str(group), group.at.to("spec", "subGroupPolicy", i), part
    for job in jobs.specs(facts.cluster):
        yield str(job.owner), job.at, job.data
        for task in job.items("tasks"):
            policy = task.under("partitionPolicy")
            yield str(job.owner), policy.at, policy.data


RULE = ObjectRule(
    "highest-tier-given-twice",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Remove one of the two fields.",
    judges=("PodGroup", "Job"),
    check=check,
    since={"volcano": (1, 14)},
    aliases=("tier-given-twice",),
)
