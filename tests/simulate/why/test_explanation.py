"""Names of workloads, and which ones are pending."""

from tests.simulate.why.waiting import PLAIN, explain, explainer, job


def test_a_workload_has_several_names():
    it = explainer(*PLAIN, job("a"), job("a", namespace="m"))
    assert [one.name for one in it.named("n/a")] == ["n/a"]
    assert [one.name for one in it.named("job/n/a")] == ["n/a"]
    assert sorted(one.name for one in it.named("a")) == ["m/a", "n/a"]
    assert it.named("b") == []


def test_pending_workloads_are_those_without_quota_or_node():
    it = explainer(*PLAIN, job("a", pods=9), job("b", to=""))
    assert {one.name for one in it.pending()} == {"n/a", "n/b"}


def test_a_job_that_kueue_does_not_manage():
    found = explain("n/a", *PLAIN, job("a", rank="gone"))
    assert found.cause.kind.value == "not-managed"
    assert "gone" in found.cause.message
