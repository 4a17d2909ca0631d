"""Fields of older versions: read as the newest, shown as written."""

from policygen.kubernetes.cluster import Cluster
from tests.kubernetes.reading import place, read


def test_fields_of_v1beta1_are_read_as_the_newest_and_shown_as_written():
    text = """\
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: a}
spec:
  cohort: pool
  admissionChecks: [one, two]
  flavorFungibility: {whenCanBorrow: Borrow}
"""
    found = read(text)
    (queue,) = Cluster(found.objects).cluster_queues
    assert queue.fields.cohort_name == "pool"
    assert [it.name for it in queue.fields.admission_checks_strategy.admission_checks] == [
        "one",
        "two",
    ]
    assert queue.fields.flavor_fungibility.when_can_borrow == "MayStopSearch"
    finding = place(found, queue.at.to("spec", "cohortName"))
    assert (finding.path, finding.place.line) == ("spec.cohort", 5)
    strategy = queue.at.to("spec", "admissionChecksStrategy", "admissionChecks", 1, "name")
    assert place(found, strategy).path == "spec.admissionChecks[1]"
