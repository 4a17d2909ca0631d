"""The differences between two specs."""

from msgspec import Struct

from policygen.core.finding import Finding
from policygen.review.consequences import Consequences
from policygen.review.objects import ObjectChange


class Review(Struct, frozen=True):
    """What a change of a spec does."""

    names: tuple[str, str]
    """Of the old and the new spec, as given."""
    consequences: Consequences
    objects: tuple[ObjectChange, ...]
    new: tuple[Finding, ...]
    """Warnings about the new spec that the old one does not have."""
    gone: tuple[Finding, ...]

    @property
    def changed(self) -> bool:
        """Whether anything differs."""
        found = self.consequences
        return bool(found.pools or found.models or self.objects or self.new or self.gone)
