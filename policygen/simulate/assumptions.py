"""What people and other controllers do during a simulation, as `--assume` states it.

No scheduler decides the outcome of an admission check of Kueue, when a scheduling gate is removed, or how
many nodes exist.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec import Struct, field

from policygen.core import durations
from policygen.core.quoting import quoted
from policygen.simulate.kueue.scheduler import READY, REJECTED, RETRY

CHECK, GATE, NODES = "check", "gate", "nodes"
"""The kinds of names in an assumption."""
FORMS = (
    "write for example check/provision=Ready:5m, check/provision=Retry:5m,Ready:10m, "
    "check/provision=Rejected, gate/example.com/data=10m or nodes/a100=2..8:5m"
)
"""The remedy for what `parse` refuses."""
MOST_NODES = 10_000
"""The most nodes of a pool that grows."""
_TIMES = 2
_STATES = {it.lower(): it for it in (READY, RETRY, REJECTED)}


class CheckOutcome(Struct, frozen=True):
    """The state that an admission check reaches."""

    state: str
    after: float = 0.0
    """Seconds after Kueue reserved quota for the workload."""


class NodeGrowth(Struct, frozen=True):
    """How an autoscaler adds nodes to a pool, and removes them."""

    least: int
    """The fewest nodes that exist."""
    most: int
    """The most that exist at once."""
    delay: float = 0.0
    """Seconds until a node exists for which pods wait."""
    idle: float = 600.0
    """Seconds without a pod after which a node is removed; the default is that of Cluster Autoscaler."""


class Assumptions(Struct, frozen=True):
    """What `--assume` states."""

    checks: Mapping[str, tuple[CheckOutcome, ...]] = field(default_factory=dict)
    """By admission check: the outcome of each attempt of a workload; the last one repeats."""
    gates: Mapping[str, float] = field(default_factory=dict)
    """By scheduling gate: how many seconds after the creation of a pod it is removed."""
    nodes: Mapping[str, NodeGrowth] = field(default_factory=dict)
    """By pool: how an autoscaler adds nodes."""

    def outcome(self, check: str, attempt: int) -> CheckOutcome:
        """What becomes of a check at an attempt, from 0 on. Others are ready at once."""
        stated = self.checks.get(check, (CheckOutcome(READY),))
        return stated[min(attempt, len(stated) - 1)]

    def repeats(self, check: str, attempt: int) -> bool:
        """Whether all later attempts have the same outcome."""
        return attempt >= len(self.checks.get(check, ())) - 1

    def opened(self, gates: Iterable[str]) -> float | None:
        """How many seconds after the creation of a pod its gates are removed; None: never."""
        if any(it not in self.gates for it in gates):
            return None
        return max((self.gates[it] for it in gates), default=0.0)

    @property
    def longest(self) -> float:
        """The longest time of all that is stated, in seconds."""
        outcomes = (it.after for each in self.checks.values() for it in each)
        return max((*outcomes, *self.gates.values()), default=0.0)


NOTHING_ASSUMED = Assumptions(MappingProxyType({}), MappingProxyType({}))


def parse(texts: Iterable[str]) -> Assumptions:
    """The assumptions in texts such as `check/provision=Ready:5m`. Raises ValueError for other text."""
    checks: dict[str, tuple[CheckOutcome, ...]] = {}
    gates: dict[str, float] = {}
    nodes: dict[str, NodeGrowth] = {}
    known = set[str]()
    for text in texts:
        name, equals, stated = text.partition("=")
        kind, _, of = name.partition("/")
        if not equals or not of or kind not in (CHECK, GATE, NODES):
            raise ValueError(f"{quoted(text)} is not valid; {FORMS}")
        if name in known:
            raise ValueError(f"{name} is stated twice; write it once")
        known.add(name)
        if kind == GATE:
            gates[of] = _time(stated, text)
        elif kind == NODES:
            nodes[of] = _growth(stated, text)
        else:
            checks[of] = tuple(_outcome(it, text) for it in stated.split(","))
    return Assumptions(checks, gates, nodes)


def _outcome(stated: str, text: str) -> CheckOutcome:
    state, colon, after = stated.strip().partition(":")
    known = _STATES.get(state.lower())
    if known is None:
        raise ValueError(f"{quoted(text)} has no known state; {FORMS}")
    outcome = CheckOutcome(known, _time(after, text) if colon else 0.0)
    if known == RETRY and not outcome.after:
        raise ValueError(f"Retry in {quoted(text)} needs a time above 0; {FORMS}")
    return outcome


def _growth(stated: str, text: str) -> NodeGrowth:
    """The growth in a text such as `2..8:5m:10m`: numbers of nodes, delay, and time without pods."""
    numbers, *times = stated.split(":")
    least, dots, most = numbers.partition("..")
    if not dots or not _is_number(least) or not _is_number(most) or len(times) > _TIMES:
        raise ValueError(f"{quoted(text)} is not MIN..MAX:DELAY:IDLE; {FORMS}")
    if not int(least) <= int(most) <= MOST_NODES or not int(most):
        raise ValueError(
            f"{quoted(text)} needs MIN <= MAX, and MAX from 1 to {MOST_NODES:,}; {FORMS}"
        )
    return NodeGrowth(int(least), int(most), *(_time(it, text) for it in times))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= len(str(MOST_NODES))


def _time(stated: str, text: str) -> float:
    found = durations.written(stated)
    if found is None or found < 0:
        raise ValueError(f"{quoted(stated)} in {quoted(text)} is not a duration; {FORMS}")
    return float(found)
