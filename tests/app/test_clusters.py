"""`render` and `validate` of a Platform with clusters."""

import shutil
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from policygen.cli.main import cli

ROOT = Path(__file__).parents[2]


@pytest.fixture
def spec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples/rings/policy.yaml", tmp_path / "spec.yaml")
    return tmp_path / "spec.yaml"


def run(*arguments, **more):
    return CliRunner().invoke(cli, [*arguments], **more)


def test_each_cluster_has_a_folder(spec):
    done = run("render", "-q", "-", "-o", "out", "--kustomization", input=spec.read_text())
    assert done.exit_code == 0, done.output
    for name, gpus in (("staging", "4"), ("production", "32")):
        folder = Path("out") / name
        one = run("render", "-q", "spec.yaml", "--cluster", name, "-o", name)
        assert one.exit_code == 0
        written = {it.name: it.read_text() for it in folder.glob("*.yaml")}
        listed = yaml.safe_load(written.pop("kustomization.yaml"))
        assert written == {it.name: it.read_text() for it in Path(name).glob("*.yaml")}
        assert sorted(listed["resources"]) == sorted(written)
        queue = yaml.safe_load(written["clusterqueue.chat.h100.yaml"])
        resources = queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
        assert resources[-1]["nominalQuota"] == gpus


def test_a_check_finds_changes_and_folders_that_are_left(spec):
    check = ("render", "-q", "spec.yaml", "-o", "out", "--check")
    assert run(*check[:-1]).exit_code == 0
    assert run(*check).exit_code == 0
    spec.write_text(spec.read_text().replace("name: staging", "name: canary"))
    done = run(*check)
    assert type(done.exception).__name__ == "CheckFailed"
    message = str(done.exception)
    assert message.startswith("cluster canary\n--- ")
    assert "+++ b/clusterqueue.chat.h100.yaml" in message
    assert "out/staging: no cluster of the Platform has this name; delete the folder\n" in message


@pytest.mark.parametrize("options", [(), ("-o", "x.yaml"), ("--steps-from", "spec.yaml")])
@pytest.mark.usefixtures("spec")
def test_one_output_needs_one_cluster(options):
    message = str(run("render", "spec.yaml", *options).exception)
    assert message.startswith("the Platform has the clusters staging and production; choose one")


def test_names_of_clusters_are_checked(spec):
    message = str(run("render", "spec.yaml", "--cluster", "stagin").exception)
    assert message == '--cluster: cluster "stagin" does not exist; did you mean "staging"?'
    spec.write_text(spec.read_text().split("---\n", 2)[2])
    message = str(run("validate", "spec.yaml", "--cluster", "staging").exception)
    assert "the Platform has no clusters; omit --cluster" in message


def test_validate_checks_each_cluster(spec):
    assert run("validate", "spec.yaml").exit_code == 0
    spec.write_text(spec.read_text().replace("guarantee: 8, limit: 16", "guarantee: 14, limit: 16"))
    done = run("validate", "spec.yaml")
    assert done.exit_code == 2
    assert done.stderr.startswith('spec.yaml:18:43: error: cluster staging: pool "h100" has 16')
    assert run("validate", "spec.yaml", "--cluster", "production").exit_code == 0


def test_a_finding_of_one_cluster_names_it(spec):
    """Also that of the first one, if the others do not have it."""
    spec.write_text(spec.read_text().replace("{nodes: 2}", "{nodes: 2, nodeType: g2-standard-4}"))
    done = run("render", "spec.yaml", "-o", "out")
    named = [it for it in done.stderr.splitlines() if "cluster staging: " in it]
    assert [it.rpartition("[")[2] for it in named] == [
        "per-node-contradicts-node-type]",
        "node-type-contradicts-product]",
    ]
    assert all(it.startswith("spec.yaml:15:") for it in named)  # the nodeType of this cluster
    assert done.stderr.count("[scheduler-profiles-not-loaded]") == 1
    assert "cluster production: " not in done.stderr


def test_diff_and_lint_use_a_cluster(spec):
    old = Path("old.yaml")
    old.write_text(spec.read_text().replace("limit: 12", "limit: 10"))
    assert run("diff", "old.yaml", "spec.yaml").exit_code == 0  # the base did not change
    page = run("diff", "old.yaml", "spec.yaml", "--cluster", "staging").stdout
    assert "team chat  guaranteed" not in page
    assert "may reach 10 → 12 nvidia.com/gpu" in page
    # A state from before there were clusters is the same for each.
    old.write_text(spec.read_text().split("---\n", 2)[2])
    page = run("diff", "old.yaml", "spec.yaml", "--cluster", "staging").stdout
    assert "96 → 16 nvidia.com/gpu for all teams" in page
    assert run("lint", "spec.yaml", "--cluster", "staging").exit_code == 0


@pytest.mark.usefixtures("spec")
def test_a_kustomization_needs_a_folder():
    done = run("render", "spec.yaml", "--cluster", "staging", "--kustomization")
    assert done.exit_code == 2
    assert "--kustomization lists the files of a folder" in done.output


@pytest.mark.usefixtures("spec")
def test_findings_at_the_limit_stop_the_output():
    done = run("render", "spec.yaml", "--cluster", "staging", "--fail-on", "info")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "nothing is rendered: " in done.stderr
