"""The models of a spec as jobs of `simulate`, `why` and `fit`."""

import io
import json

import pytest

from policygen.app import compare as app_compare
from policygen.app import simulate as app_simulate
from policygen.app import simulation_input, simulation_scene
from policygen.app import why as app_why
from policygen.app.requests import ClusterRequest, SimulateRequest
from policygen.client import snapshot_file as snapshots
from policygen.report import simulation as text
from policygen.report import simulation_changes, simulation_json
from policygen.report.tables import TablePage
from policygen.simulate.why.fit_jobs import FitRequest
from tests.app.simulations import ROOT, written
from tests.client.looks import snapshot
from tests.servers.rendering import json_documents
from tests.servers.specs import model, platform, pool, share, team
from tests.simulate.scenes import NODES, QUEUES, WORKLOAD

EXAMPLES = (
    "kueue-team-tree",
    "spot-and-on-demand",
    "ten-models",
    "three-schedulers",
    "volcano-training",
)


def spec(folder, *documents, name="spec.yaml"):
    shared = (
        platform(),
        pool("a100", 16),
        team("nlp", share(guarantee=8)),
        team("cv", share(guarantee=8)),
    )
    return written(folder, json_documents([*shared, *documents]), name)


def serving(name, owner="nlp", gpus=2, **more):
    return model(name, owner, resources={"gpus": gpus}, **more)


def states(report):
    return {it.name: it.running for it in report.result.jobs}


@pytest.mark.parametrize("name", EXAMPLES)
def test_models_are_what_their_objects_are_as_manifests(tmp_path, name):
    """The objects are valid, and as jobs of the input they replace the models."""
    request = SimulateRequest((str(ROOT / "examples" / name),), until=60.0)
    opened = simulation_input.by_content(request)
    read = simulation_input.read(opened, None, lambda _: None)
    data = simulation_scene.scene_of(opened, *read).models.data
    path = written(tmp_path, json_documents(data))
    alone = app_simulate.simulate(request)
    beside = app_simulate.simulate(request._replace(workloads=(path,)))
    tied = {it.name for one in (alone, beside) for it in one.result.jobs if it.either}
    assert states(alone).keys() == states(beside).keys()
    assert all(states(beside)[it] == runs for it, runs in states(alone).items() if it not in tied)
    assert sum(states(alone).values()) == sum(states(beside).values())
    assert alone.result.jobs
    assert any("run in jobs of the input" in it for it in beside.notes)


def test_a_spec_alone_shows_where_its_models_run(tmp_path):
    path = spec(tmp_path, serving("chat", replicas=3), serving("large", gpus=8, replicas=2))
    report = app_simulate.simulate(SimulateRequest((path,)))
    assert sum(states(report).values()) == 4
    out = io.StringIO()
    text.write(report, TablePage(out))
    lines = out.getvalue().splitlines()
    assert "GPUs that stay free when most are in use: 2 of 16 in pool a100." in lines
    assert any(it.startswith("nlp/large  nlp     1 of 2    16  a100") for it in lines)
    assert any(it.startswith("note: 2 models of the spec are simulated: ") for it in lines)
    out = io.StringIO()
    simulation_json.write(report, out)
    found = json.loads(out.getvalue())["models"]
    assert {it["model"]: it["podsRun"] for it in found} == {"nlp/chat": 3, "nlp/large": 1}


def data(path):
    """The objects of the models that a simulation adds."""
    request = simulation_input.by_content(SimulateRequest((path,)))
    read = simulation_input.read(request, None, lambda _: None)
    return simulation_scene.scene_of(request, *read).models


def test_a_scheduled_model_is_one_run_of_it(tmp_path):
    window = {"cron": "0 2 * * *", "timeZone": "Etc/UTC", "hours": 2}
    (found,) = data(spec(tmp_path, serving("night", workload="batch", schedule=window))).data
    assert (found["kind"], found["metadata"]["name"]) == ("Job", "night")
    assert found["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "a100"


def test_replicas_that_survive_a_node_leave_no_whole_node(tmp_path):
    """Each replica needs another node, because of the affinity that is rendered."""
    apart = {"availability": {"failureDomain": "node"}, "replicas": 2}
    models = (serving("chat", gpus=1, **apart), serving("big", gpus=8))
    assert (
        sum(states(app_simulate.simulate(SimulateRequest((spec(tmp_path, *models),)))).values())
        == 2
    )
    packed = (serving("chat", gpus=1, replicas=2), models[1])
    assert (
        sum(states(app_simulate.simulate(SimulateRequest((spec(tmp_path, *packed),)))).values())
        == 3
    )


def test_a_model_without_a_pool_is_named(tmp_path):
    found = data(spec(tmp_path, serving("chat"), serving("large", gpus=9)))
    assert (found.names, found.unplaced) == (("chat",), ("large",))


def test_a_job_of_the_input_waits_for_the_gpus_of_models(tmp_path):
    path = spec(tmp_path, serving("chat", gpus=8), serving("other", "cv", gpus=8))
    request = SimulateRequest((path,), duration=0.0)
    assert app_why.would_fit(request, FitRequest("nlp", 1)).waiting == 1
    report = app_why.why(request, [])
    assert report.time.text.endswith(" 2 models of the spec count as jobs.")
    free = app_why.would_fit(request._replace(models=False), FitRequest("nlp", 1))
    assert free.waiting == 0
    assert free.time.models == 0


def test_a_comparison_names_models_that_lose_their_gpus(tmp_path):
    old = spec(tmp_path, serving("chat"), serving("ranker", "cv", gpus=8))
    more = {"guarantee": 16}
    new = written(
        tmp_path,
        json_documents([
            platform(), pool("a100", 16), team("nlp", share(**more)), team("cv", share(guarantee=0)),
            serving("chat"), serving("ranker", "cv", gpus=8), serving("big", gpus=8), serving("old", gpus=6),
        ]),
        "new.yaml",
    )  # fmt: skip
    before, after = app_compare.compare(SimulateRequest((old,)), new)
    assert states(before) == {"nlp/chat": True, "cv/ranker": True}
    assert states(after) == {"nlp/chat": True, "cv/ranker": False, "nlp/big": True, "nlp/old": True}
    out = io.StringIO()
    simulation_changes.write((before, after), TablePage(out))
    rows = [it.split() for it in out.getvalue().splitlines()]
    assert ["cv/ranker", "1", "1", "->", "0", "8"] in rows
    assert ["nlp/big", "0", "->", "1", "0", "->", "1", "0", "->", "8"] in rows
    assert not any(it[:1] == ["nlp/chat"] for it in rows)


def test_models_of_a_spec_are_not_added_to_a_cluster(tmp_path):
    """The cluster has those that run. With --models, they count beside it."""
    made = tmp_path / "prod.snapshot"
    snapshots.write(snapshot(QUEUES + NODES + WORKLOAD), made)
    path = spec(tmp_path, serving("chat"))
    request = SimulateRequest((path,), clusters=ClusterRequest(snapshots=(made,)))
    assert "nlp/chat" not in states(app_simulate.simulate(request))
    assert "nlp/chat" in states(app_simulate.simulate(request._replace(models=True)))
