"""The list of what a spec does not say: computed from the rendered objects."""

from policygen.adopt.compare import spec_differences
from policygen.app import drift
from policygen.app.compile import compiled_text
from policygen.app.requests import RenderRequest
from policygen.documents.parse import mapping
from tests.adopt.round_trip import adopted, cluster, written
from tests.adopt.test_infer import HAND

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


def test_a_changed_field_appears_in_the_list():
    key = ("ClusterQueue team-b", "spec.queueingStrategy")
    assert key not in listed(HAND)
    strict = HAND.replace("  fairSharing", "  queueingStrategy: StrictFIFO\n  fairSharing")
    assert listed(strict)[key] == "is StrictFIFO here, and rendered as BestEffortFIFO"
