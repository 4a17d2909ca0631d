"""What why and fit do, from files to reports."""

from io import StringIO

import pytest

from policygen.app import simulate, why
from policygen.app.requests import ClusterRequest, SimulateRequest
from policygen.client import snapshot_file as snapshots
from policygen.core.errors import UsageError
from policygen.core.names import HOSTNAME
from policygen.report import remedy_words
from policygen.report.cause_words import reasons
from policygen.report.tables import TablePage
from policygen.report.why import fit_text
from policygen.report.why import text as write
from policygen.simulate.input_faults import ARRIVES_AFTER, RUNS_FOR
from policygen.simulate.result import JobState
from policygen.simulate.why.causes import CauseKind
from policygen.simulate.why.changes import SelectorChange
from policygen.simulate.why.fit import FitOutcome
from policygen.simulate.why.fit_jobs import FitRequest
from tests.client.looks import snapshot
from tests.servers.platform_draws import drawn
from tests.servers.rendering import json_documents
from tests.servers.specs import model, platform, pool, share, team
from tests.simulate.scenes import NODES, QUEUES, WORKLOAD
from tests.simulate.scenes import job as job_text
from tests.simulate.why.waiting import PLAIN, flavor, job, local, node, queue, text, thing

HOUR = 3600.0


@pytest.fixture
def request_(tmp_path):
    path = tmp_path / "objects.yaml"
    path.write_text(text(*PLAIN, job("large", pods=9), job("b")), "utf-8")
    return SimulateRequest(workloads=(str(path),), duration=0.0)


def test_a_name_without_a_workload_suggests_a_similar_one(request_):
    with pytest.raises(UsageError, match='did you mean "n/large"'):
        why.why(request_, ["n/lage"])


def test_only_what_waits_is_listed(request_):
    report = why.why(request_, [])
    assert report.waiting == 1
    assert [it.name for it in report.found] == ["n/large"]
    assert report.time.jobs == 2


def test_fit_of_an_unknown_team(request_):
    with pytest.raises(UsageError, match="team x has no LocalQueue"):
        why.would_fit(request_, FitRequest("x", 1))


def test_fit(request_):
    report = why.would_fit(request_, FitRequest("n", 7))
    assert not report.waiting
    assert report.answer.explanation.admission == ("f",)


def test_names_to_complete(request_, tmp_path):
    assert why.workload_names(request_) == ["n/large", "n/b"]
    large = tmp_path / "large.yaml"
    large.write_text("#" * 2**23, "utf-8")
    assert why.workload_names(request_._replace(workloads=(str(tmp_path),))) == []
    assert why.workload_names(request_._replace(workloads=("-",))) == []
    assert why.workload_names(request_._replace(workloads=("a\0b",))) == []


def test_a_large_folder_is_not_searched_completely(request_, tmp_path, monkeypatch):
    seen = []

    def found(path, _pattern):
        for i in range(10**6):
            seen.append(i)
            yield path

    monkeypatch.setattr(why.Path, "rglob", found)
    assert why.workload_names(request_._replace(workloads=(str(tmp_path),))) == []
    assert len(seen) <= 2**12


def test_a_folder_that_cannot_be_searched_has_no_names(request_, monkeypatch):
    def refused(_path, _pattern):
        raise PermissionError

    monkeypatch.setattr(why.Path, "rglob", refused)
    assert why.workload_names(request_) == []


def test_names_that_jobs_of_two_kinds_share(tmp_path):
    path = tmp_path / "objects.yaml"
    it = job("b", to="", after="20m")
    template = {**it["spec"]["template"], "metadata": {"labels": {"app": "b"}}}
    template["spec"] = {**template["spec"], "restartPolicy": "Always"}
    spec = {"selector": {"matchLabels": {"app": "b"}}, "template": template}
    path.write_text(
        text(*PLAIN, it, {**it, "kind": "Deployment", "apiVersion": "apps/v1", "spec": spec}),
        "utf-8",
    )
    request = SimulateRequest(workloads=(str(path),), duration=0.0)
    assert why.workload_names(request) == ["job/n/b", "deployment/n/b"]
    assert len(why.why(request, why.workload_names(request)).found) == 2
    with pytest.raises(UsageError, match="is submitted only after 20m"):
        why.why(request, ["n/b"], at=60.0)


