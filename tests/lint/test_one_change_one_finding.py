"""One change of a sound set causes at most one finding.

Each field is removed, misspelt, written in the other case, scaled, or given another unit. In CI, changes are
drawn with a fixed seed. POLICYGEN_ALL_CHANGES=1 tries all of them: 2,500, in seven minutes.
"""

import os
import random
import re
from copy import deepcopy
from pathlib import Path

import pytest
import yaml

from tests.lint.linting import findings

FOLDER = Path(__file__).parent / "batch_manifests"
FILES = ("kueue", "volcano", "topology")
DRAWN = 60
"""The number of changes of each set in CI."""
SETS = {it: [*yaml.safe_load_all((FOLDER / f"{it}.yaml").read_text("utf-8"))] for it in FILES}
AMOUNT = re.compile(r"(\d+)(Gi|Mi|)")
UNITS = {"Gi": "Mi", "Mi": "Gi", "": "m"}
SEVERAL = {
    # What the object states is unknown, and its absence is a fault of its own.
    ("Node", "metadata"),
    # Several fields are missing, or several objects name what is missing.
    ("Deployment", "spec"), ("Job", "metadata"), ("Job", "spec.template.spec"), ("ResourceFlavor", "spec"),
    ("Topology", "metadata"), ("Topology", "metadata.name"), ("Topology", "spec.levels.*.nodeLabel"),
    # Two entries must change: the list of names, and that of quotas.
    ("ClusterQueue", "spec.resourceGroups.*.coveredResources.*"),
    # "cup" resembles no resource enough.
    ("Queue", "spec.capability.cpu"),
}  # fmt: skip
"""The fields whose changes may cause two findings, by kind."""


def _paths(data, path=()):
    if path:
        yield path
    children = enumerate(data) if isinstance(data, list) else ()
    for key, value in data.items() if isinstance(data, dict) else children:
        yield from _paths(value, (*path, key))


def _slip(word):
    """Two neighbouring letters swapped; else a letter more."""
    for i in range(1, len(word) - 1):
        if word[i] != word[i + 1] and word[i : i + 2].isalnum():
            return f"{word[:i]}{word[i + 1]}{word[i]}{word[i + 2 :]}"
    return f"{word}x"


def _values(value):
    """Other values, by the name of the change."""
    if isinstance(value, bool):
        yield "other", not value
    elif isinstance(value, int):
        yield from {"hundredfold": value * 100, "zero": 0, "milli": f"{value}m"}.items()
    elif isinstance(value, str):
        yield "slip", _slip(value)
        yield "case", value.upper() if value.islower() else value.lower()
        if amount := AMOUNT.fullmatch(value):
            yield "unit", amount[1] + UNITS[amount[2]]
            yield "thousandfold", f"{int(amount[1]) * 1000}{amount[2]}"


def _changed(data, path):
    """The name of each change of a field, and the object after it."""
    *above, last = path

    def copy():
        made = deepcopy(data)
        holder = made
        for step in above:
            holder = holder[step]
        return made, holder

    made, holder = copy()
    del holder[last]
    yield "removed", made
    if isinstance(last, str):
        made, holder = copy()
        holder[_slip(last)] = holder.pop(last)
        yield "key", made
    _, holder = copy()
    for name, value in _values(holder[last]):
        made, other = copy()
        other[last] = value
        if value != holder[last]:
            yield name, made


def _shown(path):
    return ".".join("*" if isinstance(it, int) else it for it in path)


def _cases():
    chosen = random.Random(2911)
    for file, objects in SETS.items():
        every = [
            pytest.param(file, i, made, id=f"{file}-{data['kind']}-{i}-{_shown(path)}-{name}")
            for i, data in enumerate(objects)
            for path in _paths(data)
            if (data["kind"], _shown(path)) not in SEVERAL
            for name, made in _changed(data, path)
        ]
        yield from every if os.environ.get("POLICYGEN_ALL_CHANGES") else chosen.sample(every, DRAWN)


@pytest.mark.parametrize(("file", "index", "made"), [*_cases()])
def test_a_change_causes_at_most_one_finding(tmp_path, file, index, made):
    objects = [*SETS[file][:index], made, *SETS[file][index + 1 :]]
    found = findings(tmp_path, yaml.safe_dump_all(objects))
    assert len(found) < 2, found
