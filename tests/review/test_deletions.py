"""Queues and priorities that are deleted last."""

from policygen.documents.parse import mapping
from policygen.review.apply_order import apply_order
from policygen.review.objects import object_changes
from policygen.review.renames import with_names
from tests.review.test_apply_order import POOL, made, queue


def priority(name, value=10):
    head = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    return {**head, "metadata": {"name": name}, "value": value}


JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "train", "namespace": "nlp"},
    "spec": {"template": {"spec": {"priorityClassName": "low", "containers": [{"name": "x"}]}}},
}


def last(old, new, *workloads):
    changes = with_names(object_changes(old.objects, new.objects, mapping), {}, mapping)
    after = made(*(it.data for it in new.objects), *workloads)
    return apply_order(old, new, changes, after).last


def test_a_renamed_priority_is_deleted_when_no_job_names_it():
    (found,) = last(made(priority("low")), made(priority("bronze")), JOB)
    assert (str(found.object), found.new_name) == ("PriorityClass low", "bronze")
    assert found.users == ("Job nlp/train",)
    assert found.why == "the server refuses new pods that name a deleted class"
    (other,) = last(made(priority("low")), made(priority("bronze", 20)))
    assert (other.new_name, other.users) == ("", ())


def test_removed_queues_are_deleted_after_the_apply_and_children_first():
    old = made(POOL, queue("a", 4), queue("b", 2, "a"), queue("c", 4))
    found = last(old, made(POOL, queue("c", 4)))
    assert [it.object.name for it in found] == ["b", "a"]