def test_many_workloads_are_grouped_by_their_causes(tmp_path):
    path = tmp_path / "many.yaml"
    each = ([{"key": f"k{i}", "operator": "Exists"}] for i in range(why.MANY + 3))
    jobs = [job(f"j{i}", gpus=2, tolerations=it) for i, it in enumerate(each)]
    path.write_text(text(*PLAIN, *jobs, job("x", gpus=9), job("z", to="zz")), "utf-8")
    found = why.why(SimulateRequest(workloads=(str(path),), duration=0.0), [])
    assert (found.waiting, found.grouped) == (51, True)
    out = StringIO()
    write(found, TablePage(out))
    lines = out.getvalue().splitlines()
    assert any(it.startswith("49 workloads wait (ClusterQueue q): ") for it in lines)
    assert "  Together they request 98 GPUs of flavor f, and 0 are free." in lines
    assert any(it.startswith("  1. Raise nominalQuota") for it in lines)
    assert sum(it.startswith("Job n/") for it in lines) == 2


@pytest.mark.parametrize(("more", "jobs", "running"), [((), None, 0), (("c", 1), 3, 2)])
def test_new_jobs_beside_a_snapshot_are_submitted_to_it(tmp_path, more, jobs, running):
    """a holds 8 of 12 GPUs. Without new jobs, the state is that of the snapshot."""
    path, new = tmp_path / "prod.snapshot", tmp_path / "new.yaml"
    made = QUEUES + NODES + WORKLOAD + job_text("b", 8)
    snapshots.write(snapshot(made), path)
    new.write_text(job_text(*more) if more else "", "utf-8")
    request = SimulateRequest(
        workloads=(str(new),) if more else (), clusters=ClusterRequest(snapshots=(path,))
    )
    report = why.why(request, [])
    assert (report.time.jobs, report.time.running) == (jobs, running)
    assert [it.name for it in report.found] == ["nlp/b"]


@pytest.mark.parametrize("seed", [1, 2, 3, 7, 9, 10])
def test_the_same_jobs_wait_as_in_a_simulation_in_which_none_ends(tmp_path, monkeypatch, seed):
    """They arrive a second after each other, so that Kueue evicts none because of pods that are not ready."""
    platform = drawn(seed, events=(30, 60))
    jobs = [it for it in platform.events if it is not None]
    for i, it in enumerate(jobs):
        it["metadata"]["annotations"] = {ARRIVES_AFTER: f"{i}s"}
    spec, made = tmp_path / "spec.yaml", tmp_path / "jobs.yaml"
    spec.write_text(json_documents(platform.documents), "utf-8")
    made.write_text(json_documents(jobs), "utf-8")
    request = SimulateRequest((str(spec),), workloads=(str(made),), duration=0.0)
    monkeypatch.setattr(why, "MANY", 0)  # few changes are tried
    waiting = {name for it in why.why(request, []).found for name in (it.name, *it.equal)}
    played = simulate.simulate(request._replace(duration=1e9, until=len(jobs) + 60.0)).result
    assert not played.livelocks
    assert waiting == {it.name for it in played.jobs if not it.running}
    assert 0 < len(waiting) < len(jobs)


def test_ctrl_c_leaves_those_that_were_explained(request_, monkeypatch):
    explained = why._explained  # noqa: SLF001 - Ctrl-C comes while the second workload is explained

    def interrupted(explainer, it, *more, search=True):
        if it.name == "n/b" and search:
            raise KeyboardInterrupt
        return explained(explainer, it, *more, search=search)

    monkeypatch.setattr(why, "_explained", interrupted)
    report = why.why(request_, ["large", "b"])
    assert ([it.name for it in report.found], report.partial, report.omitted) == (
        ["n/large"],
        True,
        1,
    )
    out = StringIO()
    write(report, TablePage(out))
    assert out.getvalue().endswith("the report is partial: 1 workload not explained.\n")
    with pytest.raises(KeyboardInterrupt):
        why.why(request_, ["b"])


