"""What kube-scheduler refuses outside of profiles: bounds, leader election, extenders.

Source: pkg/scheduler/apis/config/validation/validation.go and k8s.io/component-base/config/validation
of Kubernetes 1.36.3; client-go tools/leaderelection, NewLeaderElector.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from policygen.api_validation.scalars import byte_fault
from policygen.core import durations
from policygen.core.finding import Fault, Path
from policygen.core.label_grammar import key_fault
from policygen.core.quoting import quoted
from policygen.kubernetes.untyped import mapping, mappings, numbered
from policygen.lint.core.resource_names import extended
from policygen.lint.core.typed_fields import Type, right

_INITIAL_S, _MAX_S = 1, 10
"""Default backoffs in seconds."""
_TIMES: Mapping[str, int] = {"leaseDuration": 15, "renewDeadline": 10, "retryPeriod": 2}
"""Default durations of leader election in seconds."""
_JITTER = Fraction(6, 5)


def faults(data: Mapping[str, Any]) -> Iterator[Fault]:
    """Every fault that kube-scheduler would report before it exits."""
    threads = right(data, "parallelism", Type.INTEGER)
    if threads is not None and threads <= 0:
        yield ("parallelism",), f"parallelism {threads} is refused; write 1 or more"
    yield from _backoff(data)
    burst = right(mapping(data, "clientConnection"), "burst", Type.INTEGER)
    if burst is not None and burst < 0:
        yield ("clientConnection", "burst"), f"burst {burst} is refused; write 0 or more"
    yield from _election(mapping(data, "leaderElection"))
    yield from _extenders(data)


def _backoff(data: Mapping[str, Any]) -> Iterator[Fault]:
    first, last = "podInitialBackoffSeconds", "podMaxBackoffSeconds"
    initial, most = (right(data, name, Type.INTEGER) for name in (first, last))
    if initial is not None and initial <= 0:
        yield (first,), f"{first} {initial} is refused; write 1 or more"
        return
    initial, most = (
        _INITIAL_S if initial is None else initial,
        _MAX_S if most is None else most,
    )
    if most < initial:
        at = last if data.get(last) is not None else first
        yield (
            (at,),
            f"{last} {most} is below {first} {initial}, which is refused; write {last} of {initial} or more",
        )


def _election(data: Mapping[str, Any]) -> Iterator[Fault]:
    for name in _TIMES:
        if name in data and data[name] is None:
            path: Path = ("leaderElection", name)
            yield path, f"{name} is empty, which is refused; write a duration, or remove {name}"
    if data.get("leaderElect") is False:
        return
    times: dict[str, Fraction] = {}
    for name, default in _TIMES.items():
        written = durations.seconds(right(data, name, Type.DURATION))
        times[name] = written or Fraction(default)
        if times[name] < 0:
            path = ("leaderElection", name)
            yield path, f"{name} {data[name]} is refused; write a positive duration"
    if min(times.values()) < 0:
        return
    lease, renew, retry = times.values()
    named = next(name for name in (*_TIMES, "leaderElection") if name in data or name not in _TIMES)
    place: Path = ("leaderElection", named) if named in data else ("leaderElection",)
    if lease <= renew:
        yield (
            place,
            "leaseDuration must be longer than renewDeadline; write a longer leaseDuration",
        )
    elif renew <= _JITTER * retry:
        yield (
            place,
            "renewDeadline must be longer than 1.2 times retryPeriod; write a longer renewDeadline",
        )
    lock = right(data, "resourceLock", Type.TEXT)
    if lock not in (None, "", "leases"):
        yield (
            ("leaderElection", "resourceLock"),
            f"resourceLock {quoted(lock)} is refused; write leases, or remove resourceLock",
        )


def _extenders(data: Mapping[str, Any]) -> Iterator[Fault]:
    binds, managed = False, set()
    for i, extender in numbered(data, "extenders"):
        path: Path = ("extenders", i)
        weight = right(extender, "weight", Type.INTEGER) or 0
        if extender.get("prioritizeVerb") and weight <= 0:
            yield (
                (*path, "weight") if "weight" in extender else path,
                f"prioritizeVerb with weight {weight} is refused; write a weight of 1 or more",
            )
        if extender.get("bindVerb"):
            if binds:
                yield (
                    (*path, "bindVerb"),
                    "two extenders have a bindVerb, which is refused; remove bindVerb from one of them",
                )
            binds = True
        yield from _connection(extender, path)
        for j, resource in enumerate(mappings(extender.get("managedResources"))):
            name = "" if resource.get("name") is None else resource["name"]
            at: Path = (*path, "managedResources", j, "name")
            if not isinstance(name, str):
                continue
            if not extended(name) or key_fault(f"requests.{name}"):
                yield (
                    at,
                    f"{quoted(name)} is not a resource that an extender can manage; write a name with a domain, such as example.com/gpu",
                )
            elif name in managed:
                yield (
                    at,
                    f"{name} is in managedResources twice, which is refused; remove one of the entries",
                )
            managed.add(name)


def _connection(extender: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    if "httpTimeout" in extender and extender["httpTimeout"] is None:
        fault = "httpTimeout is empty, which is refused; write a duration, or remove it"
        yield (*path, "httpTimeout"), fault
    tls = mapping(extender, "tlsConfig")
    for field in ("certData", "keyData", "caData"):
        if isinstance(tls.get(field), str) and byte_fault(tls[field]):
            fault = f"{field} is not valid base64; encode the value in base64"
            yield (*path, "tlsConfig", field), fault
    if tls.get("insecure") is True and (tls.get("caFile") or tls.get("caData")):
        yield (
            (*path, "tlsConfig", "insecure"),
            "insecure beside a certificate authority is refused; remove one of them",
        )
