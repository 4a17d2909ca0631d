"""A Kueue object uses v1beta1, which Kueue is about to remove."""

from collections.abc import Iterator

from policygen.api_validation import schemas
from policygen.api_validation.refusal import Refusal
from policygen.api_validation.refusals import refusals
from policygen.core.finding import At
from policygen.core.quoting import listed
from policygen.documents.edit.apply import applied
from policygen.kubernetes.cluster import KUEUE
from policygen.kubernetes.kueue import POLICY_KINDS
from policygen.kubernetes.object import Object
from policygen.kubernetes.renames import new_fields, upgraded
from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue stores v1beta2 since 0.16; objects read as v1beta1 lack newer fields.

    Source: config/components/crd/bases; issue 9281.
    """
    if facts.cluster.seen:
        return  # a server returns objects in the version that was requested
    for kind in POLICY_KINDS:
        for written in facts.cluster.of(KUEUE, kind):
            if written.version == "v1beta1":
                edits = _edits(written)
                advice = listed([f"apiVersion: {KUEUE}/v1beta2", *new_fields(written)], "and")
                if len(edits) > 1:
                    advice += "; `lint --fix` does this"
                yield Hit(
                    RULE,
                    f"{written} uses v1beta1, which is deprecated; write {advice}",
                    written.at / "apiVersion",
                    edits=edits,
                )


def _edits(old: Object) -> tuple[Edit, ...]:
    """The edits that upgrade an object; empty if v1beta2 would refuse what v1beta1 accepts."""
    edits = upgraded(old)
    new = schemas.served(f"{KUEUE}/v1beta2", old.kind)
    if not edits or new is None:
        return ()
    root = len(old.at.path)
    moved = [edit._replace(at=At(0, edit.at.path[root:])) for edit in edits]
    before = {refusal.reason for refusal in _refused(old)}
    after = {refusal.reason for refusal in refusals(applied(old.data, moved, {}), new)}
    return edits if after <= before else ()


def _refused(old: Object) -> Iterator[Refusal]:
    """What a server refuses in the version that the object has."""
    served = schemas.served(old.api_version, old.kind)
    return refusals(old.data, served) if served else iter(())


RULE = ObjectRule(
    "kueue-version-outdated",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Write apiVersion: kueue.x-k8s.io/v1beta2.",
    judges=POLICY_KINDS,
    check=check,
    fix=Fix.SAFE,
    since={"kueue": (0, 16)},
)
