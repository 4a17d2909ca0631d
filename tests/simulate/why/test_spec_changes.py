"""Changes of a spec that let workloads start, applied to the spec and simulated again."""

from pathlib import Path

import pytest
import yaml

from policygen.app import simulation_input
from policygen.app.requests import ClusterRequest, SimulateRequest
from policygen.app.simulation_scene import scene_of
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.why.changes import FieldChange, SpecChange, with_value
from policygen.simulate.why.explainer import Explainer
from policygen.simulate.why.scene_situation import situation

EXAMPLE = Path(__file__).parents[3] / "examples" / "forty-jobs"


def scene(spec, *more):
    request = SimulateRequest(
        specs=(str(spec),),
        workloads=(str(EXAMPLE / "jobs"), *more),
        duration=0.0,
        clusters=ClusterRequest(),
    )
    return scene_of(request, *simulation_input.read(request, None, lambda _: None))


@pytest.fixture(scope="module")
def example():
    return scene(EXAMPLE / "policy.yaml")


def explained(made, name):
    explainer = Explainer(made, arrivals(made))
    (one,) = explainer.named(name)
    return explainer.explain(one)


def edits(found):
    return [it for remedy in found.remedies for it in remedy.changes if isinstance(it, SpecChange)]


def raised(change):
    return [(it.name, it.pool, it.field, it.before, it.after) for it in change.edits]


def edited(changes, path):
    """The spec of the example after changes."""
    documents = list(yaml.safe_load_all((EXAMPLE / "policy.yaml").read_text("utf-8")))
    for it in (edit for change in changes for edit in change.edits):
        (i,) = (
            i
            for i, one in enumerate(documents)
            if (one["kind"], one["metadata"]["name"]) == (it.kind, it.name)
        )
        after = yaml.safe_load(it.after)
        documents[i] = with_value(documents[i], it.at.path, after)
    path.write_text(yaml.safe_dump_all(documents), "utf-8")
    return path


def held(made):
    """The workloads that hold quota before a change."""
    before = situation(made, arrivals(made))
    going = before.going_on(before.settle(keep=True))
    return {it.name: it for them in going.held.values() for it in them}


def starts(made, name, holders):
    """Whether a workload starts where these hold quota already."""
    jobs = arrivals(made)
    for it in jobs:
        if it.workload and it.workload.name in holders and it.name != name:
            it.workload.admission = holders[it.workload.name].admission
    explainer = Explainer(made, jobs)
    (one,) = explainer.named(name)
    return not explainer.explain(one, search=False).waits


def test_a_higher_guarantee_admits_although_more_would_not(example):
    """4 GPUs more than 6 let others take them, so no bisection finds it."""
    found = explained(example, "speech/speaker-id")
    (change,) = (it for it in edits(found) if len(it.edits) == 1)
    assert raised(change) == [("speech", "a100", "guarantee", "4", "6")]
    assert {it.name for it in change.effects} == {"speech.a100", "a100"}


@pytest.mark.parametrize("name", ["speech/speaker-id", "speech/denoise-train"])
def test_the_spec_with_a_remedy_admits_the_workload(example, name, tmp_path):
    holders = held(example)
    remedies = explained(example, name).remedies
    assert not [it for remedy in remedies for it in remedy.changes if isinstance(it, FieldChange)]
    found = [it for it in remedies if isinstance(it.changes[0], SpecChange)]
    assert found
    for i, remedy in enumerate(found):
        changed = edited(remedy.changes, tmp_path / f"{i}.yaml")
        assert starts(scene(changed), name, holders), remedy.changes


def test_no_change_exceeds_the_pool(example):
    """The pool has 32 GPUs. The other teams are guaranteed 20 of them."""
    found = explained(example, "vision/giant-pretrain")
    after = [
        (it.field, int(it.after))
        for remedy in found.later
        for change in remedy.changes
        if isinstance(change, SpecChange)
        for it in change.edits
        if it.name == "vision"
    ]
    assert after == [("limit", 32)]
