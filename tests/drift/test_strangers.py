"""Objects of another spec with the same set name, and the rest of a former version."""

import pytest

from policygen.drift.strangers import strangers
from tests.objects import objects

MINE = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: nlp.a100}
spec: {cohortName: a100, resourceGroups: [{flavors: [{name: a100}]}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a100, namespace: nlp}
spec: {clusterQueue: nlp.a100}
"""
OTHER = MINE.replace("a100", "l40s").replace("nlp", "render")
CLASS = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: old}
value: 1
"""
QUEUE = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: old.%s}
spec: {resourceGroups: [{flavors: [{name: %s}]}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: x, namespace: old}
spec: {clusterQueue: old.%s}
"""


def names(text):
    return sorted(str(it) for it in strangers(objects(MINE), objects(text), objects(MINE)))


def test_a_set_without_a_connection_is_one_of_another_spec():
    assert names(OTHER) == [
        "ClusterQueue render.l40s",
        "LocalQueue render/l40s",
        "ResourceFlavor l40s",
    ]
    assert "WorkloadPriorityClass old" in names(OTHER + CLASS)


@pytest.mark.parametrize(
    "text",
    [
        "",
        CLASS,
        MINE.split("---")[1].replace("a100", "old"),
        QUEUE.replace(
            "%s", "a100"
        ),  # its LocalQueue names no object of the spec, but its ClusterQueue does
        OTHER.replace("namespace: render", "namespace: nlp"),
    ],
)
def test_what_names_an_object_or_namespace_of_the_spec_is_a_rest(text):
    assert names(text) == []


CHAIN = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: %s}
spec: {parentName: %s}
"""


def test_objects_that_are_connected_over_several_others_are_a_rest():
    queue = OTHER.split("---")[2].replace("cohortName: l40s", "cohortName: low")
    chain = CHAIN % ("top", "a100") + CHAIN % ("middle", "top") + CHAIN % ("low", "middle")
    assert names(f"{chain}---{queue}") == []


def test_a_rest_beside_another_spec():
    assert names(OTHER + QUEUE.replace("%s", "a100")) == names(OTHER)


def test_several_teams_of_another_spec_can_have_a_pool_of_the_same_name():
    """Before the first apply of the spec; after it, they could be teams that the spec had before."""
    two = MINE.replace("nlp", "vision") + MINE.replace("nlp", "speech")
    orphans = [it for it in objects(two) if it.kind != "ResourceFlavor"]
    mine = objects(MINE)
    assert strangers(mine, orphans, mine[:1]) == tuple(orphans)
    assert strangers(mine, orphans, mine) == ()
    assert strangers(mine, orphans[:2], mine[:1]) == ()  # the only team has a new name
    assert strangers(objects(MINE + two), orphans, ()) == ()


def test_a_team_connects_queues_of_volcano_after_its_pool_is_renamed():
    head = "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: %s}\nspec: {parent: %s}\n"
    old, new = (
        objects(head % (pool, "root") + head % (f"nlp.{pool}", pool) + head % (f"cv.{pool}", pool))
        for pool in ("a100", "a100-80gb")
    )
    assert strangers(new, old, ()) == ()
