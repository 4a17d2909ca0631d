"""The graph as Mermaid: each line is one of the statements that its parser knows (11.17 was tried)."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from policygen.cli.main import cli
from policygen.report import mermaid

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/expected"))
TEXT = r'"([^"#<>\[\]`]|#(35|quot|lt|gt);|<br/>)+"'
ID = r"(?P<id{}>p\d+(t\d+)?)"
NODE = re.compile(rf"    {ID.format('')}(\(\[{TEXT}\]\)|\[{TEXT}\])")
EDGE = re.compile(rf"    {ID.format(1)} (-- {TEXT} -->|-\. {TEXT} \.->|---) {ID.format(2)}")
OTHERS = re.compile(rf"flowchart TD|  %% .*|  subgraph p\d+s\[{TEXT}\]|  end")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda it: it.name)
def test_each_line_is_a_statement_about_known_nodes(path):
    done = CliRunner().invoke(cli, ["show", str(path), "-f", "mermaid"])
    lines = done.stdout.splitlines()
    assert lines[0] == "flowchart TD"
    assert done.stdout.count("\n  subgraph ") == done.stdout.count("\n  end\n") > 0
    known, edges = set(), 0
    for line in lines:
        if node := NODE.fullmatch(line):
            known.add(node["id"])
        elif edge := EDGE.fullmatch(line):
            assert {edge["id1"], edge["id2"]} <= known
            edges += 1
        else:
            assert OTHERS.fullmatch(line), line
    assert edges >= len(known) - lines.count("  end")


def test_the_arrows_of_a_team():
    path = str(ROOT / "examples" / "kueue-team-tree")
    shown = CliRunner().invoke(cli, ["show", path, "-f", "mermaid"]).stdout
    assert '    p0 -- "borrows up to 24" --> p0t0\n    p0t0 -. "takes back 32" .-> p0\n' in shown


def test_characters_with_a_meaning_are_escaped():
    assert mermaid.label('a"b#c<d>') == "a#quot;b#35;c#lt;d#gt;"
