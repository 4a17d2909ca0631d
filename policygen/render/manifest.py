"""The rendered document of one item."""

from typing import NamedTuple

from policygen.plan.kind import Item


class Manifest(NamedTuple):
    """One rendered document."""

    item: Item
    text: str
    """Begins with the line `---` and ends with one newline."""
