"""What people and other controllers do during a simulation, as `--assume` states it.

No scheduler decides the outcome of an admission check of Kueue, or when a scheduling gate is removed.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec import Struct, field

from policygen.core import durations
from policygen.core.quoting import quoted
from policygen.simulate.kueue.scheduler import READY, REJECTED, RETRY

CHECK, GATE = "check", "gate"
"""The kinds of names in an assumption."""
FORMS = (
    "write for example check/provision=Ready:5m, check/provision=Retry:5m,Ready:10m, "
    "check/provision=Rejected or gate/example.com/data=10m"
)
"""The remedy for what `parse` refuses."""
_STATES = {it.lower(): it for it in (READY, RETRY, REJECTED)}


class CheckOutcome(Struct, frozen=True):
    """The state that an admission check reaches."""

    state: str
    after: float = 0.0
    """Seconds after Kueue reserved quota for the workload."""


class Assumptions(Struct, frozen=True):
    """What `--assume` states."""

    checks: Mapping[str, tuple[CheckOutcome, ...]] = field(default_factory=dict)
    """By admission check: the outcome of each attempt of a workload; the last one repeats."""
    gates: Mapping[str, float] = field(default_factory=dict)
    """By scheduling gate: how many seconds after the creation of a pod it is removed."""

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
    for text in texts:
        name, equals, stated = text.partition("=")
        kind, _, of = name.partition("/")
        if not equals or not of or kind not in (CHECK, GATE):
            raise ValueError(f"{quoted(text)} is not valid; {FORMS}")
        if of in (checks if kind == CHECK else gates):
            raise ValueError(f"{name} is stated twice; write it once")
        if kind == GATE:
            gates[of] = _time(stated, text)
        else:
            checks[of] = tuple(_outcome(it, text) for it in stated.split(","))
    return Assumptions(checks, gates)


def _outcome(stated: str, text: str) -> CheckOutcome:
    state, colon, after = stated.strip().partition(":")
    known = _STATES.get(state.lower())
    if known is None:
        raise ValueError(f"{quoted(text)} has no known state; {FORMS}")
    outcome = CheckOutcome(known, _time(after, text) if colon else 0.0)
    if known == RETRY and not outcome.after:
        raise ValueError(f"Retry in {quoted(text)} needs a time above 0; {FORMS}")
    return outcome


def _time(stated: str, text: str) -> float:
    found = durations.written(stated)
    if found is None or found < 0:
        raise ValueError(f"{quoted(stated)} in {quoted(text)} is not a duration; {FORMS}")
    return float(found)
