"""A ranking finds the best nodes, whatever changed before."""

import random

from policygen.simulate.placement.nodes import NodeTable
from policygen.simulate.placement.ranking import Ranking
from tests.simulate.placement.made import node, shape


class Remainder:
    """Scores a node by its number of pods; a node with five has no room."""

    def __init__(self, nodes: NodeTable) -> None:
        self.nodes = nodes

    def scored(self, candidates):
        room = [it for it in candidates if self.count(it) < 5]
        return room, [self.count(it) % 3 for it in room]

    def count(self, node):
        return self.nodes.pods[node].total()


def test_a_ranking_is_that_of_all_nodes_anew():
    nodes, pod, source = NodeTable([node(f"n{i}") for i in range(9)]), shape(), random.Random(1)
    scorer = Remainder(nodes)
    ranking = Ranking(nodes, scorer, range(1, 9))
    for _ in range(500):
        at = source.randrange(9)
        if scorer.count(at) and source.random() < 0.45:
            nodes.remove(at, pod)
        else:
            nodes.add(at, pod)
        if source.random() < 0.7:
            score, equal = ranking.best()
            room, scores = scorer.scored(range(1, 9))
            best = max(scores, default=0)
            assert score == best
            assert sorted(it for them in equal for it in them) == [
                it for it, own in zip(room, scores, strict=True) if own == best
            ]
