"""Simulate the same jobs with two states."""

import os
import signal
import tempfile
import time
from functools import partial
from pathlib import Path
from unittest import mock

import msgspec
import pytest
from click.testing import CliRunner

from policygen.app import compare as app_compare
from policygen.app import simulate as app_simulate
from policygen.app.requests import SimulateRequest
from policygen.cli.main import cli
from policygen.client import snapshot_file as snapshots
from policygen.core.errors import SpecError, UnreadError
from policygen.simulate.comparison import Comparison
from policygen.simulate.result import JobState
from tests.app.simulations import EXAMPLE, POLICY, raised, written
from tests.client.looks import snapshot
from tests.documents.test_git_files import git
from tests.own_process import in_own_process
from tests.simulate.scenes import NODES, QUEUES, WORKLOAD, job


@pytest.fixture
def example():
    return SimulateRequest(
        specs=(str(EXAMPLE / "policy.yaml"),), workloads=(str(EXAMPLE / "jobs"),)
    )


def test_ctrl_c_before_the_second_simulation_compares_nothing(tmp_path, monkeypatch):
    def interrupted(_steps, _progress):
        raise KeyboardInterrupt

    monkeypatch.setattr(app_simulate, "_watch", interrupted)
    spec = written(tmp_path, POLICY, "policy.yaml")
    jobs = str(EXAMPLE / "jobs" / "vision.yaml")
    (found,) = app_compare.compare(SimulateRequest(specs=(spec,), workloads=(jobs,)), spec)
    assert found.result.partial
    assert found.interrupted.endswith(f"{spec} was not simulated; nothing is compared")


def compared(progress=lambda _: None):
    jobs = str(EXAMPLE / "jobs")
    request = SimulateRequest(specs=(str(EXAMPLE / "policy.yaml"),), workloads=(jobs,))
    with tempfile.TemporaryDirectory() as folder:
        return app_compare.compare(request, raised(Path(folder)), progress=progress)


@in_own_process
def test_a_second_process_finds_the_same():
    expected = compared()
    with mock.patch.object(app_compare, "_MANY", 1):
        found = compared()
    encode = partial(msgspec.json.encode, enc_hook=str)
    assert [encode(it) for it in found] == [encode(it) for it in expected]


@in_own_process
def test_ctrl_c_while_the_second_process_simulates():
    """The second process shows its progress as soon as the first one has ended its simulation."""
    first = os.getpid()
    sent = []  # a second signal could meet the end of the first process

    def endless(steps, progress):
        while os.getpid() != first:
            progress("simulating")
            time.sleep(0.01)
        assert list(steps)

    def interrupt(words):
        if words and os.getpid() != first and not sent:
            sent.append(words)
            os.kill(first, signal.SIGINT)

    with (
        mock.patch.object(app_compare, "_MANY", 1),
        mock.patch.object(app_simulate, "_watch", endless),
    ):
        (report,) = compared(interrupt)
    assert not report.result.partial
    assert report.interrupted.endswith("this is the report of the first state alone")


def test_the_same_jobs_are_compared_under_two_specs(tmp_path, example):
    before, after = app_compare.compare(example, raised(tmp_path))
    assert [it.name for it in before.result.jobs] == [it.name for it in after.result.jobs]
    median = [
        {it.name: it.waiting_median for it in one.result.teams}["speech"] for one in (before, after)
    ]
    assert median[1] < median[0]


def test_rendered_manifests_use_the_nodes_and_configurations_of_the_spec(tmp_path):
    """They have neither; policygen names what a state lacks."""
    spec, out = str(EXAMPLE / "policy.yaml"), str(tmp_path / "out")
    assert CliRunner().invoke(cli, ["render", spec, "-o", out]).exit_code == 0
    # No node of the spec has 60 cores, so Kueue evicts the second job again and again.
    text = job("a", 8, queue="a100") + job("b", 1, queue="l4").replace("cpu: 4", "cpu: 60")
    jobs = written(tmp_path, text.replace("namespace: nlp", "namespace: vision"))
    for first, second, lent in ((spec, out, 1), (out, spec, 0)):
        request = SimulateRequest(specs=(first,), workloads=(jobs,))
        reports = app_compare.compare(request, second)
        assert reports[lent].lent == (
            f"{out} has no nodes or Configuration of Kueue; both simulations use those of {spec}"
        )
        before, after = (
            [(it.team, it.started, it.nodes, it.evicted) for it in one.result.jobs]
            for one in reports
        )
        assert before == after
        assert after[1][3] > 0
        assert reports[1 - lent].lent == ""
        assert reports[0].facts == reports[1].facts


