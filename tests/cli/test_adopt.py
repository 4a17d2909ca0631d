"""`policygen adopt` on manifests and snapshots: outputs, exit codes, and input that cannot be adopted."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from policygen.client import snapshot_file
from policygen.kubernetes.snapshot import Gap, Seen, Snapshot
from tests.adopt.test_infer import HAND
from tests.objects import objects

ROOT = Path(__file__).parents[2]
TREE = ROOT / "examples" / "kueue-team-tree" / "expected" / "manifests.yaml"


@pytest.fixture
def queues(tmp_path):
    path = tmp_path / "queues.yaml"
    path.write_text(HAND, "utf-8")
    return path


def test_what_policygen_rendered_is_adopted_without_differences(run, tmp_path):
    code, out, err = run("adopt", "--manifests", TREE)
    assert (code, err.splitlines()[-1][:38]) == (0, "the spec renders every object that was")
    spec = tmp_path / "spec.yaml"
    spec.write_text(out, "utf-8")
    assert run("render", "-q", spec)[1] == TREE.read_text("utf-8")


def test_the_written_folder_is_a_valid_spec(run, queues, tmp_path):
    folder = tmp_path / "spec"
    code, out, err = run("adopt", "--manifests", queues, "-o", folder)
    assert (code, out) == (1, "")
    assert "platform.yaml" not in {it.name for it in folder.iterdir()}
    assert {it.name for it in folder.iterdir()} == {"pools.yaml", "teams.yaml"}
    assert "ClusterQueue team-b: spec.fairSharing" not in err
    assert run("validate", folder)[0] == 0
    assert run("adopt", "--manifests", queues, "-o", folder)[0] == 2  # never overwritten


def test_json_for_programs(run, queues):
    code, out, err = run("adopt", "--manifests", queues, "-f", "json")
    written = json.loads(out)
    assert (code, err) == (1, "")
    kinds = [it["kind"] for text in written["files"].values() for it in yaml.safe_load_all(text)]
    assert set(kinds) == {"ResourcePool", "Team"}
    assert "Cohort research" in {it["object"] for it in written["differences"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "contain no object"),
        ("apiVersion: v1\nkind: Service\nmetadata: {name: a}\n", "no queue, quota or priority"),
        ("a: [", "error"),
    ],
)
def test_input_that_cannot_be_adopted(run, tmp_path, text, message):
    path = tmp_path / "m.yaml"
    path.write_text(text, "utf-8")
    code, out, err = run("adopt", "--manifests", path)
    assert (code, out) == (2, "")
    assert message in err


def test_wrong_usage(run, queues):
    assert run("adopt")[0] == 2
    assert run("adopt", "--manifests", queues, "--snapshot", "a")[0] == 2
    code, _, err = run("adopt", "--manifests", queues, "--set", "prod")
    assert (code, "--set" in err) == (2, True)


def test_one_of_several_sets(run, tmp_path):
    one = TREE.read_text("utf-8")
    names = {it["metadata"]["labels"]["policygen.dev/set"] for it in yaml.safe_load_all(one)}
    (name,) = names
    other = one.replace(f"policygen.dev/set: {name}", "policygen.dev/set: other")
    path = tmp_path / "m.yaml"
    path.write_text(one + other.replace("name: ", "name: x-"), "utf-8")
    code, _, err = run("adopt", "--manifests", path)
    assert (code, "choose one with --set" in err) == (2, True)


def test_a_kind_that_was_not_read_comes_first(run, tmp_path):
    path = tmp_path / "cluster.snapshot"
    gap = Gap("kueue.x-k8s.io", "Cohort", "", "the server answered 403 (Forbidden)")
    seen = Seen(
        context="prod", taken=datetime(2026, 11, 23, tzinfo=UTC), server="v1.36.3", gaps=(gap,)
    )
    snapshot_file.write(Snapshot(seen, tuple(objects(HAND))), path)
    code, out, err = run("adopt", "--snapshot", path)
    assert code == 3
    assert err.startswith(
        "not read: Cohort.kueue.x-k8s.io could not be read: the server answered 403"
    )
    assert "kind: Team" in out


def test_a_snapshot_without_anything(run, tmp_path):
    path = tmp_path / "cluster.snapshot"
    gap = Gap("kueue.x-k8s.io", "ClusterQueue", "", "the server answered 403 (Forbidden)")
    seen = Seen(
        context="prod", taken=datetime(2026, 11, 23, tzinfo=UTC), server="v1.36.3", gaps=(gap,)
    )
    snapshot_file.write(Snapshot(seen, ()), path)
    code, out, err = run("adopt", "--snapshot", path)
    assert (code, out) == (3, "")
    assert "ClusterQueue.kueue.x-k8s.io could not be read" in err


def test_a_missing_snapshot_offers_the_nearest_file(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("prod.snapshot").touch()
    code, _, err = run("adopt", "--snapshot", "prdo.snapshot")
    assert (code, 'does not exist; did you mean "prod.snapshot"?' in err) == (3, True), err


def test_errors_name_the_objects_and_lines_of_the_input(run, tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text(HAND.replace("nominalQuota: 8, ", "nominalQuota: 1000000000039, "), "utf-8")
    code, out, err = run("adopt", "--manifests", path)
    assert (code, out) == (2, "")
    line = next(n for n, it in enumerate(HAND.splitlines(), 1) if "nominalQuota: 8, " in it)
    assert f"m.yaml:{line}:" in err
    assert (
        "ClusterQueue Team-A.cq (spec.resourceGroups[0].flavors[0].resources[0].nominalQuota)"
        in err
    )
    assert "adopted.yaml" not in err


@pytest.mark.parametrize("amount", ["-3", "{a: 1}", "99999999999999999999999"])
def test_an_invalid_amount_is_listed(run, tmp_path, amount):
    path = tmp_path / "m.yaml"
    host = "{name: cpu, nominalQuota: 80}, {name: nvidia.com/gpu"
    text = HAND.replace(
        "{name: nvidia.com/gpu, nominalQuota: 8, borrowingLimit: 0",
        f"{host}, nominalQuota: {amount}, borrowingLimit: 1",
    )
    path.write_text(text, "utf-8")
    code, out, err = run("adopt", "--manifests", path)
    assert (code, "kind: Team" in out) == (1, True), err  # and team-b has no cpu
    assert (
        'ClusterQueue Team-A.cq: spec.resourceGroups[0].flavors.a100.resources["nvidia.com/gpu"].nominalQuota: is '
        in err
    )


INVALID = """---
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat, namespace: b}
spec:
  replicas: many
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1.5}}}]}
---
apiVersion: v1
kind: Node
metadata: {name: odd}
status: {allocatable: {nvidia.com/gpu: -8}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: chat, namespace: b}
spec: {minReplicas: 9, maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g, namespace: b}
spec: {minMember: x}
---
apiVersion: v1
kind: Service
metadata: {name: s, namespace: b}
spec: {ports: 5}
"""


def test_fields_that_servers_refuse_are_listed_with_their_object(run, tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text(HAND + INVALID, "utf-8")
    code, out, _ = run("adopt", "--manifests", path, "-f", "json")
    listed = json.loads(out)["differences"]
    assert code == 1
    found = {(it["object"], it["field"]) for it in listed if it["message"].startswith("is invalid")}
    container = "spec.template.spec.containers[0]"
    assert found == {
        ("Deployment b/chat", "spec.replicas"),
        ("Deployment b/chat", f'{container}.resources.limits["nvidia.com/gpu"]'),
        ("LocalQueue a/user-queue", "spec.clusterQueue"),  # Team-A.cq
        ("Node odd", 'status.allocatable["nvidia.com/gpu"]'),
        ("HorizontalPodAutoscaler b/chat", "spec.maxReplicas"),
        ("PodGroup b/g", "spec.minMember"),
    }
