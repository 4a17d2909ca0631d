"""The picture of pools and teams: it is well formed, no texts overlap, and it has colours for dark pages."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from policygen.cli.main import cli
from policygen.report import svg

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/expected"))
SPACE = "{http://www.w3.org/2000/svg}"
PICTURE = ROOT / "docs" / "show.svg"


def drawn(*specs, given=None):
    done = CliRunner().invoke(cli, ["show", *map(str, specs), "-f", "svg"], input=given)
    assert done.exit_code == 0, done.output
    return done.stdout


def boxes(root):
    """The text of each label, with its left, top, right and bottom."""
    for text in root.iter(f"{SPACE}text"):
        x, y = float(text.get("x")), float(text.get("y"))
        each = svg.SMALL if text.get("class") == "small" else svg.CHARACTER
        yield text.text, x, y - 12, x + len(text.text) * each, y + 4


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda it: it.name)
def test_nothing_overlaps_and_nothing_is_cut_off(path):
    root = ET.fromstring(drawn(path))
    wide, high = float(root.get("width")), float(root.get("height"))
    placed = list(boxes(root))
    for number, (text, left, top, right, bottom) in enumerate(placed):
        assert left >= 0 <= top, text
        assert right <= wide, text
        assert bottom <= high, text
        for other, *corner in placed[number + 1 :]:
            apart = (
                corner[0] >= right or corner[2] <= left or corner[1] >= bottom or corner[3] <= top
            )
            assert apart, (text, other)
    rects = [
        tuple(float(it.get(name)) for name in ("x", "y", "width", "height"))
        for it in root.iter(f"{SPACE}rect")
    ]
    for text, left, top, right, bottom in placed:
        for x, y, width, height in rects:
            inside = x <= left and right <= x + width and y <= top and bottom <= y + height
            outside = right <= x or left >= x + width or bottom <= y or top >= y + height
            assert inside or outside, text


def test_each_class_has_a_colour_on_light_and_dark_pages():
    text = drawn(ROOT / "examples" / "kueue-team-tree")
    light, dark = re.search(
        r"<style>(.*)@media \(prefers-color-scheme: dark\)(.*)</style>", text, re.DOTALL
    ).groups()
    used = set(re.findall(r'class="(\w+)"', text)) - {"name"}  # has only a weight
    for name in used:
        assert f".{name}" in light, name
        assert f".{name}" in dark, name


def test_the_picture_in_the_docs_is_current(update, monkeypatch):
    monkeypatch.chdir(ROOT)
    text = drawn("examples/kueue-team-tree")
    if update:
        PICTURE.write_text(text, "utf-8")
    assert PICTURE.read_text("utf-8") == text


def test_there_is_an_arrow_for_each_edge():
    text = drawn(ROOT / "examples" / "kueue-team-tree")
    assert text.count('<path class="borrows"') == 5 + 1  # and the legend
    assert text.count('<path class="reclaims"') == 5 + 1
    assert text.count("<polygon") == 2 * (5 + 1)
    limits_only = drawn(ROOT / "examples" / "three-schedulers")
    assert limits_only.count('class="plain"') == 1
