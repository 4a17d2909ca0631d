"""Targets older than the servers: Kueue's v1beta1, which 0.19 still serves and converts."""

from pathlib import Path

import pytest

from policygen.core.versions import parse
from policygen.lint.core.removed_versions import find, table
from tests.objects import objects
from tests.servers.apply import lines
from tests.servers.rendering import rendered

EXAMPLES = Path(__file__).parents[2] / "examples"
OLD, NEW = "kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta2"
WITH_QUEUES = ("articles", "kueue-team-tree", "spot-and-on-demand", "three-schedulers")
STAYS, RENAMED = "whenCanBorrow: Borrow", "whenCanBorrow: MayStopSearch"
"""The same decision: until 0.14, and from 0.15 on, which rewrites the old word on every write."""


def example(name: str) -> str:
    files = sorted((EXAMPLES / name).glob("*.yaml"))
    return "\n---\n".join(path.read_text(encoding="utf-8") for path in files)


def specs(cluster, out):
    """What the server stores of the Kueue objects, and how often each changed."""
    return {
        (thing["kind"], thing["metadata"].get("namespace"), thing["metadata"]["name"]): (
            live["metadata"].get("generation"),
            live.get("spec", live.get("value")),
        )
        for thing in out.objects
        if thing["apiVersion"].startswith("kueue.x-k8s.io/")
        for live in [
            cluster.get(
                NEW,
                thing["kind"],
                thing["metadata"]["name"],
                thing["metadata"].get("namespace"),
            )
        ]
    }


def test_the_api_server_is_the_release_that_its_module_pins(bench, built):
    said = bench.client.get("/version").body
    upstream = built["kubernetes"].upstream
    assert said["gitVersion"] == upstream.version
    assert f"{said['major']}.{said['minor']}" == upstream.minor


def test_server_does_not_serve_what_kubernetes_removed(bench, built):
    target = parse("kubernetes", built["kubernetes"].upstream.version)
    served = {}
    for api_version in {
        *table(),
        *(removal.successor for kinds in table().values() for removal in kinds.values()),
    } - {None}:
        answer = bench.client.get(f"/apis/{api_version}")
        kinds = answer.body["resources"] if answer.status == 200 else ()
        served[api_version] = {each["kind"] for each in kinds}
    for api_version, kinds in table().items():
        for kind in kinds:
            (thing,) = objects(
                f"{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: a}}}}"
            )
            removal = find(thing, target)
            if removal:
                assert kind not in served[api_version], thing
                assert not removal.successor or (
                    kind in served[removal.successor]
                    or "alpha" in removal.successor  # served only with a flag
                    or "beta" in removal.successor
                ), thing


@pytest.mark.parametrize("name", WITH_QUEUES)
def test_v1beta1_is_stored_as_what_a_newer_target_renders(cluster, name):
    old, new = rendered(example(name), kueue="0.14"), rendered(example(name), kueue="0.19")
    assert OLD in old.text
    assert NEW not in old.text
    cluster.apply(old.text)
    before = specs(cluster, old)
    cluster.apply(new.text)
    assert specs(cluster, new) == before


@pytest.mark.parametrize("name", WITH_QUEUES)
def test_only_the_renamed_word_moves_when_v1beta1_is_applied_again(cluster, name):
    out = rendered(example(name), kueue="0.14")
    staying = {
        queue
        for queue, thing in out.of("ClusterQueue").items()
        if thing["spec"]["flavorFungibility"]["whenCanBorrow"] == "Borrow"
    }
    outcome = cluster.apply_twice(out.text)
    assert not outcome.refused
    assert {document.name for document, _ in outcome.changed} == staying
    assert all("spec" not in change for _, found in outcome.changed for change in found)
    outcome = cluster.apply_twice(out.text.replace(STAYS, RENAMED))
    assert outcome.clean, "\n".join(lines(outcome))


def test_topology_is_all_that_0_13_renders_and_0_19_no_longer_serves(cluster):
    out = rendered(example("kueue-team-tree"), kueue="0.13")
    outcome = cluster.try_apply(out.text)
    assert [document.kind for document, _ in outcome.refused] == ["Topology"]
    assert "v1alpha1" in outcome.refused[0][1]
