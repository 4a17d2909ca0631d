"""`policygen lint` of mixed manifests: what each fast path saves, and kubeconform beside it.

    python benchmarks/lint_mixed.py [--documents 10000] [--seed 1] [--runs 5] [--kubeconform PATH]

The manifests are those of mixed_manifests.py: valid ones as YAML and as JSON, and the same number
of which half have a fault. Each fast path is switched off in turn, in a process of its own.
kubeconform uses the schemas of schemas/cluster and skips kinds without a schema. It is built with
Go unless --kubeconform has its path. All ratios are of medians; those of processor time depend less
on other load of the machine.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import median

import mixed_manifests
from lint_vs_kubeconform import build
from timing import Timing, in_turn, line

SCHEMAS = Path(__file__).parent.parent / "schemas" / "cluster"
WITHOUT = Path(__file__).parent / "lint_without.py"
MAX_MIB = 400.0


PATHS = {
    "yaml": ("lines", "fast YAML", "prevalidation", "two processes", "gc.disable"),
    "json": ("fast JSON", "prevalidation", "two processes", "gc.disable"),
}
"""What is switched off, one at a time, by the form of the input."""


def lint(folder: Path, without: str = "") -> list[str]:
    """The command that lints a folder, as users start it if no fast path is switched off."""
    program = [str(WITHOUT), without] if without else ["-m", "policygen"]
    return [sys.executable, *program, "lint", "-q", "--manifests", str(folder)]


def kubeconform(folder: Path, given: Path | None) -> list[str]:
    """The command of the peer, but for the manifests."""
    program = given or build(folder)
    schemas = folder / "schemas"
    schemas.mkdir()
    for path in SCHEMAS.glob("*/*/*.json"):
        it = json.loads(path.read_text("utf-8"))
        if "schema" in it:
            group = it["group"] or "v1"  # as kubeconform names the core group
            name = f"{group}-{path.parent.name}-{it['kind'].lower()}.json"
            (schemas / name).write_text(json.dumps(it["schema"]))
    where = f"{schemas}/{{{{.Group}}}}-{{{{.ResourceAPIVersion}}}}-{{{{.ResourceKind}}}}.json"
    return [str(program), "-summary", "-ignore-missing-schemas", "-schema-location", where]


def ratio(what: str, timing: Timing, other: Timing, note: str = "") -> None:
    """Print how much longer one takes than another."""
    wall, cpu = timing.median / other.median, median(timing.cpu) / median(other.cpu)
    print(f"ratio {what}: cpu {cpu:.2f}, wall {wall:.2f}{note}")


def main() -> None:
    """Make the manifests, time all, and print the ratios."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--documents", type=int, default=10_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--runs", type=int, default=5)
    arguments.add_argument("--per-file", type=int, default=100)
    arguments.add_argument("--kubeconform", type=Path)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        peer = kubeconform(folder, given.kubeconform)
        inputs = {}
        for what, faults in (("sound", 0), ("faulty", given.documents // 2)):
            made = mixed_manifests.objects(given.documents, given.seed, faults)
            both = mixed_manifests.write(folder / what, made, given.seed, given.per_file)
            inputs[what] = dict(zip(PATHS, both, strict=True))
        commands = {}
        for form, paths in PATHS.items():
            sound = inputs["sound"][form]
            commands[f"kubeconform, {form}"] = [*peer, str(sound)]
            commands[f"policygen, {form}"] = lint(sound)
            commands[f"{form}, faulty"] = lint(inputs["faulty"][form])
            for path in paths:
                commands[f"{form} without {path}"] = lint(sound, path)
        codes = (0, 1)  # 1: there are errors
        timings = dict(
            zip(commands, in_turn(list(commands.values()), given.runs, codes), strict=True)
        )
    for what, timing in timings.items():
        print(line(f"{what:35}", timing))
    for form, paths in PATHS.items():
        ours = timings[f"policygen, {form}"]
        for path in paths:
            ratio(f"{form} without {path} / with it", timings[f"{form} without {path}"], ours)
        bound = {"yaml": 1.0, "json": 0.5}[form]
        peers = timings[f"kubeconform, {form}"]
        ratio(f"{form} / kubeconform", ours, peers, f"; wanted: wall {bound:.2f} at most")
        more = median(timings[f"{form}, faulty"].cpu) - median(ours.cpu)
        each = more / (given.documents // 2) * 1000
        print(f"{form}: {each:.2f} ms of cpu for each fault; wanted: 0.20 at most")
    peak = max(timings[f"policygen, {form}"].peak_mib for form in PATHS)
    print(f"peak {peak:.0f} MiB; wanted: {MAX_MIB:.0f} at most")


if __name__ == "__main__":
    main()
