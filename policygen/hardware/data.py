"""The data files beside this module, read once each; every entry names its source."""

import json
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


@cache
def read(name: str) -> dict[str, Any]:
    """A file by its name; not to be changed."""
    data: dict[str, Any] = json.loads((_FOLDER / name).read_text(encoding="utf-8"))
    return data
