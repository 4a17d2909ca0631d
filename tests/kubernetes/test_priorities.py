"""The priorities that workloads can have."""

from policygen.kubernetes.priorities import default, default_class, values
from tests.objects import cluster


def priority(name, value, more="", kind="PriorityClass", group="scheduling.k8s.io/v1"):
    return f"{{apiVersion: {group}, kind: {kind}, metadata: {{name: {name}}}, value: {value}{more}}}\n---\n"


TEXT = (
    priority("a", 10)
    + priority("b", 5, ", globalDefault: true")
    + priority("system-node-critical", 2000001000)
    + priority("c", 7, kind="WorkloadPriorityClass", group="kueue.x-k8s.io/v1beta2")
)


def test_the_classes_of_users_count():
    assert values(cluster(TEXT.removesuffix("---\n"))) == {5, 7, 10}


def test_the_default_is_that_of_a_class():
    assert default(cluster(TEXT.removesuffix("---\n"))) == 5
    assert default(cluster(priority("a", 10).removesuffix("---\n"))) == 0


def test_of_several_defaults_the_lowest_counts():
    text = priority("a", 10, ", globalDefault: true") + priority("b", 5, ", globalDefault: true")
    found = cluster(text.removesuffix("---\n"))
    assert (default_class(found).name, default(found)) == ("b", 5)
