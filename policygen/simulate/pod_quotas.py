"""The pods that ResourceQuotas let controllers create.

A controller tries again until its quota has room: here at once, on servers after seconds up to minutes.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction

from msgspec import Struct

from policygen.core import quantity
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import ResourceQuotaView
from policygen.kubernetes.pod_quotas import charge, counts, priority_class_of, unset
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import keyed_texts
from policygen.kubernetes.workloads import PodSpec
from policygen.simulate.arrival import Arrival


class RefusingQuota(Struct, frozen=True):
    """A key of a ResourceQuota that has too little left for a pod."""

    name: str
    key: str
    hard: Fraction
    used: Fraction
    each: Fraction
    """What the first refused pod requests."""
    all: Fraction
    """What all pods request that do not exist yet."""
    unset: tuple[str, ...] = ()
    """The keys that not every container of the pod sets, although the quota counts them."""


class _Ledger:
    """One quota, and what is used of it."""

    def __init__(self, quota: Entry[ResourceQuotaView]) -> None:
        self.quota = quota
        self.used = {key: Fraction(0) for key in quota.fields.hard}

    def adopt(self) -> None:
        """Take over what the status counts beside the known pods."""
        status = dict(keyed_texts(self.quota.object.data, "status", "used"))
        for key, known in self.used.items():
            self.used[key] = max(known, _amount(status.get(key)))


class PodQuotas:
    """The ResourceQuotas of all namespaces, with what is used of each."""

    def __init__(self, cluster: Cluster, arrivals: Iterable[Arrival] = ()) -> None:
        """`arrivals` are jobs whose pods can exist from the start."""
        self._cluster = cluster
        self._of: dict[str, list[_Ledger]] = {}
        for quota in cluster.resource_quotas:
            self._of.setdefault(quota.namespace, []).append(_Ledger(quota))
        self._charges: dict[tuple[int, int], tuple[PodSpec, dict[str, Fraction] | None]] = {}
        """By ledger and spec, which is kept so that no other one gets its id. None: it is not counted."""
        for it in arrivals if self._of else ():
            for spec, count in existing(it):
                self.release(it.namespace, spec, -count)
        for ledgers in self._of.values():
            for one in ledgers:
                one.adopt()

    def __bool__(self) -> bool:
        """Whether there is any quota."""
        return bool(self._of)

    def create(self, namespace: str, spec: PodSpec, count: int) -> int:
        """Create pods as far as all quotas allow it; returns how many."""
        for ledger, charges in self._charged(namespace, spec):
            if unset(ledger.quota.fields, spec):
                return 0
            for key, each in charges.items():
                left = ledger.quota.fields.hard[key] - ledger.used[key]
                count = min(count, max(int(left // each), 0))
        self.release(namespace, spec, -count)
        return count

    def most(self, namespace: str, spec: PodSpec, count: int) -> int:
        """How many of these pods can exist at once if no others do."""
        for ledger, charges in self._charged(namespace, spec):
            if not unset(ledger.quota.fields, spec):
                hard = ledger.quota.fields.hard
                count = min([count, *(int(hard[key] // each) for key, each in charges.items())])
        return count

    def release(self, namespace: str, spec: PodSpec, count: int) -> None:
        """So many pods end; with a negative number, they exist."""
        for ledger, charges in self._charged(namespace, spec):
            for key, each in charges.items():
                ledger.used[key] -= each * count

    def refusing(self, namespace: str, pods: Iterable[tuple[PodSpec, int]]) -> RefusingQuota | None:
        """The first quota that refuses some of these pods, which do not exist; None: no quota does."""
        found = [it for it in pods if it[1] > 0]
        for ledger in self._of.get(namespace, ()):
            totals: dict[str, Fraction] = {}
            firsts: dict[str, Fraction] = {}
            for spec, count in found:
                charges = self._charge(ledger, spec)
                missing = unset(ledger.quota.fields, spec) if charges is not None else ()
                if missing:
                    none = Fraction(0)
                    return RefusingQuota(
                        ledger.quota.name, missing[0], none, none, none, none, missing
                    )
                for key, each in (charges or {}).items():
                    firsts.setdefault(key, each)
                    totals[key] = totals.get(key, Fraction(0)) + each * count
            for key, hard in ledger.quota.fields.hard.items():
                used = ledger.used[key]
                if key in totals and used + totals[key] > hard:
                    return RefusingQuota(
                        ledger.quota.name, key, hard, used, firsts[key], totals[key]
                    )
        return None

    def used(self) -> Iterator[tuple[str, str, dict[str, Fraction]]]:
        """Namespace, name and used amounts of each quota."""
        for namespace, ledgers in self._of.items():
            for it in ledgers:
                yield namespace, it.quota.name, it.used

    def _charged(
        self, namespace: str, spec: PodSpec
    ) -> Iterator[tuple[_Ledger, dict[str, Fraction]]]:
        for ledger in self._of.get(namespace, ()):
            charges = self._charge(ledger, spec)
            if charges is not None:
                yield ledger, charges

    def _charge(self, ledger: _Ledger, spec: PodSpec) -> dict[str, Fraction] | None:
        """What one pod counts for each key of a quota that counts it."""
        key = id(ledger), id(spec)
        if key not in self._charges:
            fields = ledger.quota.fields
            amounts = None
            if counts(fields, spec, priority_class_of(self._cluster, spec)):
                amounts = {it: amount for it in fields.hard if (amount := charge(spec, it))}
            self._charges[key] = spec, amounts
        return self._charges[key][1]


def existing(arrival: Arrival) -> Iterator[tuple[PodSpec, int]]:
    """The pods of a job that exist from the start, by their spec."""
    left = max(arrival.created, len(arrival.nodes))
    for it in arrival.pods:
        count = min(it.count, left)
        left -= count
        if count:
            yield it.spec, count


def _amount(text: str | None) -> Fraction:
    try:
        return quantity.parse(text).value if text else Fraction(0)
    except ValueError:
        return Fraction(0)
