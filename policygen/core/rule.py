"""A rule: what policygen knows about one kind of finding. Findings refer to it; they repeat nothing of it."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Self


class Severity(IntEnum):
    """How bad a finding is; ordered, so that a threshold can be compared."""

    INFO = 0
    WARNING = 1
    ERROR = 2

    def __str__(self) -> str:
        return self.name.lower()


class Family(StrEnum):
    """What kind of fault a rule is about."""

    about: str
    """What is true of what the rules of the family find."""

    INVALID = (
        "invalid",
        "a server refuses the setting, or the setting prevents a controller or scheduler from starting",
    )
    INERT = "inert or dangerous", "the setting is accepted, but has no effect or causes harm"
    DRIFT = "drift", "the cluster differs from the spec"
    REFUSED = "refused spec", "the spec cannot be rendered"
    REPORTED = "spec", "the spec can be rendered, but does not have the intended effect"
    RUN = "run", "the finding is about the inputs or options of a run"

    def __new__(cls, value: str, about: str) -> Self:
        """A member whose value is the name of the family in JSON."""
        member = str.__new__(cls, value)
        member._value_, member.about = value, about
        return member

    @property
    def word(self) -> str:
        """The first word of its name, which is unique: `--family` takes it."""
        return self.split()[0]


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One kind of finding: its name, severity and texts. The same object is emitted, listed and explained."""

    name: str
    """A slug that states the fault: `unknown-field`."""
    severity: Severity
    """Error: it does not work. Warning: it works differently from what it suggests. Info: useful to know."""
    family: Family
    about: str
    """The fault in one sentence."""
    remedy: str = ""
    """What to do about it, in one imperative sentence."""
    aliases: tuple[str, ...] = ()
    """Former names, which waivers, baselines and `--rule` still accept."""

    def __str__(self) -> str:
        return self.name

    @property
    def summary(self) -> str:
        """The fault in one sentence, without the final stop; the name if no text is available."""
        return (self.about or self.name).strip().rstrip(".")


def refusal(name: str, about: str, remedy: str, aliases: tuple[str, ...] = ()) -> Rule:
    """A rule about a spec that cannot be rendered."""
    return Rule(name, Severity.ERROR, Family.REFUSED, about, remedy, aliases)


def warning(name: str, about: str, remedy: str, aliases: tuple[str, ...] = ()) -> Rule:
    """A rule about a spec that works differently from what it suggests."""
    return Rule(name, Severity.WARNING, Family.REPORTED, about, remedy, aliases)


def note(name: str, about: str, remedy: str, aliases: tuple[str, ...] = ()) -> Rule:
    """A rule about a spec that works as written; its findings are useful to know."""
    return Rule(name, Severity.INFO, Family.REPORTED, about, remedy, aliases)
