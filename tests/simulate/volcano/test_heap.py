import random

from policygen.simulate.volcano.heap import PriorityQueue


def test_items_come_in_their_order():
    source = random.Random(1)
    items = [source.randint(0, 50) for _ in range(200)]
    queue = PriorityQueue(lambda one, other: one < other, items)
    assert [queue.pop() for _ in range(len(queue))] == sorted(items)
    assert not queue
