"""Reads a live cluster: lists the objects that rules need in parallel, and returns a snapshot."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Struct, field

from policygen.client import discovery, pages, pod_lists, projection
from policygen.client.discovery import Resource
from policygen.client.lists import listed_as, plain
from policygen.client.pages import ListRequest
from policygen.client.pod_lists import ListedPod, Pods
from policygen.client.requests import ReadError, Server, short_switch_interval
from policygen.core.decoding import decode
from policygen.core.finding import At
from policygen.kubernetes.controllers import CONFIG_MAPS, controllers
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import CONFIG_MAP, POD, Gap, GroupKind, Pod, Seen, Snapshot
from policygen.kubernetes.untyped import mapping

if TYPE_CHECKING:  # imported where a cluster is reached
    from concurrent.futures import Future, ThreadPoolExecutor

T = TypeVar("T")

WORKERS = 6
"""Number of parallel requests."""
_LARGEST_FIRST = ("Pod", "Workload", "PodGroup", "Job", "ReplicaSet", "Node", "Deployment")
"""Kinds with long lists are listed first, so that the longest list does not start last."""
_WAIT_S = 0.5
_GRACE_S = 1.0
"""After the deadline, a request still has this time to end itself, with a better message."""
_DEPLOYMENT = GroupKind("apps", "Deployment")

Progress = Callable[[str], None]


class ClusterQuery(Struct, frozen=True):
    """The kinds, namespaces and ConfigMaps to read."""

    kinds: frozenset[GroupKind]
    versions: Mapping[GroupKind, str] = field(default_factory=dict)
    """The apiVersion in which a kind is read, if the server has it."""
    plurals: Mapping[GroupKind, str] = field(default_factory=dict)
    """The names in paths of the API of kinds without a schema, if they are not regular."""
    namespaces: tuple[str, ...] = ()
    """Namespaces in which namespaced objects are read; empty for all namespaces."""
    config_maps: frozenset[str] = frozenset(CONFIG_MAPS)
    """Names of ConfigMaps; others that controllers mount are read, too."""


class _Listed(Struct):
    objects: list[dict[str, Any]] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)


class _ServerVersion(Struct):
    git_version: str = field(default="", name="gitVersion")


@contextmanager
def begin(
    server: Server, query: ClusterQuery, *, document: int = 0, progress: Progress = lambda _: None
) -> Iterator["ClusterListing"]:
    """Start to list the queried kinds. The lists run during the block, and stop at its end.

    `document` is the index of the document that has the objects. Raises ReadError if the API groups
    of the server cannot be read.
    """
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only where a cluster is reached

    pool = ThreadPoolExecutor(WORKERS)
    with short_switch_interval():
        try:
            yield ClusterListing(server, query, pool, progress, document)
        except BaseException:
            server.stop()
            raise
        finally:  # after an interrupt, do not wait for a server that does not answer
            pool.shutdown(wait=False, cancel_futures=True)


class ClusterListing:
    """The running lists of one cluster."""

    def __init__(
        self,
        server: Server,
        query: ClusterQuery,
        pool: "ThreadPoolExecutor",
        progress: Progress,
        document: int,
    ) -> None:
        self.server = server
        self.query = query
        self.pool = pool
        self.progress = progress
        self.document = document
        self.rows = Pods(document)
        self.unowned: dict[int, dict[str, Any]] = {}
        """The data of pods without a workload, by their numbers."""
        self.gaps: list[Gap] = []
        self.unserved: set[GroupKind] = set()
        self.progress("API groups and kinds")
        self._version = pool.submit(self._read_version)
        self._served = self._result(pool.submit(discovery.served, server.get))
        resources = filter(None, map(self._resource, sorted(query.kinds - {CONFIG_MAP})))
        self._lists = {it: pool.submit(self._list, it) for it in sorted(resources, key=_rank)}
        self._served_later = pool.submit(discovery.served, server.get) if self.unserved else None

    def finish(self, taken: datetime) -> Snapshot:
        """The objects of the queried kinds. A list that could not be read is a gap."""
        # They only wait for Deployments, so they arrive before the longest list.
        config_maps = self._config_maps() if CONFIG_MAP in self.query.kinds else None
        listed: dict[GroupKind, _Listed] = {}
        for number, resource in enumerate(self._lists, 1):
            self.progress(f"{resource.kind} ({number} of {len(self._lists)})")
            listed[resource.group_kind] = self._listed(resource)
        if config_maps is not None:
            listed[CONFIG_MAP] = config_maps
        for found in listed.values():
            self.gaps += found.gaps
        self._check_unserved()
        try:
            server, no_server = self._result(self._version), ""
        except ReadError as error:
            server, no_server = "", str(error)
        unread = {GroupKind(gap.group, gap.kind) for gap in self.gaps}
        seen = Seen(
            context=self.server.access.name,
            in_cluster=self.server.access.in_cluster,
            taken=taken,
            server=server,
            no_server=no_server,
            read=frozenset(listed) - unread,
            unserved=frozenset(self.unserved),
            gaps=tuple(sorted(self.gaps)),
            namespaces=self.query.namespaces,
            config_maps=self.query.config_maps,
        )
        pods = tuple(listed[POD].pods) if POD in listed else ()
        data = [item for kind in sorted(listed) for item in listed[kind].objects]
        data += [self.unowned[pod.number] for pod in pods if pod.number in self.unowned]
        places = (At(self.document, ("objects", index)) for index in count())
        return Snapshot(seen, tuple(filter(None, map(Object.read, data, places))), pods)

    def _read_version(self) -> str:
        body = self.server.get("/version")
        try:
            return decode(body, _ServerVersion).git_version
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ReadError(f"the answer to /version is not a version: {error}") from None

    def _resource(self, kind: GroupKind) -> Resource | None:
        """The resource of a kind; None if it is not served, or if its version is unknown, a gap."""
        try:
            found = self._served.find(kind, self.query.versions.get(kind, ""))
        except ReadError as error:
            self.gaps.append(Gap(*kind, "", str(error)))
            return None
        if found is None:
            self.unserved.add(kind)
        return found

    def _check_unserved(self) -> None:
        """A gap for each kind that the server did not list at first, but lists now.

        One of several API servers can start, or miss the CustomResourceDefinitions for a moment.
        """
        reason = "the API server did not serve this kind at first, but serves it now; try again"
        if self._served_later is None:
            return
        for kind in sorted(self.unserved):
            try:
                if not self._result(self._served_later).find(kind):
                    continue
                error = reason
            except ReadError as unknown:
                error = str(unknown)
            self.unserved.discard(kind)
            self.gaps.append(Gap(*kind, "", error))

    def _list(self, resource: Resource) -> _Listed:
        listed = _Listed()
        for namespace in (resource.namespaced and self.query.namespaces) or ("",):
            request = ListRequest(resource, namespace)
            try:
                if resource.group_kind == POD:
                    made = partial(self._pod, request)
                    pods = pages.items(self.server.fetch, request, ListedPod, made)
                    _check_doubled((it.namespace, it.name) for it in pods)
                    listed.pods += pods
                else:
                    listed.objects += self._objects(request)
            except ReadError as error:
                listed.gaps.append(Gap(*resource.group_kind, namespace, str(error)))
        return listed

    def _pod(self, request: ListRequest, listed: ListedPod) -> Pod:
        _check_kind(request, listed.api_version, listed.kind)
        _check_names(request, listed.metadata.name, listed.metadata.namespace)
        pod = self.rows.row(listed)
        data = pod_lists.unowned(listed, pod)
        if data is not None:
            self.unowned[pod.number] = data
        return pod

    def _objects(self, request: ListRequest) -> list[dict[str, Any]]:
        type_, made = listed_as(request.resource.group_kind), partial(_projected, request)
        found = pages.items(self.server.fetch, request, type_, made)
        _check_doubled(map(_identity, found))
        return found

    def _config_maps(self) -> _Listed:
        """The ConfigMaps with controllers' files, each requested by name: others can contain secrets.

        RBAC can allow a list by name.
        """
        read = _Listed()
        resource = self._resource(CONFIG_MAP)
        if resource is None:
            return read
        lists = [self._listed(it) for it in self._lists if it.group_kind == _DEPLOYMENT]
        data = (item for found in lists for item in found.objects)
        deployments = filter(None, (Object.read(item, At(0)) for item in data))
        queried = self.query.config_maps
        keys = {
            (namespace, name) for name in queried for namespace in self.query.namespaces or ("",)
        }
        keys |= {
            (controller.object.namespace, name)
            for controller in controllers(deployments)
            for name in controller.config_maps
            if name not in queried
        }
        futures = {
            (namespace, name): self.pool.submit(
                self._objects,
                ListRequest(resource, namespace, {"fieldSelector": f"metadata.name={name}"}),
            )
            for namespace, name in sorted(keys)
        }
        for (namespace, name), future in futures.items():
            try:
                objects: list[dict[str, Any]] = self._result(future)
                read.objects += objects
            except ReadError as error:
                read.gaps.append(Gap(*CONFIG_MAP, namespace, f"{name}: {error}"))
        return read

    def _listed(self, resource: Resource) -> _Listed:
        """A list, or a gap with the reason why it could not be read."""
        try:
            return self._result(self._lists[resource])
        except ReadError as error:
            return _Listed(gaps=[Gap(*resource.group_kind, "", str(error))])

    def _result(self, future: "Future[T]") -> T:
        """The result of a future. Raises ReadError after the deadline, and the errors of the future.

        The waits are short for two reasons. A thread that reads the head of an answer byte by byte,
        or runs a plugin, does not check the deadline. And a Ctrl-C just before a wait is only
        noticed after that wait.
        """
        while not future.done():
            if self.server.late_s > _GRACE_S:
                raise ReadError("the time limit was reached; raise --timeout")
            with suppress(TimeoutError):
                return future.result(_WAIT_S)
        return future.result()


def _rank(resource: Resource) -> int:
    """Kinds with long lists are first."""
    kind = resource.kind
    return _LARGEST_FIRST.index(kind) if kind in _LARGEST_FIRST else len(_LARGEST_FIRST)


def _projected(request: ListRequest, item: Any) -> dict[str, Any]:
    """An item as an object. In lists of built-in kinds, servers omit apiVersion and kind."""
    resource = request.resource
    found = plain(item)
    _check_kind(request, found.get("apiVersion"), found.get("kind"))
    complete = {**found, "apiVersion": resource.api_version, "kind": resource.kind}
    metadata = mapping(complete.get("metadata"))
    _check_names(request, metadata.get("name"), metadata.get("namespace"))
    return projection.projected(resource.group_kind, complete)


def _identity(item: Mapping[str, Any]) -> tuple[str, str]:
    metadata = item["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _check_doubled(names: Iterable[tuple[str, str]]) -> None:
    """A list of a server has each object once, so one that has an object twice can lack another."""
    seen = set()
    for namespace, name in names:
        if (namespace, name) in seen:
            where = f' of namespace "{namespace}"' if namespace else ""
            raise ReadError(f'the list contains "{name}"{where} twice')
        seen.add((namespace, name))


def _check_kind(request: ListRequest, api_version: object, kind: object) -> None:
    """In lists of built-in kinds, servers omit both."""
    expected = request.resource
    for name, found, requested in (
        ("kind", kind, expected.kind),
        ("apiVersion", api_version, expected.api_version),
    ):
        if found and found != requested:
            raise ReadError(f"an object in the list has {name} {found} instead of {requested}")


def _check_names(request: ListRequest, name: object, namespace: object) -> None:
    if not name or not isinstance(name, str):
        raise ReadError("an object in the list has no name")
    if request.resource.namespaced and not namespace:
        raise ReadError(f'"{name}" in the list has no namespace')
    if request.namespace and namespace != request.namespace:
        raise ReadError(
            f'the list of namespace "{request.namespace}" contains "{name}" of namespace "{namespace}"'
        )
