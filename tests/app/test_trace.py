"""Reads the file of a trace."""

import gzip
import os
import threading
from collections import Counter

import pytest
from click.testing import CliRunner

from policygen.app.compare import compare
from policygen.app.requests import SimulateRequest
from policygen.app.simulate import simulate
from policygen.app.trace import read
from policygen.cli.main import cli
from policygen.core.errors import InvalidInputError, UnreadError, UsageError
from tests.simulate.scenes import QUEUES

DAMAGED = gzip.compress(b"time,duration,team\n" * 9, mtime=0)[:12] + b"\xff" * 20
TEXT = "\ufefftime,duration,team\n0,60,nlp\n5,60,nlp\n"


def test_a_file_can_be_compressed(tmp_path):
    plain, packed = tmp_path / "a.csv", tmp_path / "a.csv.gz"
    plain.write_text(TEXT, "utf-8")
    packed.write_bytes(gzip.compress(TEXT.encode()))
    shown = []
    for path in (plain, packed):
        assert [it.at for it in read(path, None, shown.append)] == [0, 5]
    assert shown == ["", ""]


def test_a_pipe_is_read_once(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(gzip.compress(TEXT.encode()),))
    writer.start()
    assert [it.at for it in read(path, None, lambda _: None)] == [0, 5]
    writer.join()


@pytest.mark.parametrize("content", [b"\x1f\x8bx", DAMAGED, b"time,duration,team\n0,60,\xff\n"])
def test_a_file_that_cannot_be_read(tmp_path, content):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(UnreadError, match=r"a\.csv: the trace cannot be read: "):
        read(path, None, lambda _: None)


def test_all_faults_are_in_the_error(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("time,duration,team\n0,-1,nlp\n1,inf,nlp\n", "utf-8")
    with pytest.raises(InvalidInputError, match="2 faults in"):
        read(path, "csv", lambda _: None)


def test_a_trace_without_known_teams_is_refused(tmp_path):
    path, queues = tmp_path / "a.csv", tmp_path / "queues.yaml"
    path.write_text("time,duration,team\n0,1,x\n", "utf-8")
    queues.write_text(QUEUES, "utf-8")
    request = SimulateRequest(workloads=(str(queues),), trace=path)
    with pytest.raises(
        UsageError, match=r"no job of the trace can be simulated: .* name x \(1 job\)"
    ):
        simulate(request)


TWO_POOLS = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: l4}
spec:
  nodeSelector: {pool: l4}
  taints: [{key: pool, value: l4, effect: NoSchedule}]
  gpu: {product: l4, perNode: 4}
  capacity: {nodes: 3}
  scheduler: SCHEDULER
  schedulingPolicy: {binPack: true}
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: t4}
spec:
  nodeSelector: {pool: t4}
  gpu: {product: t4, perNode: 4, resource: nvidia.com/gpu.t4}
  capacity: {nodes: 3}
  scheduler: SCHEDULER
  schedulingPolicy: {spread: true}
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: nlp}
spec:
  namespaces: [{name: nlp}]
  quotas: [{pool: l4, guarantee: 4}, {pool: t4, guarantee: 4}]
"""
HEADER = "time,duration,team,gpus,selector\n"


def nodes_of(folder, spec, text, **more):
    """How many pods each pool's nodes got, the fullest node first."""
    (folder / "spec.yaml").write_text(spec, "utf-8")
    (folder / "a.csv").write_text(text, "utf-8")
    request = SimulateRequest(
        specs=(str(folder / "spec.yaml"),), trace=folder / "a.csv", models=False, **more
    )
    report = simulate(request)
    pods = Counter()
    for it in report.result.jobs:
        pods.update(it.nodes)
    return {
        pool: sorted((n for name, n in pods.items() if name.startswith(pool)), reverse=True)
        for pool in ("l4", "t4")
    }, report


@pytest.mark.parametrize("scheduler", ["kueue", "kube-scheduler"])
def test_pods_of_a_trace_have_the_profile_of_their_pool(tmp_path, scheduler):
    """The policy of a spec also decides where the jobs of a trace run."""
    spec = TWO_POOLS.replace("SCHEDULER", scheduler)
    rows = [f"{at},1h,nlp,1,pool={pool}\n" for at in range(3) for pool in ("l4", "t4")]
    found, report = nodes_of(tmp_path, spec, HEADER + "".join(rows))
    assert found == {"l4": [3], "t4": [1, 1, 1]}
    assert not any("several" in it for it in report.notes)


def test_of_several_pools_of_kube_scheduler_the_first_is_taken_and_noted(tmp_path):
    spec = TWO_POOLS.replace("SCHEDULER", "kube-scheduler")
    found, report = nodes_of(tmp_path, spec, HEADER + "0,1h,nlp,1,\n1,1h,nlp,1,\n")
    assert found == {"l4": [2], "t4": []}
    assert report.notes[0] == (
        "team nlp has several pools for jobs with 1 GPU in each pod (l4, t4); those without a selector "
        "in the trace go to l4"
    )


def test_a_team_without_a_queue_uses_its_pool_of_kube_scheduler(tmp_path):
    spec = TWO_POOLS.replace("SCHEDULER", "kube-scheduler", 1).replace("SCHEDULER", "kueue")
    other = spec.replace("quotas: [{pool: l4, guarantee: 4}, ", "quotas: [").replace(
        ": nlp", ": own"
    )
    team = spec.rpartition("---")[2].replace(", {pool: t4, guarantee: 4}", "")
    text = HEADER + "0,1h,nlp,1,\n0,1h,nlp,1,\n0,1h,own,1,\n"
    found, _ = nodes_of(tmp_path, f"{other}---{team}", text)
    assert found == {"l4": [2], "t4": [1]}


def test_rendered_manifests_that_are_compared_have_the_profiles_of_the_spec(tmp_path):
    spec = TWO_POOLS.replace("SCHEDULER", "kueue")
    (tmp_path / "spec.yaml").write_text(spec, "utf-8")
    rendered = CliRunner().invoke(cli, ["render", "-q", str(tmp_path / "spec.yaml")])
    (tmp_path / "rendered.yaml").write_text(rendered.stdout, "utf-8")
    rows = [f"{at},1h,nlp,1,pool=l4\n" for at in range(3)]
    (tmp_path / "a.csv").write_text(HEADER + "".join(rows), "utf-8")
    request = SimulateRequest(specs=(str(tmp_path / "rendered.yaml"),), trace=tmp_path / "a.csv")
    reports = compare(request, str(tmp_path / "spec.yaml"))
    assert [[it.nodes for it in one.result.jobs] for one in reports] == [[{"l4-0": 1}] * 3] * 2
