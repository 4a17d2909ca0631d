"""The inputs of tests that simulate: files with objects, and the example of forty jobs."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "forty-jobs"
POLICY = (EXAMPLE / "policy.yaml").read_text("utf-8")


def written(folder, text, name="jobs.yaml"):
    path = folder / name
    path.write_text(text, "utf-8")
    return str(path)


def raised(folder):
    begin, end = POLICY.split("  name: speech", 1)
    text = f"{begin}  name: speech{end.replace('guarantee: 4', 'guarantee: 8', 1)}"
    return written(folder, text, "raised.yaml")
