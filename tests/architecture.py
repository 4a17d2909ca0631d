"""Draws docs/architecture.svg from the layers in pyproject.toml and the imports of the code.

`python -m tests.architecture` writes it; tests/test_house.py holds that it is current.
"""

import ast
import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "policygen"
PICTURE = ROOT / "docs" / "architecture.svg"

WIDTH, ROW, BOX, MARGIN = 920, 104, 46, 24
ABOUT = {
    "cli": "arguments to a request",
    "app": "one recipe per command",
    "testing": "cases of policygen test",
    "adopt": "objects to a spec",
    "explain": "behind each value",
    "patch": "fields into manifests",
    "lint": "rules and their registry",
    "simulate": "Kueue's decisions",
    "report": "one module a format",
    "render": "plan to YAML",
    "drift": "cluster against the spec",
    "review": "spec against spec",
    "plan": "spec to typed objects",
    "client": "read live clusters",
    "kubernetes": "typed views of objects",
    "api_validation": "what servers refuse",
    "spec": "typed pools and teams",
    "hardware": "GPUs, nodes, models",
    "documents": "YAML and JSON text",
    "core": "findings, quantities; imported by all",
}
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .about { font-size: 11px; fill: #59636e; }
  rect { fill: #f6f8fa; stroke: #59636e; }
  path { fill: none; stroke: #0969da; stroke-opacity: .35; stroke-width: 1.4; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; } .about { fill: #9198a1; }
    rect { fill: #151b23; stroke: #9198a1; } path { stroke: #4493f8; stroke-opacity: .45; }
  }
"""


def layers():
    """Rows of room names, from the top."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (rows,) = (it["layers"] for it in contracts["contracts"] if it["name"] == "layers")
    return [
        [room.strip().removeprefix("policygen.") for room in row.replace("|", ":").split(":")]
        for row in rows
    ]


def imports():
    """Pairs of rooms of which the first imports the second, sorted."""
    found = set()
    for path in PACKAGE.glob("*/**/*.py"):
        room = path.relative_to(PACKAGE).parts[0]
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("policygen."):
                found.add((room, node.module.split(".")[1]))
    return sorted((a, b) for a, b in found if a != b)


def drawn():
    """The picture as SVG: a row for each layer, a box for each room, a line for each pair that imports."""
    rows, places = layers(), {}
    for number, row in enumerate(rows):
        width = (WIDTH - MARGIN * (len(row) + 1)) / len(row)
        width = min(width, 200)
        left = (WIDTH - width * len(row) - MARGIN * (len(row) - 1)) / 2
        for index, room in enumerate(row):
            places[room] = (left + index * (width + MARGIN), MARGIN + number * ROW, width)
    lines = []
    for upper, lower in imports():
        if upper not in places or lower not in places or lower == "core":
            continue
        (x1, y1, w1), (x2, y2, w2) = places[upper], places[lower]
        if y1 == y2:  # within a layer: from side to side
            start, end = (x1 + w1, x2) if x1 < x2 else (x1, x2 + w2)
            dip = y1 + BOX / 2
            lines.append(
                f"M{start:.0f} {dip:.0f} Q{(start + end) / 2:.0f} {dip + 40:.0f} {end:.0f} {dip:.0f}"
            )
            continue
        start, end = x1 + w1 / 2, x2 + w2 / 2
        top, bottom = y1 + BOX, y2
        bend = (bottom - top) / 2
        lines.append(
            f"M{start:.0f} {top:.0f} C{start:.0f} {top + bend:.0f} {end:.0f} {bottom - bend:.0f} "
            f"{end:.0f} {bottom:.0f}"
        )
    height = MARGIN * 2 + ROW * (len(rows) - 1) + BOX
    boxes = []
    for room, (x, y, width) in places.items():
        middle = x + width / 2
        boxes.append(
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{BOX}" rx="6"/>'
            f'<text x="{middle:.0f}" y="{y + 20:.0f}" text-anchor="middle">{escape(room)}</text>'
            f'<text class="about" x="{middle:.0f}" y="{y + 36:.0f}" text-anchor="middle">'
            f"{escape(ABOUT[room])}</text>"
        )
    paths = "\n".join(f'<path d="{line}"/>' for line in lines)
    body = "\n".join(boxes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
        'aria-label="The packages of policygen, in layers; each imports only those below">\n'
        f"<style>{STYLE}</style>\n{paths}\n{body}\n</svg>\n"
    )


if __name__ == "__main__":
    PICTURE.write_text(drawn(), "utf-8")