@pytest.fixture
def models(tmp_path):
    """A model with five replicas of 2 GPUs, and a quota of 4."""
    path = tmp_path / "spec.yaml"
    shared = platform(), pool("a100", 16), team("nlp", share(guarantee=4, limit=4))
    other = team("cv", share(guarantee=6))
    made = model("chat", "nlp", resources={"gpus": 2}, replicas=5)
    path.write_text(json_documents([*shared, other, made]), "utf-8")
    return SimulateRequest((str(path),), duration=0.0)


@pytest.mark.parametrize("names", [[], ["nlp/chat"], ["chat"]])
def test_equal_jobs_of_a_model_are_explained_once(models, names):
    """Two of five run. With the other 6 GPUs of the pool, all do."""
    report = why.why(models, names)
    (found,) = (it for it in report.found if it.waits)
    assert (found.name, found.equal, report.waiting) == (
        "nlp/chat-2", ("nlp/chat-3", "nlp/chat-4"), 3,
    )  # fmt: skip
    assert found.started == 3
    (remedy, *_) = found.for_equal
    assert [it.after for change in remedy.changes for it in change.edits] == ["10"]
    out = StringIO()
    write(report, TablePage(out))
    assert "\n3 equal Deployments wait, such as nlp/chat-2: " in out.getvalue()
    assert "With each of these changes, all 3 start now:" in out.getvalue()


def test_a_name_that_is_like_that_of_a_model(models):
    with pytest.raises(UsageError, match='did you mean "nlp/chat"'):
        why.why(models, ["nlp/chut"])


def test_a_priority_of_a_model_has_the_place_of_the_model(tmp_path):
    path = tmp_path / "spec.yaml"
    shared = (
        platform({"name": "high", "value": 9}),
        pool("a100", 16),
        team("nlp", share(guarantee=4, limit=4)),
    )
    made = model("chat", "nlp", resources={"gpus": 2}, replicas=3)
    path.write_text(json_documents([*shared, made]), "utf-8")
    report = why.why(SimulateRequest((str(path),), duration=0.0), ["nlp/chat-2"])
    (found,) = report.found
    assert found.place.startswith("spec.yaml:")


def test_a_gated_job_waits_without_a_name_too(tmp_path):
    path = tmp_path / "objects.yaml"
    gated = job("a", schedulingGates=[{"name": "example.com/data"}])
    path.write_text(text(*PLAIN, gated), "utf-8")
    request = SimulateRequest(workloads=(str(path),), duration=0.0)
    (found,) = why.why(request, []).found
    assert (found.name, found.cause.kind) == ("n/a", CauseKind.GATED)
    removed = request._replace(assume=("gate/example.com/data=5m",), duration=3600.0)
    assert not why.why(removed, [], at=600.0).found


def test_a_job_that_a_check_rejected_is_deactivated(tmp_path):
    path = tmp_path / "objects.yaml"
    checks = {"admissionChecks": [{"name": "c"}]}
    own = queue("q", admissionChecksStrategy=checks)
    check = thing("AdmissionCheck", "c", {"controllerName": "example.com/c"})
    path.write_text(text(flavor(), own, local(), check, job("a")), "utf-8")
    request = SimulateRequest(
        workloads=(str(path),), duration=3600.0, assume=("check/c=Rejected:1m",)
    )
    (found,) = why.why(request, [], at=300.0).found
    assert (found.cause.kind, found.cause.names) == (CauseKind.DEACTIVATED, ("c",))
    out = StringIO()
    write(why.why(request, [], at=300.0), TablePage(out))
    assert "Admission check c rejected it." in out.getvalue()


def test_what_is_not_modelled_does_not_count_as_waiting(tmp_path):
    path = tmp_path / "objects.yaml"
    spec = {"schedule": "0 1 * * *", "jobTemplate": {"spec": job("x")["spec"]}}
    path.write_text(text(*PLAIN, thing("CronJob", "a", spec, "n", "batch/v1"), job("b")), "utf-8")
    report = why.why(SimulateRequest(workloads=(str(path),), duration=0.0), [])
    assert (report.time.jobs, report.time.running, report.waiting) == (1, 1, 0)


def timed(it, after, lasts):
    it["metadata"]["annotations"] = {ARRIVES_AFTER: after, RUNS_FOR: lasts}
    return it


