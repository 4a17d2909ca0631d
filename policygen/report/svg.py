"""The graph of pools and teams as an SVG that is readable on light and dark backgrounds.

Each team is a row, indented below its parent, so the picture grows with the number of teams and no two
texts overlap. The width of text is estimated, since no font is at hand.
"""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final, NamedTuple, TextIO

from policygen.explain.graph import GraphNode, graphs
from policygen.explain.overview import Overview
from policygen.report.text import printable, width

ROW: Final = 66
BOX: Final = 46
MARGIN: Final = 24
INDENT: Final = 56
CHARACTER: Final = 7.8
"""Pixels of a character at 13 px, an upper estimate for usual sans-serif fonts."""
SMALL: Final = 6.9
"""The same at 11.5 px."""
_LEGEND = 62
_BORROWS, _RECLAIMS = 16, 32
"""Where the two lines leave the box of a parent, from its left side."""

_STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .name { font-weight: 600; } .small { font-size: 11.5px; fill: #59636e; }
  rect { fill: #f6f8fa; stroke: #59636e; } .pool { fill: #ddf4ff; stroke: #0969da; }
  .borrows, .reclaims, .plain { fill-opacity: 0; stroke-width: 1.6; }
  .borrows { stroke: #0969da; } .reclaims { stroke: #bc4c00; stroke-dasharray: 5 3; }
  .plain { stroke: #59636e; } .blue { fill: #0969da; } .red { fill: #bc4c00; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; } .small { fill: #9198a1; }
    rect { fill: #151b23; stroke: #9198a1; } .pool { fill: #121d2f; stroke: #4493f8; }
    .borrows { stroke: #4493f8; } .reclaims { stroke: #db6d28; } .plain { stroke: #9198a1; }
    .blue { fill: #4493f8; } .red { fill: #db6d28; }
  }
"""


class Box(NamedTuple):
    """Where a node is drawn."""

    node: GraphNode
    left: float
    top: float
    wide: float


def write(found: Overview, out: TextIO) -> None:
    """Write the picture: a legend, then the rows of each pool."""
    panels = [_boxes(nodes, top) for nodes, top in _stacked(found)]
    boxes = [box for panel in panels for box in panel]
    right = max((box.left + box.wide + 20 + _aside(box.node) for box in boxes), default=0)
    total = max(right, 640) + MARGIN
    bottom = max((box.top + BOX for box in boxes), default=_LEGEND) + MARGIN
    out.write(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total:.0f}" height="{bottom:.0f}" '
        f'viewBox="0 0 {total:.0f} {bottom:.0f}" role="img">\n'
        f"<title>{_text(f'Pools and teams of {found.name}')}</title>\n<style>{_STYLE}</style>\n"
    )
    out.writelines(f"{line}\n" for line in _legend())
    for panel in panels:
        out.writelines(f"{line}\n" for line in _panel(panel))
    out.write("</svg>\n")


def _stacked(found: Overview) -> Iterator[tuple[tuple[GraphNode, ...], float]]:
    top = float(MARGIN + _LEGEND)
    for nodes in graphs(found):
        yield nodes, top
        top += ROW * len(nodes) + MARGIN


def _boxes(nodes: Sequence[GraphNode], top: float) -> list[Box]:
    return [
        Box(node, MARGIN + INDENT * node.depth, top + ROW * row, _wide(node))
        for row, node in enumerate(nodes)
    ]


def _wide(node: GraphNode) -> float:
    return max(width(node.name) * CHARACTER, width(node.amounts) * SMALL) + 24


def _aside(node: GraphNode) -> float:
    return max((width(it) * SMALL for it in _beside(node)), default=0)


def _beside(node: GraphNode) -> list[str]:
    """The lines on the right of a box."""
    parts = [f"borrows up to {node.borrows}"] if node.borrows else []
    parts += [f"takes back {node.reclaims}"] if node.reclaims else []
    return [it for it in (", ".join(parts), ", ".join(node.models)) if it]


def _legend() -> Iterator[str]:
    lines = (
        ("borrows", "can borrow this much of what others below the same box do not use"),
        ("reclaims", "lends what it does not use, and can evict the borrowers to take it back"),
    )
    for number, (name, text) in enumerate(lines):
        y = MARGIN + number * 22
        yield f'<path class="{name}" d="M{MARGIN} {y} h36"/>'
        yield _head(name, MARGIN + 36 if name == "borrows" else MARGIN, y, right=name == "borrows")
        yield f'<text class="small" x="{MARGIN + 50}" y="{y + 4}">{text}</text>'


def _panel(panel: Sequence[Box]) -> Iterator[str]:
    by_id = {box.node.id: box for box in panel}
    for box in panel:
        if box.node.parent is not None:
            yield from _lines(by_id[box.node.parent], box)
    for box in panel:
        node = box.node
        pool = ' class="pool"' if node.parent is None else ""
        yield (
            f'<rect{pool} x="{box.left:.0f}" y="{box.top:.0f}" width="{box.wide:.0f}" '
            f'height="{BOX}" rx="6"/>'
        )
        x = box.left + 12
        yield f'<text class="name" x="{x:.0f}" y="{box.top + 19:.0f}">{_text(node.name)}</text>'
        yield f'<text class="small" x="{x:.0f}" y="{box.top + 37:.0f}">{_text(node.amounts)}</text>'
        for number, line in enumerate(_beside(node)):
            x, y = box.left + box.wide + 12, box.top + 19 + 18 * number
            yield f'<text class="small" x="{x:.0f}" y="{y:.0f}">{_text(line)}</text>'


def _lines(above: Box, box: Box) -> Iterator[str]:
    """The arrows between a team and the box above it: down to borrow, up to take back."""
    node, bottom = box.node, above.top + BOX
    upper, lower = box.top + 15, box.top + 31
    if node.borrows:
        x = above.left + _BORROWS
        yield f'<path class="borrows" d="M{x:.0f} {bottom:.0f} V{lower:.0f} H{box.left - 6:.0f}"/>'
        yield _head("borrows", box.left, lower, right=True)
    if node.reclaims:
        x = above.left + _RECLAIMS
        yield f'<path class="reclaims" d="M{box.left:.0f} {upper:.0f} H{x:.0f} V{bottom + 6:.0f}"/>'
        points = f"{x - 4:.0f},{bottom + 8:.0f} {x + 4:.0f},{bottom + 8:.0f} {x:.0f},{bottom:.0f}"
        yield f'<polygon class="red" points="{points}"/>'
    if not node.borrows and not node.reclaims:
        x = above.left + _BORROWS
        yield f'<path class="plain" d="M{x:.0f} {bottom:.0f} V{lower:.0f} H{box.left:.0f}"/>'


def _head(name: str, x: float, y: float, *, right: bool) -> str:
    """The head of a horizontal arrow with its tip at x."""
    back = x - 8 if right else x + 8
    hue = "blue" if name == "borrows" else "red"
    return f'<polygon class="{hue}" points="{back:.0f},{y - 4:.0f} {back:.0f},{y + 4:.0f} {x:.0f},{y:.0f}"/>'


def _text(text: str) -> str:
    return escape(printable(text))
