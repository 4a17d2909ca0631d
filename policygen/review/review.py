"""The differences between two states: specs, manifests, a snapshot or a cluster."""

from msgspec import Struct

from policygen.core.finding import Finding
from policygen.review.apply_order import ApplyOrder
from policygen.review.consequences import Consequences
from policygen.review.objects import ObjectChange
from policygen.review.uses import Use


class Review(Struct, frozen=True):
    """What a change does."""

    names: tuple[str, str]
    """Of the old and the new state, as given."""
    consequences: Consequences
    objects: tuple[ObjectChange, ...]
    new: tuple[Finding, ...] = ()
    """Warnings about the new spec that the old one does not have. Only for two specs."""
    gone: tuple[Finding, ...] = ()
    uses: tuple[tuple[Use, ...], ...] | None = None
    """For each of `objects`: who still uses a removed object. None: no cluster shows it."""
    notes: tuple[str, ...] = ()
    """What could not be compared, and why."""
    unread: tuple[str, ...] = ()
    """What could not be read of a cluster."""
    order: ApplyOrder = ApplyOrder()
    steps_command: tuple[str, ...] = ()
    """The words of the command that writes the applies of `order`; empty if it is not about a spec."""
    not_compared: str = ""
    """What is not compared about models whose own objects change."""
    kueue_not_compared: str = ""
    """Why Kueue's Configuration is not one of the compared objects, although its settings change."""

    @property
    def changed(self) -> bool:
        """Whether anything differs."""
        found = self.consequences
        summary = found.pools or found.models or found.kueue
        return bool(summary or self.objects or self.new or self.gone)
