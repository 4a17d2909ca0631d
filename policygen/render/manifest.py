"""What rendering makes of one item."""

from typing import NamedTuple

from policygen.plan.kind import Item


class Manifest(NamedTuple):
    """One rendered document."""

    item: Item
    text: str
    """Begins with `---` on a line of its own and ends with one newline."""
