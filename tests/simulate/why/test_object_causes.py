"""Objects that are missing, stopped or inactive."""

import pytest

from tests.simulate.why.waiting import PLAIN, explain, flavor, job, local, queue, thing

CHECK = {"admissionChecksStrategy": {"admissionChecks": [{"name": "k"}]}}
AWARE = {"nodeLabels": {"a": "b"}, "topologyName": "t"}
STOPPED = {"stopPolicy": "Hold"}


@pytest.mark.parametrize(
    "cause, about, things",
    [
        ("queue-missing", "LocalQueue n/q", (flavor(), queue("q"))),
        ("local-queue-stopped", "LocalQueue n/q", (flavor(), queue("q"), local(**STOPPED))),
        ("cluster-queue-missing", "LocalQueue n/q", (flavor(), queue("x"), local())),
        ("cluster-queue-stopped", "ClusterQueue q", (flavor(), queue("q", **STOPPED), local())),
        ("flavor-missing", "ClusterQueue q", (queue("q"), local())),
        ("topology-missing", "ClusterQueue q", (flavor(**AWARE), queue("q"), local())),
        ("admission-check-missing", "ClusterQueue q", (flavor(), queue("q", **CHECK), local())),
    ],
)
def test_a_queue_that_takes_no_workload(cause, about, things):
    found = explain("n/a", *things, job("a"))
    assert (found.cause.kind.value, found.cause.about) == (cause, about)
    assert found.remedies


def test_a_namespace_that_the_selector_does_not_select():
    selector = {"matchLabels": {"team": "nlp"}}
    namespace = thing("Namespace", "n", {}, version="v1", team="vision")
    found = explain(
        "n/a", flavor(), queue("q", namespaceSelector=selector), local(), namespace, job("a")
    )
    assert found.cause.kind.value == "namespace-not-selected"
    label, other = found.remedies
    assert label.changes[0].path == ("metadata", "labels", "team")
    assert other.changes[0].path == ("spec", "namespaceSelector")


def test_a_queue_that_is_active_is_no_cause():
    assert explain("n/a", *PLAIN, job("a")).cause.kind.value == "admissible"
