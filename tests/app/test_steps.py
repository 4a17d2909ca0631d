"""`policygen render --steps-from`: folders of applies."""

import re

import pytest
from click.testing import CliRunner

from policygen.app.requests import RenderRequest
from policygen.app.steps import steps
from policygen.cli.main import cli
from policygen.client import snapshot_file
from policygen.core.errors import UsageError
from tests.client.looks import snapshot

SPEC = """\
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: lab}
spec: {priorities: [{name: high, value: 10}]}
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: p}
spec:
  nodeSelector: {pool: p}
  gpu: {perNode: 8, memory: 80Gi}
  capacity: {nodes: 2, nodeAllocatable: {cpu: 64, memory: 512Gi}}
  scheduler: volcano
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: a}
spec: {namespaces: [{name: a}], quotas: [{pool: p, guarantee: 4}]}
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: b}
spec: {namespaces: [{name: b}], quotas: [{pool: p, guarantee: 12}]}
"""
MOVED = SPEC.replace("guarantee: 4", "guarantee: 8").replace("guarantee: 12", "guarantee: 8")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.yaml").write_text(SPEC)
    (tmp_path / "new.yaml").write_text(MOVED.replace("value: 10", "value: 20"))
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(cli, ["render", "new.yaml", "-q", *arguments])


def test_each_apply_is_a_folder_with_all_objects(files):
    done = run("--steps-from", "old.yaml", "-o", "steps")
    assert done.exit_code == 0, done.output
    assert done.stderr.splitlines() == [
        "steps: 2 applies; run in this order:",
        "kubectl delete priorityclass.scheduling.k8s.io high",
        "kubectl apply --server-side -f steps/1",
        "kubectl apply --server-side -f steps/2",
    ]
    first, last = (
        {it.name: it.read_text() for it in (files / "steps" / name).glob("*.yaml")}
        for name in ("1", "2")
    )
    assert first.keys() == last.keys()
    assert {it for it in first if first[it] != last[it]} == {"queue.a.p.yaml"}
    whole = run("-o", "whole")
    assert whole.exit_code == 0
    assert {it.name: it.read_text() for it in (files / "whole").glob("*.yaml")} == last
    again = run("--steps-from", "old.yaml", "-o", "steps")
    assert str(again.exception) == "-o steps already exists; name a new folder for the steps"


@pytest.mark.usefixtures("files")
def test_manifests_are_an_old_state_too():
    assert CliRunner().invoke(cli, ["render", "old.yaml", "-q", "-o", "there"]).exit_code == 0
    printed = run("--steps-from", "there").stdout
    assert printed == run("--steps-from", "old.yaml").stdout
    assert printed.startswith(
        "# First run: kubectl delete priorityclass.scheduling.k8s.io high\n# Apply 1 of 2\n---\n"
    )
    assert "# Apply 2 of 2\n---\n" in printed


def test_a_pod_group_comes_after_its_queue(files):
    model = """\
---
apiVersion: policygen.dev/v1alpha1
kind: Model
metadata: {name: train}
spec: {team: b, workload: training, resources: {gpus: 1}, gang: {size: 4, runAs: pods}}
"""
    (files / "new.yaml").write_text(SPEC + model)
    (files / "old.yaml").write_text(SPEC[: SPEC.rindex("---")])
    made = steps(RenderRequest(("new.yaml",), {}), "old.yaml").applies
    kinds = [{it.item.kind.name for it in step.manifests} for step in made]
    assert [("PodGroup" in it) for it in kinds] == [False] * (len(made) - 1) + [True]
    names = [{it.item.meta.name for it in step.manifests} for step in made]
    assert "b.p" in names[-2]


@pytest.mark.parametrize(
    "options", [("--check", "-o", "x"), ("--only", "Queue"), ("-o", "x.yaml"), ("--allow-empty",)]
)
def test_options_that_contradict_steps_are_refused(files, options):  # noqa: ARG001 - its folder
    done = run("--steps-from", "old.yaml", *options)
    assert done.exit_code == 2
    assert "--steps-from renders a folder for each apply" in done.output


def test_queues_of_others_can_prevent_every_order(files):
    old = CliRunner().invoke(cli, ["render", "old.yaml", "-q", "--only", "Queue"]).stdout
    begin, b = old.split("  name: b.p\n")
    foreign = b.replace("    policygen.dev/set: lab\n", "", 1)
    snapshot_file.write(snapshot(f"{begin}  name: b.p\n{foreign}"), files / "a.snapshot")
    (files / "new.yaml").write_text(MOVED[: MOVED.rindex("---")].replace("tee: 8", "tee: 16"))
    with pytest.raises(UsageError, match=r"refuses Queue a.p beside .* delete or shrink these"):
        steps(RenderRequest(("new.yaml",), {}), "a.snapshot")


def test_diff_names_the_command_for_a_spec(files):
    (files / "new.yaml").rename(files / "new one.yaml")
    command = "policygen render 'new one.yaml' --steps-from old.yaml -o steps/"

    def diff(*arguments):
        return CliRunner().invoke(cli, ["diff", *arguments]).stdout

    assert f"`{command}` writes them" in diff("old.yaml", "new one.yaml")
    shown = diff("old.yaml", "new one.yaml", "-f", "markdown", "--target", "volcano=1.14")
    assert f"\n    {command.replace(' --steps', ' --target volcano=1.14 --steps')}\n" in shown
    CliRunner().invoke(cli, ["render", "new one.yaml", "-q", "-o", "there"])
    shown = diff("old.yaml", "there")
    assert "apply order: " in shown
    assert "--steps-from" not in shown


def test_a_renamed_priority_is_deleted_last(files):
    renamed = SPEC.replace("name: high", "name: urgent").replace(
        "{name: b}\nspec", "{name: c}\nspec"
    )
    (files / "new.yaml").write_text(renamed)
    done = run("--steps-from", "old.yaml", "-o", "steps")
    assert done.stderr.splitlines()[1:] == [
        "kubectl delete queue.scheduling.volcano.sh b.p",  # the new queue needs its amounts
        "kubectl apply --server-side -f steps/1",
        "run last, when no workload names what is deleted:",
        "kubectl delete priorityclass.scheduling.k8s.io high",
    ]
    shown = CliRunner().invoke(cli, ["diff", "old.yaml", "new.yaml"]).stdout
    assert re.search(
        r"last +delete PriorityClass high \(now urgent\) when no workload names it", shown
    )
    assert re.search("- Queue b.p +renamed to c.p", shown)
