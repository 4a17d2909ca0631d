"""The nodes with room for the pods of one shape, the best first.

Nodes with equal common scores are a class. Each class keeps lists of nodes by their own score, so that
the best node is found without a look at the others, and a change moves one node.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence

from policygen.simulate.placement.common_scores import Classes, CommonPart
from policygen.simulate.placement.nodes import NodeTable
from policygen.simulate.placement.own_scores import Scorer
from policygen.simulate.placement.pod_filters import PodFilter


class Class:
    """Nodes that have equal common scores."""

    __slots__ = ("buckets", "key", "size")

    def __init__(self, key: tuple[Hashable, ...]) -> None:
        self.key = key
        self.size = 0
        self.buckets: dict[int, Bucket] = {}


class Bucket:
    """Nodes of a class that have the same own score."""

    __slots__ = ("nodes", "of", "score")

    def __init__(self, of: Class, score: int) -> None:
        self.of = of
        self.score = score
        self.nodes: list[int] = []


class Ranking:
    """The nodes with room for the pods of one shape."""

    def __init__(
        self,
        nodes: NodeTable,
        scorer: Scorer,
        eligible: Iterable[int],
        parts: Mapping[str, tuple[int, CommonPart]] | None = None,
        filters: Sequence[PodFilter] = (),
    ) -> None:
        self.scorer = scorer
        eligible = list(eligible)
        self.parts = [
            (weight, part)
            for weight, part in (parts or {}).values()
            if part.moves or len(set(map(part.key, eligible))) > 1
        ]
        self._filters = filters
        self._keys: Sequence[Classes] = (*(part for _, part in self.parts), *filters)
        self._following: Sequence[Classes] = (
            *(part for _, part in self.parts if part.moves),
            *filters,
        )
        self._nodes = nodes
        self._eligible = [False] * len(nodes.all)
        for it in eligible:
            self._eligible[it] = True
        self._classes: dict[tuple[Hashable, ...], Class] = {}
        if self._keys:
            self._class = [Class(())] * len(nodes.all)
            columns = (map(part.key, eligible) for part in self._keys)
            for it, key in zip(eligible, zip(*columns, strict=True), strict=True):
                self._class[it] = self._classes.get(key) or self._new_class(key)
        else:
            self._class = [self._classes.setdefault((), Class(()))] * len(nodes.all)
        self._bucket: list[Bucket | None] = [None] * len(nodes.all)
        self._place = [0] * len(nodes.all)
        """The index of each node in the list of its bucket."""
        self._seen = len(nodes.changed)
        self._fill(eligible)

    def best(self) -> tuple[int, Sequence[Sequence[int]]]:
        """The highest score, without common scores that are equal everywhere, and lists of all nodes that have it.

        The lists are empty if no node has room. Do not change them.
        """
        self.catch_up()
        classes = [it for it in self._classes.values() if it.size]
        for i, filter_ in enumerate(self._filters, len(self.parts)):
            refusals = filter_.refusals([it.key[i] for it in classes])
            classes = [it for it, why in zip(classes, refusals, strict=True) if not why]
        if not classes:
            return 0, ()
        if len(classes) == 1:
            score = max(classes[0].buckets)
            return score, (classes[0].buckets[score].nodes,)
        common = self._common(classes)
        tops = [max(it.buckets) + more for it, more in zip(classes, common, strict=True)]
        score = max(tops)
        return score, tuple(
            it.buckets[score - more].nodes
            for it, more, top in zip(classes, common, tops, strict=True)
            if top == score
        )

    def _common(self, classes: Sequence[Class]) -> list[int]:
        sizes = [it.size for it in classes]
        total = [0] * len(classes)
        for i, (weight, part) in enumerate(self.parts):
            found = part.scores([it.key[i] for it in classes], sizes)
            total = [one + weight * it for one, it in zip(total, found, strict=True)]
        return total

    def catch_up(self) -> None:
        """Score the nodes again that changed since the last time."""
        changed = self._nodes.changed
        if self._seen == len(changed):
            return
        fresh = set(changed[self._seen :])
        if self._following:
            changes = self._nodes.changes
            for i in range(self._seen, len(changed)):
                for part in self._following:
                    part.follow(changed[i], *changes[i])
            for node in fresh:
                if self._eligible[node]:
                    self._class[node] = self._class_of(node)
        self._seen = len(changed)
        eligible = self._eligible
        self._rank([it for it in fresh if eligible[it]])

    def forget(self) -> None:
        """The log of changes begins anew; the ranking must be up to date."""
        self._seen = 0

    def _class_of(self, node: int) -> Class:
        key = tuple(part.key(node) for part in self._keys)
        return self._classes.get(key) or self._new_class(key)

    def _new_class(self, key: tuple[Hashable, ...]) -> Class:
        found = self._classes[key] = Class(key)
        return found

    def _fill(self, nodes: Sequence[int]) -> None:
        """Put nodes that are in no bucket into those of their scores, as `_rank` does."""
        room, scores = self.scorer.scored(nodes)
        held, classes, places = self._bucket, self._class, self._place
        for node, score in zip(room, scores, strict=True):
            of = classes[node]
            target = of.buckets.get(score)
            if target is None:
                target = of.buckets[score] = Bucket(of, score)
            of.size += 1
            places[node] = len(target.nodes)
            target.nodes.append(node)
            held[node] = target

    def _rank(self, nodes: Sequence[int]) -> None:
        """Move nodes to the buckets of their scores, or out of all."""
        room, scores = self.scorer.scored(nodes)
        held, classes, places = self._bucket, self._class, self._place
        for node, score in zip(room, scores, strict=True):
            of = classes[node]
            if not of.size:
                of = classes[node] = self._classes.setdefault(of.key, of)
            target = of.buckets.get(score)
            old = held[node]
            if target is None:
                target = of.buckets[score] = Bucket(of, score)
            elif target is old:
                continue
            if old is not None and old.of is of:
                # As _take does, without the cost of a call: most nodes stay in their class.
                last = old.nodes.pop()
                if last != node:
                    old.nodes[places[node]] = last
                    places[last] = places[node]
                elif not old.nodes:
                    del of.buckets[old.score]
            else:
                of.size += 1
                if old is not None:
                    self._take(node, old)
            places[node] = len(target.nodes)
            target.nodes.append(node)
            held[node] = target
        if len(room) < len(nodes):
            self._drop(set(nodes).difference(room))

    def _drop(self, nodes: Iterable[int]) -> None:
        """These nodes have no room."""
        for node in nodes:
            if (old := self._bucket[node]) is not None:
                self._take(node, old)
                self._bucket[node] = None

    def _take(self, node: int, bucket: Bucket) -> None:
        last = bucket.nodes.pop()
        if last != node:
            place = self._place[node]
            bucket.nodes[place] = last
            self._place[last] = place
        of = bucket.of
        of.size -= 1
        if not bucket.nodes:
            del of.buckets[bucket.score]
            if not of.size and self._following:
                self._classes.pop(of.key, None)