def test_queues_of_volcano_keep_their_amounts_and_models_without_a_spec(tmp_path):
    """Rendered manifests have PodGroups of models; only a spec states guarantees."""
    spec, out = "examples/three-schedulers/policy.yaml", str(tmp_path / "out")
    assert CliRunner().invoke(cli, ["render", spec, "-o", out]).exit_code == 0
    jobs = written(tmp_path, job("a", 8, queue="batch-a100").replace("nlp", "lab"))
    for first, second in ((spec, out), (out, spec)):
        request = SimulateRequest(specs=(first,), workloads=(jobs,))
        results = [it.result for it in app_compare.compare(request, second)]
        for it in results:
            uses = {(team.name, use.pool): use for team in it.teams for use in team.uses}
            use = uses["lab", "training-h100"]
            assert (use.guarantee, use.limit) == (64, 64)
        states = [{it.name: it.state for it in result.jobs} for result in results]
        assert states[0] == states[1]
        assert set(states[0].values()) <= {JobState.ENDED, JobState.RUNNING}
        assert ("lab/world-model" in states[0]) is (first == spec)


def medians(reports):
    return [{it.name: it.waiting_median for it in one.result.teams} for one in reports]


def test_a_spec_of_a_git_revision(tmp_path, example, monkeypatch):
    """A branch raises a guarantee; the spec in the folder stays as it is."""
    git(tmp_path, "init", "-q", "-b", "main")
    raised(tmp_path)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "raise")
    (tmp_path / "raised.yaml").write_text(POLICY, "utf-8")
    monkeypatch.chdir(tmp_path)
    same = app_compare.compare(example, "raised.yaml")
    more = app_compare.compare(example, "git:main:raised.yaml")
    assert medians(same)[0] == medians(same)[1] == medians(more)[0]
    assert medians(more)[1]["speech"] < medians(more)[0]["speech"]
    old = app_compare.compare(example._replace(specs=("git:main:.",)), "raised.yaml")
    assert medians(old) == medians(more)[::-1]


def test_manifests_in_place_of_a_spec(tmp_path):
    """The second state has too little quota for a job. Its own jobs do not count."""
    old = written(tmp_path, QUEUES + NODES + job("b", 8), "old.yaml")
    new = written(tmp_path, QUEUES.replace(": 12}", ": 4}") + NODES + job("c", 1), "new.yaml")
    request = SimulateRequest(specs=(old,), workloads=(written(tmp_path, job("a", 4)),))
    before, after = app_compare.compare(request, new)
    ends = [{it.name: it.ended for it in one.result.jobs} for one in (before, after)]
    assert ends == [{"nlp/a": 3600, "nlp/b": 3600}, {"nlp/a": 3600, "nlp/b": None}]


def test_what_is_skipped_of_the_second_state_is_noted(tmp_path):
    """What is skipped of the first state is noted only there."""
    other = "---\napiVersion: example.com/v1\nkind: {}\nmetadata: {{name: a}}\n"
    old = written(tmp_path, QUEUES + NODES + other.format("Old"), "old.yaml")
    new = written(tmp_path, QUEUES + NODES + other.format("New") + "---\na: b\n", "new.yaml")
    jobs = written(tmp_path, job("a", 4) + other.format("Third"))
    found = app_compare.compare(SimulateRequest(specs=(old,), workloads=(jobs,)), new)
    words = "these objects have no effect on the simulation: 1 {} of example.com/v1 and 1 Third of example.com/v1"
    assert [it.notes[:-1] for it in found] == [
        (words.format("Old"),),
        ("policygen skipped 1 document without apiVersion or kind", words.format("New")),
    ]


def test_a_snapshot_is_compared_with_a_state(tmp_path):
    """Its jobs run in both states, and the jobs of a second snapshot do not count."""
    cluster = QUEUES + NODES
    old, new = tmp_path / "old.snapshot", tmp_path / "new.snapshot"
    snapshots.write(snapshot(cluster + WORKLOAD + job("b", 8)), old)
    snapshots.write(snapshot(cluster.replace(": 12}", ": 4}") + job("c", 1)), new)
    request = SimulateRequest(specs=(str(old),))
    before, after = app_compare.compare(request, str(new))
    names = [{it.name: it.ended is not None for it in one.result.jobs} for one in (before, after)]
    assert names == [{"nlp/a": True, "nlp/b": True}, {"nlp/a": True, "nlp/b": False}]
    spec = written(tmp_path, cluster, "more.yaml")
    before, after = app_compare.compare(request, spec)
    assert [it.ended for it in before.result.jobs] == [it.ended for it in after.result.jobs]


