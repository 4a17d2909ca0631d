"""The list of an adopted spec, for people and for programs."""

import io
import json

from policygen.adopt.compare import SpecDifference
from policygen.adopt.trees import Guess
from policygen.report import adoption
from policygen.report.adoption import Adoption

FOUND = Adoption(
    files=(("pools.yaml", "---\npools\n"), ("teams.yaml", "---\nteams\n")),
    guesses=(Guess("Team", "nlp", ("spec", "namespaces"), "Guess: a reason."),),
    differences=(
        SpecDifference("Queue nlp", "", "the spec does not render this object"),
        SpecDifference("Queue prod", "spec.weight", "is 3 here, and rendered as 1", 3, 1),
        SpecDifference("Queue prod", "spec.parent", "is root here, and rendered as pool"),
    ),
    unread=("Node could not be read: 403",),
)


def test_lines_name_each_object_and_field():
    assert list(adoption.lines(FOUND)) == [
        "not read: Node could not be read: 403",
        "Queue nlp: the spec does not render this object",
        "Queue prod: spec.weight: is 3 here, and rendered as 1",
        "Queue prod: spec.parent: is root here, and rendered as pool",
        "3 differences in 2 objects; the spec has 1 guess in its comments",
    ]


def test_without_differences_one_line_says_so():
    (line,) = adoption.lines(Adoption(FOUND.files, (), (), ()))
    assert (
        line
        == "the spec renders every object that was read, without differences; it has 0 guesses in its comments"
    )


def test_json_has_the_files_and_the_list():
    out = io.StringIO()
    adoption.json(FOUND, out)
    written = json.loads(out.getvalue())
    assert written["version"] == 1
    assert "".join(written["files"].values()) == FOUND.text
    assert written["guesses"][0]["field"] == "spec.namespaces"
    assert [it["field"] for it in written["differences"]] == ["", "spec.weight", "spec.parent"]
    whole, changed, _ = written["differences"]
    assert (changed["found"], changed["rendered"]) == (3, 1)
    assert (whole["found"], whole["rendered"]) == (None, None)
    assert written["unread"] == ["Node could not be read: 403"]


def test_markdown_has_both_values_of_a_field():
    out = io.StringIO()
    adoption.markdown(FOUND, out, files=False)
    cells = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in out.getvalue().splitlines()
    ]
    assert ["Queue prod", "spec.weight", "3", "1"] in cells
    assert ["Queue nlp", "", "the spec does not render this object"] in cells
