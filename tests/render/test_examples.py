"""Each example renders to its golden files in any environment, and yamllint accepts them."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml
from yamllint import linter
from yamllint.config import YamlLintConfig

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(
    path.name for path in (ROOT / "examples").iterdir() if (path / "expected").is_dir()
)

OPTIONS = {
    "ml-platform": ["--with", "workloads"],
    "node-autoscalers": ["--with", "node-autoscaler"],
    "rings": ["--cluster", "production"],
    "serving-slices": ["--with", "device-plugin", "--with", "mig-manager"],
    "team-manifests": ["--with", "volcano-config"],
    "ten-models": ["--with", "volcano-config"],
    "three-schedulers": [
        *("--with", "second-scheduler"),
        *("--with", "volcano-config"),
        *("--with", "admission"),
    ],
    "volcano-training": ["--with", "volcano-config"],
}
"""The options with which an example's golden files were rendered."""


MONITORING = ROOT / "examples" / "serving-slices" / "monitoring" / "rules.yaml"
"""Not in the golden file, since the servers of the tests have no PrometheusRules."""


def run(*arguments, env=None, cwd=ROOT):
    return subprocess.run(
        [sys.executable, "-m", "policygen", *map(str, arguments)],
        capture_output=True,
        cwd=cwd,
        env=env,
        check=False,
        timeout=60,
    )


def sources(name):
    """The spec files of an example: all files beside `expected`."""
    return sorted(path.relative_to(ROOT) for path in (ROOT / "examples" / name).glob("*.yaml"))


def render(name, *options, **settings):
    return run("render", *sources(name), *OPTIONS.get(name, ()), *options, **settings)


@cache
def rendered(name):
    """The same without options, once for all tests."""
    return render(name)


def test_the_stories_are_there():
    assert set(EXAMPLES) == {
        "articles",
        "forty-jobs",
        "kueue-team-tree",
        "ml-platform",
        "node-autoscalers",
        "rings",
        "serving-slices",
        "spot-and-on-demand",
        "team-manifests",
        "ten-models",
        "three-schedulers",
        "volcano-training",
    }


@pytest.mark.parametrize("name", EXAMPLES)
def test_golden_files(name, update):
    golden = ROOT / "examples" / name / "expected"
    done = rendered(name)
    assert done.returncode == 0, done.stderr.decode()
    if update:
        golden.mkdir(exist_ok=True)
        (golden / "manifests.yaml").write_bytes(done.stdout)
        (golden / "findings.txt").write_bytes(done.stderr)
    assert done.stdout.decode() == (golden / "manifests.yaml").read_text("utf-8")
    assert done.stderr.decode() == (golden / "findings.txt").read_text("utf-8")


def test_golden_rules_of_prometheus(update):
    options = ("--with", "monitoring", "--only", "PrometheusRule", "-q")
    done = run("render", *sources("serving-slices"), *options)
    assert done.returncode == 0, done.stderr.decode()
    if update:
        MONITORING.write_bytes(done.stdout)
    assert done.stdout.decode() == MONITORING.read_text("utf-8")


@pytest.mark.parametrize("name", EXAMPLES)
def test_output_passes_yamllint_as_shipped(name):
    text = rendered(name).stdout.decode()
    config = YamlLintConfig("extends: default")
    assert [str(problem) for problem in linter.run(text, config)] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_object_carries_the_labels_of_its_set(name):
    documents = list(yaml.safe_load_all(rendered(name).stdout))
    assert documents
    labels = [document["metadata"]["labels"] for document in documents]
    assert {label["app.kubernetes.io/managed-by"] for label in labels} == {"policygen"}
    assert len({label["policygen.dev/set"] for label in labels}) == 1


def test_bytes_do_not_depend_on_hash_seed_or_locale():
    expected = rendered("kueue-team-tree").stdout
    environment = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    for seed in range(8):
        for locale in ("C", "C.UTF-8"):
            env = {**environment, "PYTHONHASHSEED": str(seed), "LC_ALL": locale, "LANG": locale}
            if seed > 2 and locale == "C":
                continue  # the locale is another question than the seed
            assert render("kueue-team-tree", env=env).stdout == expected


def test_bytes_do_not_depend_on_the_order_of_files_and_documents(tmp_path):
    expected = run("render", *sources("kueue-team-tree")).stdout
    documents = []
    for path in sources("kueue-team-tree"):
        documents += (ROOT / path).read_text("utf-8").removeprefix("---\n").split("\n---\n")
    documents.reverse()
    for index, text in enumerate(documents):
        (tmp_path / f"{index}.yaml").write_text(text, "utf-8")
    assert run("render", tmp_path).stdout == expected
    (tmp_path / "all.yml").write_text("\n---\n".join(documents), "utf-8")
    assert run("render", tmp_path / "all.yml").stdout == expected


def test_a_folder_may_hold_its_own_golden_files():
    """README has `render examples/NAME`, and `expected/` lies inside that folder."""
    done = run("render", "examples/kueue-team-tree")
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == (ROOT / "examples/kueue-team-tree/expected/manifests.yaml").read_bytes()