def test_a_second_state_that_cannot_be_read(tmp_path, example):
    (tmp_path / "no.snapshot").write_bytes(b"\x1f\x8bno")
    with pytest.raises(UnreadError, match=r"no\.snapshot: the snapshot is truncated or damaged"):
        app_compare.compare(example, str(tmp_path / "no.snapshot"))
    with pytest.raises(SpecError):
        app_compare.compare(example, str(tmp_path / "missing"))


POOL = """---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: %s}
spec:
  nodeSelector: {gpu: %s}
  gpu: {product: %s, perNode: %d}
  capacity: {nodes: %d, nodeAllocatable: {cpu: "100", memory: 1000Gi}}
  scheduler: kueue
"""
TEAM = """---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: %s}
spec:
  namespaces: [{name: %s}]
  quotas: [%s]
"""
A100 = POOL % ("a100", "a100", "NVIDIA-A100-SXM4-80GB", 8, 2)
L4 = POOL % ("l4", "l4", "NVIDIA-L4", 4, 1)


def timed(name, namespace, queue, gpus, after, runs, pods=1):
    times = f"policygen.dev/arrives-after: {after}, policygen.dev/runs-for: {runs}"
    text = job(name, gpus, pods=pods, annotations=times, queue=queue)
    return text.replace("namespace: nlp", f"namespace: {namespace}")


def test_every_number_of_a_small_comparison(tmp_path):
    """Before, each team has 8 of 16 A100. b1 (8 GPUs, 2h) and b2 (4, at 10m, 1h) of blue run at once.

    r1 (12 GPUs, at 30m, 1h) waits until b1 ends at 2h. Afterwards red has 12 guaranteed, so r1 preempts b1, which
    ran 30m: it begins again at 1h 30m. Kueue tries a job a second after an end. Team blue is renamed, and the pool l4 is removed with the job of red there.
    """
    both = "{pool: a100, guarantee: %d}, {pool: l4, guarantee: 2}"
    old = A100 + L4 + TEAM % ("red", "red", both % 8) + TEAM % ("blue", "blue", both % 8)
    one = "{pool: a100, guarantee: %d}"
    new = A100 + TEAM % ("red", "red", one % 12) + TEAM % ("azure", "blue", one % 4)
    jobs = (
        timed("b1", "blue", "a100", 8, "0s", "2h")
        + timed("b2", "blue", "a100", 4, "10m", "1h")
        + timed("r1", "red", "a100", 4, "30m", "1h", pods=3)
        + timed("l1", "red", "l4", 2, "0s", "1h")
    )
    request = SimulateRequest(
        specs=(written(tmp_path, old, "old.yaml"),), workloads=(written(tmp_path, jobs),)
    )
    reports = app_compare.compare(request, written(tmp_path, new, "new.yaml"))
    compared = Comparison(*(it.result for it in reports))
    hour = 3600.0
    found = {it.after.name: (it.waited, it.preempted, it.starts, it.ended) for it in compared.jobs}
    assert found == {
        "blue/b1": (hour + 1, 1, 0, 1.5 * hour + 1),
        "blue/b2": (0, 0, 0, 0),
        "red/r1": (-1.5 * hour - 1, 0, 0, -1.5 * hour - 1),
        "red/l1": (None, 0, -1, None),
    }
    azure, red = compared.teams
    assert (azure.name, azure.renamed, red.renamed) == ("azure", "blue", "")
    assert (azure.waited, azure.preempted) == (0.5 * hour + 0.5, 1)
    assert (azure.useful, azure.lost) == (0, 4 * hour)
    assert (red.waited, red.preempted) == (-1.5 * hour - 1, 0)
    assert (red.useful, red.lost) == (-2 * hour, 0)
    assert {it.pool: it.guarantee for it in azure.before.uses} == {"a100": 8, "l4": 2}
    assert {it.pool: it.guarantee for it in azure.after.uses} == {"a100": 4}
