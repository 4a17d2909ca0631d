"""Reads typed fields of a mapping in a schema-valid document, with their places."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Literal, cast

from policygen.core import quantity
from policygen.core.finding import At, Hit
from policygen.core.quoting import shown
from policygen.spec.rules import INVALID_VALUE, MEMORY_WITHOUT_UNIT
from policygen.spec.types import WHOLE, Amounts, Bounds, NodeResources


class View:
    """One mapping of a document. A missing field is read as None or an empty view.

    The data is valid by its schema. Faults that the schema cannot find (quantities) are added to
    `hits`, which all views of one document share.
    """

    __slots__ = ("at", "data", "hits")

    def __init__(self, data: dict[str, Any], at: At, hits: list[Hit]) -> None:
        self.data = data
        self.at = at
        self.hits = hits

    def __bool__(self) -> bool:
        return bool(self.data)

    def view(self, key: str) -> "View":
        """The mapping under a key; empty if it is missing."""
        return View(self.data.get(key) or {}, self.at / key, self.hits)

    def views(self, key: str) -> Iterator["View"]:
        """The mappings of a list."""
        at = self.at / key
        for index, entry in enumerate(self.data.get(key) or ()):
            yield View(entry, at / index, self.hits)

    def text(self, key: str) -> str | None:
        """A string, or None."""
        return cast("str | None", self.data.get(key))

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        return tuple(self.data.get(key) or ())

    def number(self, key: str) -> int | None:
        """An integer, or None. In JSON Schema, a float without a fraction (`8.0`) is an integer."""
        value = self.data.get(key)
        return None if value is None else int(value)

    def flag(self, key: str) -> bool | None:
        """A boolean, or None."""
        return cast("bool | None", self.data.get(key))

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        """A mapping of strings, sorted by key."""
        return tuple(sorted((self.data.get(key) or {}).items()))

    def ratio(self, key: str) -> Fraction | None:
        """A decimal number, exactly as it is written (the shortest text of the float)."""
        value = self.data.get(key)
        return None if value is None else Fraction(str(value))

    def amounts(self, key: str) -> Amounts | None:
        """A count of units: one number, or a mapping from MIG profile to number."""
        value = self.data.get(key)
        if value is None:
            return None
        if isinstance(value, dict):
            return tuple(sorted((profile, int(count)) for profile, count in value.items()))
        return ((WHOLE, int(value)),)

    def measure(
        self, key: str, unit: Literal["cpu", "memory"], *, zero: bool = False
    ) -> int | None:
        """A quantity, in thousandths of a core or in bytes; an invalid or negative one is a Hit.

        So is 0, unless `zero` allows it.
        """
        value = self.data.get(key)
        if value is None:
            return None
        try:
            read = quantity.cpu_milli(value) if unit == "cpu" else quantity.memory_bytes(value)
        except ValueError as error:
            self._hit(key, str(error))
            return None
        if unit == "cpu" and quantity.parse(value).value * 1000 != read:
            message = (
                f"{shown(value)} is more precise than 1m (a thousandth of a core); write {read}m"
            )
            self._hit(key, message)
            return None
        if unit == "memory" and abs(read) == quantity.MAX_INT64:  # capped, as Kubernetes does
            self._hit(
                key,
                f"{shown(value)} of memory is too large for Kubernetes; write a smaller quantity",
            )
            return None
        if read < 0:
            least = "0 or more" if zero else "a value above 0"
            self._hit(key, f"{shown(value)} is negative; write {least}")
            return None
        if read == 0 and not zero:
            self._hit(key, f"{shown(value)} {unit} is too small; write a value above 0")
            return None
        if unit == "memory" and 0 < read < quantity.MEBIBYTE:
            message = (
                f"{shown(value)} is read as bytes, so it is less than 1Mi of memory; write a unit, such "
                "as 16Gi"
            )
            self.hits.append(Hit(MEMORY_WITHOUT_UNIT, message, self.at / key))
        return read

    def _hit(self, key: str, message: str) -> None:
        self.hits.append(Hit(INVALID_VALUE, message, self.at / key))

    def bounds(self, key: str) -> Bounds:
        """`{guarantee, limit}` of cpu or memory."""
        view = self.view(key)
        unit: Literal["cpu", "memory"] = "cpu" if key == "cpu" else "memory"
        return Bounds(
            view.measure("guarantee", unit, zero=True), view.measure("limit", unit, zero=True)
        )

    def resources(self, key: str, *, zero: bool = False) -> NodeResources | None:
        """`{cpu, memory}`, or None if one of them is missing or invalid."""
        view = self.view(key)
        cpu = view.measure("cpu", "cpu", zero=zero)
        memory = view.measure("memory", "memory", zero=zero)
        return None if cpu is None or memory is None else NodeResources(cpu, memory)