def chance(folder, *more):
    """A and b are on different nodes, and chance lets c join one of them: a ends after an hour."""
    jobs = [
        timed(job("a", 4), "0s", "1h"),
        timed(job("b", 4), "1s", "10h"),
        timed(job("c", 4), "2s", "10h"),
        *more,
    ]
    queues = flavor(), queue("q", nominal=24), local()
    path = folder / "objects.yaml"
    path.write_text(text(*queues, node("x"), node("y"), *jobs), "utf-8")
    return SimulateRequest(workloads=(str(path),))


def test_other_random_choices_of_the_schedulers_are_other_answers(tmp_path):
    request = chance(tmp_path)
    for at, outcome, other in (
        (HOUR / 2, FitOutcome(runs=False, after=HOUR / 2), "starts in 10h 3m"),
        (2 * HOUR, FitOutcome(runs=True), "starts in 8h 33m"),
    ):
        found = why.would_fit(request, FitRequest("n", 8), at=at)
        assert found.answer.outcome == outcome
        out = StringIO()
        fit_text(found, TablePage(out))
        words = f"  A tie: with other random choices of the schedulers, it {other}.\n"
        assert words in out.getvalue()
    assert not why.would_fit(request, FitRequest("n", 1), at=HOUR).answer.others


def test_what_a_job_does_then_with_other_random_choices(tmp_path):
    request = chance(tmp_path, timed(job("d", 8), "3s", "5h"))
    report = why.why(request, ["n/d"], at=2 * HOUR)
    assert [it.otherwise for it in report.found] == [(JobState.WAITING,)]
    out = StringIO()
    write(report, TablePage(out))
    words = "A tie: with other random choices of the schedulers, it waits at this time."
    assert words in out.getvalue()
    (found,) = why.why(request, ["n/b"], at=HOUR / 2).found
    assert not found.otherwise


SPOT_AND_STEADY = """
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: demo}
spec:
  sharedQueues: [{name: h100, pools: [spot, steady]}]
"""
SPOT_POOL = """
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: NAME}
spec:
  nodeSelector: {gpu: h100, life: NAME}
  gpu: {product: h100-80gb, perNode: 4}
  capacity: {nodes: 2, nodeAllocatable: {cpu: 96, memory: 1000Gi}}
  schedulingPolicy: {topologyAware: true}
"""
SPOT_TEAM = """
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: NAME}
spec:
  namespaces: [{name: NAME}]
  quotas: [{pool: spot, guarantee: 4}, {pool: steady, guarantee: 4}]
"""


def test_a_job_can_select_the_flavor_whose_topology_has_room(tmp_path):
    """The spot nodes are gone. Kueue still chooses spot for jobs that must borrow in each flavor."""
    pools = "".join(SPOT_POOL.replace("NAME", it) for it in ("spot", "steady"))
    teams = "".join(SPOT_TEAM.replace("NAME", it) for it in ("lab", "other"))
    (tmp_path / "spec.yaml").write_text(SPOT_AND_STEADY + pools + teams, "utf-8")
    names = ("steady-0", "steady-1")
    labels = ({"gpu": "h100", "life": "steady", HOSTNAME: it} for it in names)
    nodes = [node(it, 4) for it in names]
    for it, of in zip(nodes, labels, strict=True):
        it["metadata"]["labels"] = of
        it["status"]["allocatable"] |= {"cpu": "96", "memory": "1000Gi"}
    workloads = tmp_path / "jobs.yaml"
    workloads.write_text(text(*nodes, job("a", 4, 2, "h100", namespace="lab")), "utf-8")
    request = SimulateRequest(specs=(str(tmp_path / "spec.yaml"),), workloads=(str(workloads),))
    (found,) = why.why(request, ["lab/a"]).found
    assert found.cause.kind is CauseKind.TOPOLOGY_TOO_SMALL
    words = next(iter(reasons(found)))
    assert "not even an empty domain of the topology of flavor spot has room" in words
    first = found.remedies[0]
    assert first.changes == (SelectorChange("main", "life", None, "steady"),)
    assert remedy_words.remedy(first.changes) == "Select nodes with life: steady."
