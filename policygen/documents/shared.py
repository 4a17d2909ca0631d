"""JSON to data in which parts that are written alike are one object.

Manifests repeat: most of a thousand queues have the same quotas. What is made once takes its memory
once, and who judges data can tell by identity what is judged already. So nobody may change it.
"""

from collections.abc import Callable
from typing import Any

import msgspec

_ALONE = "metadata"
"""The key of an object whose value has its name, so that no other is alike."""
_APART = "spec"
"""The key of an object whose value is looked at in parts."""

_parts = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_items = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Shared(dict[bytes, Any]):
    """The data of parts by their text; `read` gives it for a text that is new.

    Of a key that is given twice the last value counts, and nobody is told. What is no JSON raises
    msgspec.DecodeError.
    """

    def __init__(self, read: Callable[[bytes], Any]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, text: bytes) -> Any:
        data = self[text] = self._read(text)
        return data

    def of_list(self, text: str) -> dict[str, Any]:
        """The data of a List of objects, or of an object.

        Raises msgspec.ValidationError for anything else.
        """
        made: dict[str, Any] = _parts(text)
        for key, part in made.items():
            try:
                made[key] = list(map(self.of_object, _items(part)))
            except msgspec.ValidationError:  # no list, or not of objects
                made[key] = self._read(bytes(part))
        return made

    def of_object(self, text: str | bytes | msgspec.Raw) -> dict[str, Any]:
        """The data of an object. Raises msgspec.ValidationError for anything else."""
        made: dict[str, Any] = _parts(text)
        for key, part in made.items():
            if key == _ALONE:
                made[key] = self._read(bytes(part))
            elif key == _APART:
                made[key] = self._in_parts(part)
            else:
                made[key] = self[bytes(part)]
        return made

    def _in_parts(self, text: msgspec.Raw) -> Any:
        try:
            made: dict[str, Any] = _parts(text)
        except msgspec.ValidationError:
            return self[bytes(text)]
        for key, part in made.items():
            made[key] = self[bytes(part)]
        return made
