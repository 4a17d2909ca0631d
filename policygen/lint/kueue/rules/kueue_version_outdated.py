"""An object is of a version that Kueue is about to drop."""

from collections.abc import Iterator

from policygen.api_validation import schemas
from policygen.api_validation.refusal import Refusal
from policygen.api_validation.refusals import refusals
from policygen.core.finding import At, Edit, Hit
from policygen.core.rule import Severity
from policygen.documents.edit.apply import applied
from policygen.kubernetes.cluster import KUEUE
from policygen.kubernetes.kueue import POLICY_KINDS
from policygen.kubernetes.object import Object
from policygen.kubernetes.renames import upgraded
from policygen.lint.rule import Facts, Family, Fix, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Kueue stores v1beta2 since 0.16; read back as v1beta1, newer fields are missing.

    Source: config/components/crd/bases; issue 9281.
    """
    if facts.cluster.seen:
        return  # a server gives the version that it is asked for
    for kind in POLICY_KINDS:
        for it in facts.cluster.of(KUEUE, kind):
            if it.version == "v1beta1":
                yield Hit(
                    RULE,
                    f"{it} is v1beta1, which is deprecated; write apiVersion: {KUEUE}/v1beta2",
                    it.at / "apiVersion",
                    edits=_edits(it),
                )


def _edits(it: Object) -> tuple[Edit, ...]:
    """None where the newer version would refuse what the older one takes."""
    edits = upgraded(it)
    new = schemas.served(f"{KUEUE}/v1beta2", it.kind)
    if not edits or new is None:
        return ()
    root = len(it.at.path)
    moved = [edit._replace(at=At(0, edit.at.path[root:])) for edit in edits]
    before = {each.rule for each in _refused(it)}
    after = {each.rule for each in refusals(applied(it.data, moved, {}), new)}
    return edits if after <= before else ()


def _refused(it: Object) -> Iterator[Refusal]:
    """What a server of the object's own version refuses."""
    served = schemas.served(it.api_version, it.kind)
    return refusals(it.data, served) if served else iter(())


RULE = ObjectRule(
    "kueue-version-outdated",
    Severity.INFO,
    Family.INERT,
    __doc__,
    judges=POLICY_KINDS,
    check=check,
    fix=Fix.SAFE,
    since={"kueue": (0, 16)},
)
