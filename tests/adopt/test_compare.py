"""The list of what a spec does not say: computed from the rendered objects."""

import json
from random import Random

import pytest
import yaml

from policygen.adopt.compare import is_policy, spec_differences
from policygen.adopt.trees import Scope
from policygen.app import adopt, drift
from policygen.app.compile import compiled_text
from policygen.app.requests import RenderRequest
from policygen.core.errors import SpecError
from policygen.documents.files import Source
from policygen.documents.parse import mapping
from policygen.plan.extras import NODE_AUTOSCALER, WORKLOADS
from tests.adopt.changes import changed, lost
from tests.adopt.round_trip import adopted, cluster, rendered, written
from tests.adopt.test_infer import HAND, ROOT

CHECK = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: MultiKueueConfig
metadata: {name: sample}
spec: {clusters: [far]}
"""


def listed(text):
    inferred = adopted(text, rendered=False)
    rendered = drift.rendered(
        compiled_text(written(inferred), "adopted.yaml"), RenderRequest((), {})
    )
    found = spec_differences(cluster(text), inferred, rendered.expected, mapping)
    return {(it.object, it.field): it.message for it in found}


def test_fields_and_objects_that_differ_are_listed():
    found = listed(HAND + CHECK)
    text = "policygen renders no object of kind MultiKueueConfig"
    assert found["MultiKueueConfig sample", ""] == text
    assert found["ClusterQueue team-b", "metadata.name"].endswith("team-b.a100")
    assert ("ResourceQuota notebooks/gpus", "metadata.name") in found
    # Names that only follow the new names of other objects do not differ.
    assert ("LocalQueue a/user-queue", "spec.clusterQueue") not in found
    assert ("ClusterQueue team-b", "spec.cohortName") not in found


WORKLOAD = """---
apiVersion: batch/v1
kind: Job
metadata: {{name: train, namespace: a, labels: {{kueue.x-k8s.io/queue-name: {0}}}}}
spec: {{template: {{spec: {{containers: [{{name: x, image: x}}]}}}}}}
"""
QUEUE = """---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: v}
spec: {deserved: {nvidia.com/gpu: 2}, capability: {nvidia.com/gpu: 8}}
"""


def test_workloads_that_need_another_queue_name_are_listed():
    key = ("Job a/train", "")
    found = listed(HAND + WORKLOAD.format("user-queue"))
    name = "LocalQueue user-queue, which the spec renders as a100"
    assert found[key] == f"it names {name}; change its queue to a100"
    assert key not in listed(HAND + WORKLOAD.format("other"))
    job = "batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: train, namespace: a}\nspec: {queue: v, tasks: [{replicas: 1, template: {}}]}\n"
    found = listed(f"{HAND}{QUEUE}---\napiVersion: {job}")
    name = "Queue v, which the spec renders as v.volcano"
    assert found[key] == f"it names {name}; change its queue to v.volcano"


def test_a_changed_field_appears_in_the_list():
    key = ("ClusterQueue team-b", "spec.queueingStrategy")
    assert key not in listed(HAND)
    strict = HAND.replace("  fairSharing", "  queueingStrategy: StrictFIFO\n  fairSharing")
    assert listed(strict)[key] == "is StrictFIFO here, and rendered as BestEffortFIFO"


def test_objects_of_an_option_are_listed_with_the_option():
    (path,) = (ROOT / "examples" / "node-autoscalers").glob("*.yaml")
    source = Source(str(path), path.read_text("utf-8"), path)
    text = rendered(source, extras=frozenset({NODE_AUTOSCALER}))
    inferred = adopted(text)
    made = drift.rendered(compiled_text(written(inferred), "a.yaml"), RenderRequest((), {}))
    found = spec_differences(cluster(text), inferred, made.expected, mapping)
    messages = {it.object.partition(" ")[0]: it.message for it in found}
    text = (
        "the spec renders such an object only with --with node-autoscaler, so its fields were not"
    )
    assert messages["NodePool"].startswith(text)
    text = (
        "the spec does not render this object, or only with an option --with; it was not compared"
    )
    assert messages["ConfigMap"] == text


def objects_of(example):
    paths = sorted((ROOT / "examples" / example).glob("*.yaml"))
    sources = [Source(str(it), it.read_text("utf-8"), it) for it in paths]
    text = rendered(*sources, extras=frozenset({WORKLOADS}))
    return list(yaml.load_all(text, yaml.CSafeLoader))


def compared(documents):
    """The objects of the documents that a spec can be about, and what adopt makes of all."""
    there = cluster("\n---\n".join(map(json.dumps, documents)))
    name = adopt.infer.sets(there)[0]
    made = adopt.distilled(there, Scope(name, rendered=True))
    found = list(spec_differences(there, made.inferred, made.rendered.expected, mapping))
    spaces = {it.name for team in made.inferred.spec.teams for it in team.namespaces}
    return [it for it in there.objects if is_policy(it, spaces)], made, found


@pytest.mark.parametrize(
    "example", ["articles", "team-manifests", "three-schedulers", "volcano-training"]
)
def test_nothing_of_changed_objects_is_lost(example):
    """Fields and objects that were changed, removed or added are in the spec, or in the list."""
    documents, random = objects_of(example), Random(16)
    refused = []
    for _ in range(12):
        made_of, what = changed(documents, random)
        try:
            policy, made, found = compared(made_of)
        except SpecError:
            refused.append(what)
            continue
        renamed = made.inferred.renamed
        assert list(lost(policy, made.rendered.expected, found, renamed)) == [], what
    assert len(refused) <= 2, refused


def test_a_difference_that_is_not_listed_is_lost():
    documents = objects_of("volcano-training")
    for document in documents:
        document["metadata"].setdefault("annotations", {})["example.com/added"] = "yes"
        if document["kind"] == "Queue":
            document["spec"]["weight"] = 7
    policy, made, found = compared(documents)
    every = made.rendered.expected, found, made.inferred.renamed
    assert len(found) > len(documents)
    assert list(lost(policy, *every)) == []
    for it in found:
        assert list(lost(policy, every[0], [each for each in found if each is not it], every[2]))


POD_GROUPS = """---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: a.v}
spec: {parent: v, deserved: {example.com/a: 4}, capability: {example.com/a: 4}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: v}
spec: {deserved: {example.com/a: 8}, capability: {example.com/a: 8}}
"""
POD_GROUP = """---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: big.job, namespace: %s}
spec: {queue: a.v, minMember: 2, minResources: {example.com/a: 4}, priorityClassName: urgent}
"""


def test_pod_groups_become_models_although_their_names_and_priorities_are_not_valid():
    inferred = adopted(POD_GROUPS + POD_GROUP % "one" + POD_GROUP % "two", rendered=False)
    assert {it.name: it.priority for it in inferred.spec.models} == {
        "big-job": None,
        "two-big-job": None,
    }
    text = 'its priority class "urgent" does not exist, so the model has no priority'
    assert {it for it in inferred.left if "PodGroup" in it[0]} == {
        ("PodGroup one/big.job", text),
        ("PodGroup two/big.job", text),
    }


def test_volcano_pools_with_one_resource_have_node_groups():
    text = POD_GROUPS + POD_GROUPS.replace("name: v}", "name: w}").replace("a.v", "b.w").replace(
        "parent: v", "parent: w"
    )
    pools = {it.name: dict(it.node_selector) for it in adopted(text, rendered=False).spec.pools}
    assert {pools[it]["volcano.sh/nodegroup-name"] for it in ("v", "w")} == {"v", "w"}
    found = listed(text)
    assert found["Queue v", "spec.affinity"].startswith("is not set here, and rendered as")


def test_labels_and_annotations_that_no_spec_has_are_listed():
    text = HAND.replace("metadata: {name: team-b}", "metadata: {name: team-b, labels: {owner: b}}")
    found = listed(text)
    assert found["ClusterQueue team-b", "metadata.labels.owner"] == "is b here, and not rendered"


def test_quotas_without_a_team_are_listed():
    quota = """---
apiVersion: v1
kind: ResourceQuota
metadata: {name: q%s}
spec: {hard: {requests.nvidia.com/gpu: 8}}
"""
    found = listed(HAND + quota % "" + quota % "2, namespace: kube-system")
    assert found["ResourceQuota q", ""] == "the spec does not render this object"
    assert found["ResourceQuota kube-system/q2", ""] == "the spec does not render this object"
