"""`policygen render` beside `helm template` on the same objects.

    python benchmarks/render_vs_helm.py [--objects 10000] [--runs 5] [--helm PATH]

Needs Go unless --helm names a binary of helm 4; it is built from benchmarks/helm/go.mod. The
chart has one template with a `range` over teams, each object laid out as policygen does, and
the values hold the numbers. Before anything is timed both outputs are compared, object by
object.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml
from specs import spec
from timing import in_turn, line

HERE = Path(__file__).parent


def documents(text: bytes) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Objects by kind, namespace and name."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found = {}
    for document in yaml.load_all(text, loader):
        if document:
            meta = document["metadata"]
            found[document["kind"], meta.get("namespace", ""), meta["name"]] = document
    return found


def chart(folder: Path, objects: dict[tuple[str, str, str], dict[str, Any]]) -> None:
    """A chart that prints the objects: shapes in the template, names and numbers in the values."""
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: policy\nversion: 0.1.0\n")
    teams, rest = [], []
    for (kind, _, name), it in objects.items():
        if kind == "ClusterQueue":
            cells = it["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
            selector = it["spec"]["namespaceSelector"]["matchExpressions"][0]
            quota = objects["ResourceQuota", selector["values"][0], "large"]["spec"]["hard"]
            teams.append(
                {
                    "name": name.removesuffix(".pool"),
                    "namespaces": selector["values"],
                    "hard": next(iter(quota.values())),
                    "cells": cells,
                }
            )
        elif kind not in {"Namespace", "LocalQueue", "ResourceQuota"}:
            rest.append(yaml.safe_dump(it, sort_keys=False))
    values = yaml.dump({"teams": teams}, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper))
    (folder / "values.yaml").write_text(values)
    (folder / "templates" / "policy.yaml").write_text(
        (HERE / "helm" / "policy.yaml.tpl").read_text() + "".join(f"---\n{text}" for text in rest)
    )


def build_helm(folder: Path) -> Path:
    """Make helm from its Go module; the checksums in go.sum are checked."""
    target = folder / "helm"
    subprocess.run(
        ["go", "build", "-o", str(target), "helm.sh/helm/v4/cmd/helm"],
        cwd=HERE / "helm",
        check=True,
    )
    return target


def main() -> None:
    """Compare, then time."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--objects", type=int, default=10_000)
    arguments.add_argument("--runs", type=int, default=5)
    arguments.add_argument("--helm", type=Path)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        helm = given.helm or build_helm(folder)
        source = folder / "spec.yaml"
        source.write_text(spec(given.objects))
        ours = [sys.executable, "-m", "policygen", "render", "-q", str(source)]
        rendered = subprocess.run(ours, check=True, capture_output=True).stdout
        objects = documents(rendered)
        chart(folder / "chart", objects)
        theirs = [str(helm), "template", "policy", str(folder / "chart")]
        printed = subprocess.run(theirs, check=True, capture_output=True).stdout
        if documents(printed) != objects:
            sys.exit("the chart prints other objects than policygen")
        print(f"{len(objects)} objects, {len(rendered) / 1e6:.1f} MB")
        timings = in_turn([ours, theirs], given.runs)
        print(line("policygen render", timings[0]))
        print(line("helm template", timings[1]))
        ratios = sorted(a / b for a, b in zip(timings[0].wall, timings[1].wall, strict=True))
        print(
            f"ratio policygen / helm: {ratios[len(ratios) // 2]:.2f} "
            f"({ratios[0]:.2f} to {ratios[-1]:.2f}); wanted at most 0.50"
        )


if __name__ == "__main__":
    main()
