"""The order of applies of two states."""

from policygen.core.finding import At
from policygen.documents.parse import mapping
from policygen.drift.changes import What
from policygen.drift.compare import FieldDifference
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.review.apply_order import apply_order, steps_of
from policygen.review.objects import ObjectChange, object_changes
from tests.client.looks import snapshot


def queue(name, gpus, parent="p", **labels):
    amounts = {"nvidia.com/gpu": gpus}
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name, "labels": labels},
        "spec": {"parent": parent, "deserved": amounts, "capability": amounts},
    }


def made(*things):
    return Cluster(Object.read(it, At(0)) for it in things)


POOL = queue("p", 8, "root")


def test_one_apply_has_no_order():
    old, new = made(POOL, queue("a", 4)), made(POOL, queue("a", 4), queue("b", 4))
    assert not apply_order(old, new, (), new).matters
    assert len(steps_of(old, new, (), always=True).steps) == 1


def test_amounts_that_move_need_two_applies():
    old, new = made(POOL, queue("a", 4), queue("b", 4)), made(POOL, queue("a", 6), queue("b", 2))
    assert [it.changed for it in apply_order(old, new, (), new).steps] == [("b",), ("a",)]


def test_only_queues_of_policygen_are_deleted_on_a_cluster():
    seen = snapshot().seen
    new = made(POOL, queue("a", 8))
    for labels, deleted in (({}, None), ({"policygen.dev/set": "default"}, ("b",))):
        things = [POOL, queue("a", 4), queue("b", 4, **labels)]
        old = Cluster((Object.read(it, At(0)) for it in things), seen)
        changes = list(object_changes(old.objects, new.objects, mapping))
        order = apply_order(old, new, changes, new)
        assert order.matters
        if deleted is None:
            assert order.unknown == "Volcano refuses Queue a beside the Queues that stay"
        else:
            # The growth of a is one apply, after the other Queue is gone.
            assert [it.delete for it in order.steps] == [deleted]


def test_queues_of_other_sets_and_specs_are_not_deleted():
    label = {"policygen.dev/set": "default"}
    new = made(POOL, queue("a", 8, **label))
    old = made(POOL, queue("a", 4), queue("b", 4, **label))
    of_another_spec = ObjectChange(
        What.REMOVED, made(queue("b", 4, **label)).objects[0], foreign=True
    )
    for changes in ((), (of_another_spec,)):
        order = apply_order(old, new, changes, new)
        assert order.unknown == "Volcano refuses Queue a beside the Queues that stay"


def test_an_object_that_the_server_refuses_to_change_is_deleted_first():
    both = [
        Object.read(
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": "high"},
                "value": value,
            },
            At(0),
        )
        for value in (1, 2)
    ]
    field = FieldDifference(("value",), 1, 2, ("value",))
    change = ObjectChange(What.CHANGED, both[1], (field,))
    order = apply_order(Cluster(both[:1]), Cluster(both[1:]), [change], Cluster(()))
    assert [(str(it.object), it.why) for it in order.recreated] == [
        ("PriorityClass high", "value is immutable")
    ]


def test_queues_that_are_deleted_before_an_apply_are_not_deleted_again():
    old, new = made(POOL, queue("a", 4), queue("b", 4)), made(POOL, queue("a", 8))
    changes = list(object_changes(old.objects, new.objects, mapping))
    order = apply_order(old, new, changes, new)
    assert [it.delete for it in order.steps] == [("b",)]
    assert order.last == ()
