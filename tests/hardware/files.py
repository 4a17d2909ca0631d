"""The data files, for tests."""

import json
from importlib.resources import files

DATA = {
    name: json.loads((files("policygen.hardware") / f"{name}.json").read_text(encoding="utf-8"))
    for name in ("products", "mig", "shapes", "models")
}

ROWS = [
    *DATA["products"]["products"],
    *DATA["mig"]["families"],
    *DATA["shapes"]["shapes"],
    *DATA["models"]["models"],
]
