"""The description of what was read of a cluster."""

from policygen.core.finding import At
from policygen.kubernetes.snapshot import Gap, GroupKind, Pod, Seen
from policygen.kubernetes.workloads import PodSpec
from tests.client.looks import TAKEN


def test_kinds_and_gaps_in_words():
    assert str(GroupKind("", "Pod")) == "Pod"
    assert str(GroupKind("batch", "Job")) == "Job.batch"
    assert str(Gap("batch", "Job", "", "")) == "Job.batch was not read"
    assert str(Gap("", "Pod", "a", "Forbidden")) == (
        "Pod in namespace a could not be read: Forbidden"
    )


def test_a_cluster_seen_from_inside_has_no_context():
    assert Seen("east", TAKEN, "").kubectl_context == "east"
    assert Seen("east", TAKEN, "", in_cluster=True).kubectl_context == ""


def test_a_pod_is_over_when_it_has_succeeded_or_failed():
    pod = Pod(2, 7, "a", "b", PodSpec(), phase="Running")
    assert not pod.done
    assert Pod(2, 7, "a", "b", PodSpec(), phase="Failed").done
    assert pod.at == pod.object.at == At(2, ("pods", 7))
    assert str(pod) == str(pod.object) == "Pod a/b"
