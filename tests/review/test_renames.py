"""Objects that a change renames."""

from policygen.core.finding import At
from policygen.documents.parse import mapping
from policygen.kubernetes.object import Object
from policygen.review.objects import object_changes
from policygen.review.renames import with_names


def queue(name, gpus=4, parent=None):
    amounts = {"nvidia.com/gpu": gpus}
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": {"deserved": amounts, **({"parent": parent} if parent else {})},
    }


def kueue(kind, name, namespace=None, **spec):
    meta = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": kind,
        "metadata": meta,
        "spec": spec,
    }


def names(old, new, known=None):
    both = ([Object.read(it, At(0)) for it in several] for several in (old, new))
    made = with_names(object_changes(*both, mapping), known or {}, mapping)
    return {str(it.object): it.other_names for it in made if it.other_names}, made


def test_a_queue_with_the_same_fields_is_renamed_and_so_are_those_below():
    old = [queue("a"), queue("b", 2, "a")]
    new = [queue("x"), queue("y", 2, "x")]
    assert names(old, new)[0] == {
        "Queue a": ("x",),
        "Queue b": ("y",),
        "Queue x": ("a",),
        "Queue y": ("b",),
    }


def test_what_is_not_sure_is_not_called_renamed():
    assert names([queue("a")], [queue("x", 5)])[0] == {}  # other amounts
    assert names([queue("a"), queue("b")], [queue("x")])[0] == {}  # either of them
    assert names([kueue("Cohort", "a")], [kueue("Cohort", "x")])[0] == {}  # no fields
    namespaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": it}} for it in "ax"
    ]
    assert names(namespaces[:1], namespaces[1:])[0] == {}


def test_a_queue_of_kueue_follows_its_flavor():
    def side(flavor, name):
        group = {"flavors": [{"name": flavor, "resources": [{"name": "gpu", "nominalQuota": 1}]}]}
        return [
            kueue("ResourceFlavor", flavor, nodeLabels={"gpu": "a100"}),
            kueue("ClusterQueue", name, resourceGroups=[{"coveredResources": ["gpu"], **group}]),
            kueue("LocalQueue", flavor, "nlp", clusterQueue=name),
        ]

    found, _ = names(side("a100", "nlp.a100"), side("gpu", "nlp.gpu"))
    assert found["ClusterQueue nlp.gpu"] == ("nlp.a100",)
    assert found["LocalQueue nlp/gpu"] == ("a100",)


def test_known_names_show_the_changed_fields():
    known = {("Queue", "", "a"): "a.v"}
    found, made = names([queue("a")], [queue("a.v", 6)], known)
    assert found == {"Queue a": ("a.v",), "Queue a.v": ("a",)}
    (added,) = (it for it in made if it.fields)
    assert [(it.path[-1], it.expected, it.found) for it in added.fields] == [
        ("nvidia.com/gpu", 4, 6)
    ]
