"""The edits that bring an object of Kueue to v1beta2."""

from collections.abc import Iterator

from policygen.api_validation import schemas
from policygen.api_validation.refusal import Refusal
from policygen.api_validation.refusals import refusals
from policygen.core.finding import At, Edit
from policygen.documents.edit.apply import applied
from policygen.kubernetes.cluster import KUEUE
from policygen.kubernetes.object import Object
from policygen.kubernetes.renames import upgraded


def upgrade(old: Object) -> tuple[Edit, ...]:
    """The edits that upgrade an object; empty if v1beta2 would refuse what its version accepts."""
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
