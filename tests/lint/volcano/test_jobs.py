"""Volcano Jobs and their tasks as they are written."""

from policygen.lint.volcano.jobs import (
    ignored_minimums,
    names_known,
    number,
    replicas,
    specs,
    tasks,
)
from tests.objects import cluster


def spec(written):
    (it,) = specs(cluster(
        "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j}, "
        f"spec: {{minAvailable: 2, tasks: {written}}}}}\n---\n"
        "{apiVersion: batch/v1, kind: Job, metadata: {name: other}, spec: {}}"
    ))  # fmt: skip
    return it


def test_tasks_without_a_name_get_one():
    it = spec("[{name: a, replicas: 3}, {template: {}}]")
    assert [(name, replicas(task)) for name, task in tasks(it)] == [("a", 3), ("default1", 0)]
    assert number(it, "minAvailable") == 2


def test_a_number_of_another_type_is_not_known():
    (task,) = spec('[{replicas: "3"}]').items("tasks")
    assert replicas(task) is None


def test_names_are_known_where_they_are_texts():
    assert names_known(spec("[{name: a}, {}]"))
    assert not names_known(spec("[{name: 1}]"))
    assert not names_known(spec("{}"))


def test_a_minimum_above_the_replicas_is_left_to_the_rule_that_reports_it():
    assert ignored_minimums(spec("[{name: a, replicas: 3, minAvailable: 3}]")).total == 3
    assert ignored_minimums(spec("[{name: a, replicas: 1, minAvailable: 3}]")) is None
