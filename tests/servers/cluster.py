"""One test's view of the control plane: apply, submit, look, wait.

Everything waits with a deadline, and a server that died is named instead of waited for.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import yaml

from policygen.plan.pool import PoolFacts

from .apply import Applier, Document, Outcome, lines, parse
from .bench import Bench
from .client import MERGE, ApiError, Client, Object
from .nodes import Shape, add_nodes, pool_nodes
from .process import ServerError
from .workloads import GPU

Value = TypeVar("Value")

DEADLINE_S = 120.0
"""Long, since a machine may be busy: a wait ends as soon as it can."""
POLL_S = 0.1
SETTLE_S = 0.3
"""Schedulers' caches trail what we see of the nodes."""
THREADS = 8
RETRY_S = 10.0
LATE = re.compile(
    r'[Nn]amespaces? "[^"]*" not found|is being terminated|with state `Open`'
    r"|unable to find (?:job )?queue"
)
"""Refusals of a new namespace or queue by something whose cache trails; asked again."""
STATE_LINES = 40
SCHEDULING = "scheduling.volcano.sh/v1beta1"
KUEUE = "kueue.x-k8s.io/v1beta2"


class Cluster:
    """A clean control plane; what a test makes on it is gone after the test."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.retries = 0
        """Of Volcano Queues and PodGroups that a webhook's cache refused at first."""

    @property
    def client(self) -> Client:
        return self.bench.client

    # Making things

    def apply(self, manifests: str, *, jobs: int = THREADS) -> Outcome:
        """Server-side apply, strict, in order; whatever is refused fails the test."""
        outcome = self.try_apply(manifests, jobs=jobs)
        assert not outcome.refused, "\n".join(lines(outcome))
        return outcome

    def try_apply(
        self, manifests: str, *, jobs: int = THREADS, retry_s: float = RETRY_S
    ) -> Outcome:
        """Like `apply`, but refusals are in the outcome."""
        applier = Applier(self.client, create_namespaces=True, jobs=jobs, retry_s=retry_s)
        with self._watched():
            applier.apply_all(parse(manifests, "manifests"))
        self.retries += applier.outcome.retries
        return applier.outcome

    def apply_twice(self, manifests: str | Sequence[Document], *, jobs: int = THREADS) -> Outcome:
        """Apply, and apply again: `outcome.changed` holds what the second one changed."""
        documents = parse(manifests, "manifests") if isinstance(manifests, str) else manifests
        applier = Applier(self.client, create_namespaces=True, jobs=jobs)
        with self._watched():
            applier.apply_again(applier.apply_all(list(documents)))
        self.retries += applier.outcome.retries
        return applier.outcome

    def create(self, *things: Object) -> None:
        """POST objects, strict, several at once, in namespaces that are made if missing.

        Raises ApiError at a refusal; one that a trailing cache may cause is asked again.
        """
        namespaces = {thing["metadata"].get("namespace") for thing in things} - {None}
        for namespace in sorted(namespaces):
            self.namespace(namespace)
        with self._watched(), ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(self._create, things))

    def refusal(self, thing: Object) -> str:
        """The server's message for one object that it must refuse."""
        if namespace := thing["metadata"].get("namespace"):
            self.namespace(namespace)
        try:
            self._create(thing)
        except ApiError as error:
            return str(error)
        raise AssertionError(f"accepted: {thing['kind']} {thing['metadata']['name']}")

    def namespace(self, name: str, labels: Mapping[str, str] | None = None) -> str:
        """Make a namespace unless it is there; returns its name."""
        metadata = {"name": name, "labels": dict(labels or {})}
        thing: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        answer = self.client.request("POST", "/api/v1/namespaces", thing)
        assert answer.ok or answer.body.get("reason") == "AlreadyExists", answer.message
        return name

    def add_nodes(
        self,
        pool: PoolFacts | Shape,
        count: int | None = None,
        *,
        prefix: str = "node",
        labels: Mapping[str, str] | None = None,
    ) -> list[str]:
        """Nodes of a spec's pool (`rendered(...).pools[name]`), or `count` of one shape.

        Returns their names once schedulers can use them. With `count` a pool gets only the first
        nodes.
        """
        if isinstance(pool, Shape):
            nodes = {f"{prefix}-{i}": pool for i in range(count or 1)}
        else:
            nodes = dict(list(pool_nodes(pool, labels).items())[:count])
        self.add_named_nodes(nodes)
        return list(nodes)

    def add_named_nodes(self, nodes: Mapping[str, Shape]) -> None:
        """Nodes by name; schedulers can use them when it returns."""
        with self._watched():
            add_nodes(self.client, nodes)
        time.sleep(SETTLE_S)

    def delete(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> None:
        """Delete one object with what belongs to it; pods at once."""
        options: Object = {"propagationPolicy": "Background"}
        if kind == "Pod":
            options["gracePeriodSeconds"] = 0
        path = self.client.resource(api_version, kind).path(namespace, name)
        answer = self.client.request("DELETE", path, options)
        assert answer.ok, answer.message

    def patch(
        self,
        api_version: str,
        kind: str,
        name: str,
        change: Object,
        namespace: str | None = None,
        subresource: str = "",
    ) -> Object:
        """A merge patch."""
        path = self.client.resource(api_version, kind).path(namespace, name)
        end = f"/{subresource}" if subresource else ""
        answer = self.client.request("PATCH", path + end, change, content_type=MERGE)
        assert answer.ok, answer.message
        return answer.body

    # Looking

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object:
        answer = self.client.get(self.client.resource(api_version, kind).path(namespace, name))
        assert answer.ok, answer.message
        return answer.body

    def objects(self, api_version: str, kind: str, namespace: str | None = None) -> list[Object]:
        """All of a kind, in one namespace or in all."""
        answer = self.client.get(self.client.resource(api_version, kind).path(namespace))
        assert answer.ok, answer.message
        items: list[Object] = answer.body["items"]
        return items

    def pods(self, namespace: str | None = None) -> list[Object]:
        """Pods that have not ended and are not being deleted."""
        return [
            pod
            for pod in self.objects("v1", "Pod", namespace)
            if pod["status"].get("phase") not in {"Succeeded", "Failed"}
            and "deletionTimestamp" not in pod["metadata"]
        ]

    def placement(self, resource: str = GPU, namespace: str | None = None) -> dict[str, int]:
        """GPUs in use on each node; nodes without any count as 0."""
        used = dict.fromkeys(sorted(n["metadata"]["name"] for n in self.objects("v1", "Node")), 0)
        for pod in self.pods(namespace):
            if node := pod["spec"].get("nodeName"):
                used[node] += gpus(pod, resource)
        return used

    def bound(self, namespace: str | None = None, resource: str = GPU) -> int:
        """GPUs of pods that are on a node."""
        return sum(
            gpus(pod, resource) for pod in self.pods(namespace) if pod["spec"].get("nodeName")
        )

    def waiting(self, namespace: str | None = None) -> list[str]:
        """Names of pods that are on no node."""
        return [p["metadata"]["name"] for p in self.pods(namespace) if "nodeName" not in p["spec"]]

    def admitted(self, namespace: str | None = None) -> list[str]:
        """Names of what owns a Workload that Kueue has admitted (and not taken back or ended)."""
        return sorted(
            owner(workload)
            for workload in self.objects(KUEUE, "Workload", namespace)
            if holds(workload, "Admitted") and not holds(workload, "Finished")
        )

    def phases(self, namespace: str | None = None) -> dict[str, str]:
        """Volcano PodGroups' phases by name."""
        return {
            group["metadata"]["name"]: group.get("status", {}).get("phase", "")
            for group in self.objects(SCHEDULING, "PodGroup", namespace)
        }

    # Waiting

    def until(
        self, what: str, predicate: Callable[[], Value], deadline_s: float = DEADLINE_S
    ) -> Value:
        """Wait until the predicate is true, and return what it gave; else fail with the state."""
        end = time.monotonic() + deadline_s
        while not (value := predicate()):
            self.check_alive()
            if time.monotonic() > end:
                raise AssertionError(
                    f"{what}: not after {deadline_s:.0f} s; last: {value!r}\n{self.state()}"
                )
            time.sleep(POLL_S)
        return value

    def becomes(
        self, what: str, read: Callable[[], Any], want: object, deadline_s: float = DEADLINE_S
    ) -> None:
        """Wait until what is read equals `want`; a failure shows what it was at last."""
        end = time.monotonic() + deadline_s
        while (found := read()) != want:
            self.check_alive()
            if time.monotonic() > end:
                raise AssertionError(
                    f"{what}: {found!r} and not {want!r} after {deadline_s:.0f} s\n{self.state()}"
                )
            time.sleep(POLL_S)

    def stays(self, what: str, read: Callable[[], Any], want: object, for_s: float = 2.0) -> None:
        """What is read equals `want` now and for so long: for what must not happen."""
        end = time.monotonic() + for_s
        while True:
            found = read()
            self.check_alive()
            assert found == want, f"{what}: {found!r} and not {want!r}\n{self.state()}"
            if time.monotonic() > end:
                return
            time.sleep(POLL_S)

    def check_alive(self) -> None:
        """Raise ServerError if a server ended on its own."""
        self.bench.check_alive()

    def state(self) -> str:
        """For the message of a failure: the objects that are not ready, with their conditions."""
        shown = list(self._state())
        more = len(shown) - STATE_LINES
        return "\n".join([*shown[:STATE_LINES], *([f"... {more} more lines"] if more > 0 else [])])

    def _state(self) -> Iterator[str]:
        yield f"GPUs in use: {self.placement()}"
        for pod in self.pods():
            if "nodeName" not in pod["spec"]:
                yield f"pod {_name(pod)} waits: {_message(pod, 'PodScheduled')}"
        for workload in self.objects(KUEUE, "Workload"):
            if not holds(workload, "Admitted"):
                yield f"workload {_name(workload)} waits: {_message(workload, 'QuotaReserved')}"
        for group in self.objects(SCHEDULING, "PodGroup"):
            status = group.get("status", {})
            if status.get("phase") != "Running":
                said = [c.get("message") for c in status.get("conditions", [])]
                yield f"pod group {_name(group)} is {status.get('phase')}: {said[-1:]}"

    # Other servers, for a while

    @contextmanager
    def kube_scheduler(self, config: str) -> Iterator[list[str]]:
        """Run one more kube-scheduler with this file; gives the profiles' schedulerNames.

        If one of them is `default-scheduler`, the bench's own pauses meanwhile.
        """
        names = [
            profile.get("schedulerName", "default-scheduler")
            for profile in yaml.safe_load(config).get("profiles") or [{}]
        ]
        with self.bench.second_scheduler(config, alone="default-scheduler" in names):
            yield names

    @contextmanager
    def kueue(self, configuration: str | Object) -> Iterator[None]:
        """Restart Kueue with this Configuration, adjusted to the bench; restored at the end."""
        mine = yaml.safe_load(configuration) if isinstance(configuration, str) else configuration
        with self.bench.other_kueue(mine):
            yield

    @contextmanager
    def volcano(self, config: str) -> Iterator[None]:
        """Restart Volcano's scheduler with this configuration; restored at the end."""
        with self.bench.other_volcano(config):
            yield

    # How

    def _create(self, thing: Object) -> None:
        resource = self.client.resource(thing["apiVersion"], thing["kind"])
        path = resource.path(thing["metadata"].get("namespace"))
        end = time.monotonic() + RETRY_S
        while True:
            answer = self.client.request("POST", path, thing, query={"fieldValidation": "Strict"})
            if answer.ok:
                return
            if not LATE.search(answer.message) or time.monotonic() > end:
                raise ApiError(f"{thing['kind']} {thing['metadata']['name']}: {answer.message}")
            time.sleep(POLL_S)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """If a server has died, an error is reported as its death."""
        try:
            yield
        except (OSError, ApiError):
            self.check_alive()
            raise


def gpus(pod: Object, resource: str = GPU) -> int:
    """What its containers request."""
    requests: Iterable[Mapping[str, str]] = (
        container.get("resources", {}).get("requests", {})
        for container in pod["spec"]["containers"]
    )
    return sum(int(each.get(resource, 0)) for each in requests)


def holds(thing: Object, condition: str) -> bool:
    """Whether a condition is True."""
    return any(
        found["type"] == condition and found["status"] == "True"
        for found in thing.get("status", {}).get("conditions", [])
    )


def owner(thing: Object) -> str:
    """Name of its owner, else its own."""
    owners = thing["metadata"].get("ownerReferences") or [thing["metadata"]]
    return str(owners[0]["name"])


def _message(thing: Object, condition: str) -> str:
    messages = [
        str(found.get("message"))
        for found in thing.get("status", {}).get("conditions", [])
        if found["type"] == condition
    ]
    return messages[-1] if messages else "nothing"


def _name(thing: Object) -> str:
    return f"{thing['metadata'].get('namespace')}/{thing['metadata']['name']}"


__all__ = ["Cluster", "ServerError", "gpus", "holds", "owner"]
