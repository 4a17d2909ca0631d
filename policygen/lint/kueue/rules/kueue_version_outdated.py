"""A Kueue object uses v1beta1, which Kueue is about to remove."""

from policygen.core.quoting import listed
from policygen.kubernetes.cluster import KUEUE
from policygen.kubernetes.kueue import POLICY_KINDS
from policygen.kubernetes.renames import new_fields
from policygen.lint.kueue.version_upgrade import upgrade
from policygen.lint.rule import Facts, Family, Fix, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue stores v1beta2 since 0.16; objects read as v1beta1 lack newer fields.

    Source: config/components/crd/bases; issue 9281.
    """
    if facts.cluster.seen:
        return  # a server returns objects in the version that was requested
    for kind in _KINDS:
        for written in facts.cluster.of(KUEUE, kind):
            if written.version == "v1beta1":
                edits = upgrade(written)
                advice = listed([f"apiVersion: {KUEUE}/v1beta2", *new_fields(written)], "and")
                if len(edits) > 1:
                    advice += "; `lint --fix` does this"
                yield Hit(
                    RULE,
                    f"{written} uses v1beta1, which is deprecated; write {advice}",
                    written.at / "apiVersion",
                    edits=edits,
                )


_KINDS = (*POLICY_KINDS, "Workload")

RULE = ObjectRule(
    "kueue-version-outdated",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Write apiVersion: kueue.x-k8s.io/v1beta2.",
    judges=_KINDS,
    check=check,
    fix=Fix.SAFE,
    since={"kueue": (0, 16)},
)
