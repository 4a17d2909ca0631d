"""The waiting workloads of a ClusterQueue, kept in the plainest way: one by one.

The tests compare `PendingQueue`, which keeps equal workloads together, with it.
"""


class PlainPending:
    """As `PendingQueue`."""

    def __init__(self, *, strict):
        self.strict = strict
        self._waiting = {}
        self.inadmissible = {}
        self._hopeless = set()
        self._sticky = ""

    @property
    def length(self):
        return len(self)

    def __len__(self):
        return len(self._waiting)

    def __contains__(self, it):
        return it.name in self._waiting or it.name in self.inadmissible

    def waiting(self):
        return list(self._waiting.values())

    def push(self, it):
        hopeless = not self.strict and it.equivalence in self._hopeless
        (self.inadmissible if hopeless else self._waiting)[it.name] = it

    def head(self):
        if self._sticky in self._waiting:
            return self._waiting[self._sticky]
        return min(self.waiting(), key=lambda it: it.order, default=None)

    def remove(self, it):
        self._waiting.pop(it.name, None)
        self.inadmissible.pop(it.name, None)
        if self._sticky == it.name:
            self._sticky = ""

    def requeue(self, it, *, again, no_fit, preempting):
        if preempting:
            self._sticky = "" if self.strict else it.name
        if again or (it.last is not None and it.last.pending()):
            return
        self.inadmissible[it.name] = self._waiting.pop(it.name)
        if no_fit and not self.strict:
            self._hopeless.add(it.equivalence)
            for other in self.waiting():
                if other.equivalence == it.equivalence:
                    self.inadmissible[other.name] = self._waiting.pop(other.name)

    def retry(self, namespaces):
        self._hopeless.clear()
        moved = [it for it in self.inadmissible.values() if it.name.partition("/")[0] in namespaces]
        for it in moved:
            self._waiting[it.name] = self.inadmissible.pop(it.name)
        return len(moved)
