"""The meaning of a field of the APIs that policygen renders for."""

from collections.abc import Mapping

from msgspec import Struct


class Field(Struct, frozen=True):
    """What a field does."""

    does: str
    """One or two sentences."""
    source: str = ""
    """Where it is documented; empty: where its kind is."""
    always: str = ""
    """Why policygen writes the same value in every such object; empty if the spec decides it."""


class FieldTable(Struct, frozen=True):
    """The fields of a kind, by pattern: `[]` is any index, and `*` as last step any key."""

    source: str
    fields: Mapping[str, Field]
