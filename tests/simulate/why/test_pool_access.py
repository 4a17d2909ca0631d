"""The nodes to which changes may move pods."""

from policygen.app import why
from policygen.app.requests import SimulateRequest
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.why.changes import QueueChange, SelectorChange, TolerationAdded
from policygen.simulate.why.explainer import Explainer
from policygen.simulate.why.fit import fit
from policygen.simulate.why.fit_jobs import FitRequest
from policygen.simulate.why.pool_access import PoolAccess, PoolBounds
from tests.app.simulations import ROOT, written
from tests.servers.rendering import json_documents
from tests.simulate.scenes import NODES, QUEUES, job, scene

SPEC = ROOT / "examples" / "three-schedulers" / "policy.yaml"


def pod(name, namespace, selector, gpus, **spec):
    """A Job that no queue takes."""
    amounts = {"nvidia.com/gpu": str(gpus)}
    containers = [{"name": "c", "image": "example.com/c:1", "resources": {"limits": amounts}}]
    template = {
        "containers": containers,
        "restartPolicy": "Never",
        "nodeSelector": selector,
        **spec,
    }
    metadata = {"name": name, "namespace": namespace}
    own = {"template": {"spec": template}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": own}


def opened(folder, *objects):
    path = written(folder, json_documents(objects))
    request = SimulateRequest((str(SPEC),), workloads=(path,), duration=0.0)
    return why._opened(request, None, lambda _: None)  # noqa: SLF001 - the scene of a request


def test_the_pools_of_a_queue_or_of_kube_scheduler(tmp_path):
    """Team lab has quotas with Kueue and Volcano, team product one with kube-scheduler."""
    state = opened(tmp_path, pod("a", "lab", {}, 1), pod("b", "product-live", {}, 1))
    access = PoolAccess(state.scene)
    pools = {
        it.name: {name.rpartition("-")[0] for name in access.nodes(it)}
        for it in state.jobs
        if it.name in ("lab/a", "lab/world-model", "data/feature-extraction-0", "product-live/b")
    }
    assert pools == {
        "lab/a": set(),
        "lab/world-model": {"training-h100"},
        "data/feature-extraction-0": {"batch-a100"},
        "product-live/b": {"serving-l4"},
    }


def test_no_change_moves_pods_to_a_pool_of_another_team(tmp_path):
    """Nodes of L4 GPUs have 4, so another label would let the pods start there."""
    tolerations = [{"operator": "Exists"}]
    asks = pod("a", "product-live", {"pool": "serving-l4"}, 8, tolerations=tolerations)
    state = opened(tmp_path, asks)
    explainer = Explainer(state.scene, state.jobs)
    (one,) = explainer.named("product-live/a")
    found = explainer.explain(one)
    changes = [it for remedy in found.remedies for it in remedy.changes]
    assert changes
    assert not any(isinstance(it, SelectorChange | TolerationAdded) for it in changes)


def test_a_job_stays_in_the_pool_that_was_named(tmp_path):
    """The gang holds 4 of 8 nodes. Nodes of other pools are free."""
    state = opened(tmp_path)
    asked = FitRequest("lab", 3, 9, pool="training-h100")
    found = fit(state.scene, state.jobs, asked).explanation
    changes = [it for remedy in found.remedies for it in remedy.changes]
    assert changes
    assert not any(isinstance(it, SelectorChange) for it in changes)


def test_without_a_spec_flavors_with_labels_are_pools():
    """Kueue counts what runs on the nodes of its flavors. Node cpus is of no flavor."""
    made = scene(QUEUES + NODES + job("a", 1) + job("b", 1, queue=""))
    access = PoolAccess(made)
    nodes = {it.name: access.nodes(it) for it in arrivals(made)}
    assert nodes == {"nlp/a": {"n0", "n1", "cpus"}, "nlp/b": {"cpus"}}


def test_bounds_of_queues_and_flavors():
    assert PoolBounds("a100", "nvidia.com/gpu").allow([QueueChange("q", "r")])
    assert not PoolBounds(queue=True).allow([QueueChange("q", "r")])
