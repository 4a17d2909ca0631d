"""The data files are sorted, have sources, and are read only when they are needed."""

import re
import subprocess
import sys
from collections import Counter

import pytest

from tests.hardware.files import DATA, ROWS


def natural(text):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


def test_every_entry_names_its_source():
    assert [row for row in ROWS if not row.get("source", "").strip()] == []


def test_confidence_is_only_set_where_a_figure_is_nominal():
    profiles = [profile for family in DATA["mig"]["families"] for profile in family["profiles"]]
    assert {row["confidence"] for row in (*ROWS, *profiles) if "confidence" in row} == {"nominal"}


@pytest.mark.parametrize(
    "name, rows, keys",
    [
        ("products", "products", ("id",)),
        ("mig", "families", ("id",)),
        ("shapes", "shapes", ("cloud", "name")),
        ("models", "models", ("family", "parameters")),
    ],
)
def test_entries_are_sorted(name, rows, keys):
    found = [[natural(str(row[key])) for key in keys] for row in DATA[name][rows]]
    assert found == sorted(found)


def test_no_key_is_duplicate():
    for rows, keys in (
        (DATA["products"]["products"], ("id",)),
        (DATA["mig"]["families"], ("id",)),
        (DATA["shapes"]["shapes"], ("name",)),
        (DATA["models"]["models"], ("family", "size")),
    ):
        counted = Counter(tuple(str(row[key]).lower() for key in keys) for row in rows)
        assert [key for key, times in counted.items() if times > 1] == []


def test_no_file_is_read_before_it_is_needed():
    check = (
        "from policygen.hardware import catalog as c, data, models; "
        "assert data.read.cache_info().misses == 0; c.shape('p4d.24xlarge'); c.shapes(); "
        "assert data.read.cache_info().misses == 1"
    )
    subprocess.run([sys.executable, "-c", check], check=True)
