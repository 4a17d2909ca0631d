"""The paths of Volcano's queues, of which none may be above another."""

import json

from policygen.lint.volcano.hierarchy import conflicts, refused_later
from tests.objects import cluster, facts


def queue(name, path, weights=None):
    weights = "/".join("1" for _ in path.split("/")) if weights is None else weights
    annotations = {"volcano.sh/hierarchy": path, "volcano.sh/hierarchy-weights": weights}
    metadata = {"name": name, "annotations": annotations}
    made = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": metadata}
    return f"{json.dumps(made)}\n---\n"


def found(*queues):
    made = cluster("".join(queues).removesuffix("---\n"))
    return [(it.queue.name, it.below.name, it.on_create) for it in conflicts(made)]


def test_a_queue_above_an_earlier_one_is_refused():
    assert found(queue("b", "root/a/b"), queue("a", "root/a")) == [("a", "b", True)]


def test_a_queue_above_a_later_one_is_refused_at_its_next_update():
    several = queue("a", "root/a"), queue("b", "root/a/b")
    assert found(*several) == [("a", "b", False)]
    ((at, message),) = refused_later(facts("".join(several).removesuffix("---\n")))
    assert at.path[-1] == "volcano.sh/hierarchy"
    assert "so Volcano refuses every update of Queue a" in message


def test_a_path_without_root_is_below_root():
    assert found(queue("b", "a/b"), queue("a", "root/a")) == [("a", "b", True)]


def test_other_paths_do_not_conflict():
    assert found(queue("a", "root/a"), queue("b", "root/b"), queue("c", "root/a")) == []
    assert found(queue("a", "", ""), queue("b", "root/b")) == []
