"""The graph of pools and teams as a flowchart of Mermaid, which GitHub and GitLab draw."""

from typing import TextIO

from policygen.explain.graph import GraphNode, graphs
from policygen.explain.overview import Overview
from policygen.report.text import printable

_LEGEND = (
    "A solid arrow: the team can borrow up to this much of what others above it do not use.",
    "A dotted arrow: the team lends this much, and can evict the borrowers to take it back.",
)


def write(found: Overview, out: TextIO) -> None:
    """Write one flowchart, with a subgraph for each pool."""
    out.write("flowchart TD\n")
    out.writelines(f"  %% {line}\n" for line in _LEGEND)
    for nodes in graphs(found):
        root = nodes[0]
        out.write(f'  subgraph {root.id}s["{label(root.name)}"]\n')
        out.writelines(f"    {node.id}{_box(node)}\n" for node in nodes)
        for node in nodes:
            if node.parent is None:
                continue
            if node.borrows:
                out.write(
                    f'    {node.parent} -- "borrows up to {label(node.borrows)}" --> {node.id}\n'
                )
            if node.reclaims:
                out.write(
                    f'    {node.id} -. "takes back {label(node.reclaims)}" .-> {node.parent}\n'
                )
            if not node.borrows and not node.reclaims:
                out.write(f"    {node.parent} --- {node.id}\n")
        out.write("  end\n")


def _box(node: GraphNode) -> str:
    lines = [node.amounts, *node.models]
    if node.parent is not None:
        lines.insert(0, node.name)
    text = "<br/>".join(map(label, lines))
    return f'(["{text}"])' if node.parent is None else f'["{text}"]'


def label(text: str) -> str:
    """Text inside double quotes; other characters than these have no meaning there."""
    plain = printable(text).replace("#", "#35;").replace('"', "#quot;")
    return plain.replace("<", "#lt;").replace(">", "#gt;")
