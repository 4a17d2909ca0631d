"""Sums of GPUs over time: what teams and pools use, and what is free while jobs wait."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class Meter:
    """An amount that changes, and its sum over time."""

    amount: int = 0
    most: int = 0
    total: float = 0.0
    """In amount times seconds, until `since`."""
    since: float = 0.0

    def add(self, now: float, amount: int) -> None:
        """The amount changes now."""
        self.total += self.amount * (now - self.since)
        self.since = now
        self.amount += amount
        self.most = max(self.most, self.amount)

    def until(self, now: float) -> float:
        """The sum until now."""
        return self.total + self.amount * (now - self.since)


@dataclass(slots=True)
class Meters:
    """Meters by key, made when they are needed."""

    start: float = 0.0
    of: dict[tuple[str, ...], Meter] = field(default_factory=dict)

    def add(self, now: float, key: tuple[str, ...], amount: int) -> None:
        """An amount changes now."""
        found = self.of.get(key)
        if found is None:
            found = self.of[key] = Meter(since=self.start)
        found.add(now, amount)

    def add_all(self, now: float, team: str, amounts: Mapping[str, int], sign: int) -> None:
        """A team uses these amounts of pools more, or less."""
        for pool, amount in amounts.items():
            self.add(now, (team, pool), sign * amount)
            self.add(now, (pool,), sign * amount)
