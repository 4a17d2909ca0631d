"""Trees of teams, read from the queues of a cluster: the same form for Kueue and Volcano."""

import math
import re
from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from unicodedata import normalize

from msgspec import Struct

from policygen.core.finding import Path
from policygen.core.names import SET
from policygen.kubernetes.object import Object
from policygen.plan.amounts import CPU, Vector
from policygen.spec.name_errors import MAX_LABEL
from policygen.spec.types import Scheduler


class Guess(Struct, frozen=True):
    """A value of the spec that the objects do not show, or that differs from them."""

    kind: str
    name: str
    path: Path
    """Below the document of this kind and name."""
    text: str


class Scope(Struct, frozen=True):
    """The objects that a spec is inferred from."""

    name: str
    """The name of the set that policygen rendered, or of the new Platform."""
    rendered: bool
    """Whether only the objects of this set count; False: they were written by hand."""

    def has(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels counts."""
        return not self.rendered or labels.get(SET) == self.name


class TeamBranch(Struct, frozen=True, eq=False):
    """A queue or cohort, as a node in the tree of a queue."""

    object: Object | None
    """None for a cohort that exists only because a queue names it."""
    kind: str
    """Its kind, also of a cohort without an object."""
    name: str
    """Its name on the cluster."""
    team: str
    """Its team in the spec."""
    own: bool
    """Whether it is the leaf for the workloads of a team that has child teams."""
    above: str | None
    """The team above; None for a root team."""
    guarantee: Mapping[str, Vector]
    """By pool: with the guarantees of its children. Resources without a quota are missing."""
    limit: Mapping[str, Vector]
    """By pool. Resources without a limit are missing."""
    weight: int
    namespaces: tuple[str, ...]
    """The namespaces that the objects name for it."""


class TeamTree(Struct, frozen=True, eq=False):
    """The teams that share the pools of one queue."""

    queue: str
    scheduler: Scheduler
    pools: tuple[str, ...]
    root: Object | None
    """The cohort or queue of the pool itself."""
    root_name: str
    """Its name on the cluster, also of a cohort without an object; "" if there is none."""
    branches: tuple[TeamBranch, ...]
    """Parents first."""
    available: Mapping[str, Vector]
    """By pool."""
    preempts: bool | None
    """Whether teams reclaim what they lent; None: no object shows it."""


def amount(resource: str, value: Fraction) -> int:
    """An amount in the units of the plan: thousandths of a core, bytes, or whole units.

    Servers refuse negative amounts, so they are 0.
    """
    return max(math.ceil(value * 1000) if resource == CPU else math.ceil(value), 0)


def is_extended(resource: str) -> bool:
    """Whether a resource is one of devices, such as GPUs: its name has a domain."""
    return "/" in resource


POOL_NAME = 29
"""The most characters of a made-up name of a pool, so that `<team>.<pool>` is a valid name."""

_ACCENTS = re.compile("[\u0300-\u036f]")


def label(name: str) -> str:
    """A name as a name of the spec: lower case, digits and hyphens, at most 63 characters.

    Accents are dropped, and `x` replaces a name without letters and digits.
    """
    plain = _ACCENTS.sub("", normalize("NFKD", name.lower()))
    found = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:MAX_LABEL].strip("-")
    return found or "x"


def ancestors(team: str, parents: Mapping[str, str | None]) -> Iterator[str]:
    """The teams above a team, the nearest first."""
    above = parents.get(team)
    while above is not None:
        yield above
        above = parents.get(above)


def unused(name: str, taken: Collection[str]) -> str:
    """The name, or the name with the first number that makes it new."""
    names = (name if number == 1 else f"{name}-{number}" for number in range(1, len(taken) + 2))
    return next(it for it in names if it not in taken)
