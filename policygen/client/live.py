"""Reads a live cluster: lists the objects that rules need in parallel, and returns a snapshot."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Struct, field

from policygen.client import discovery, pages, pod_lists, projection
from policygen.client.discovery import Resource, ServedResources
from policygen.client.lists import listed_as, plain
from policygen.client.pod_lists import ListedPod, Pods
from policygen.client.requests import ReadError, Server
from policygen.client.switch_interval import in_short_turns
from policygen.core.finding import At
from policygen.kubernetes.controllers import CONFIG_MAPS, controllers
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import CONFIG_MAP, POD, Gap, GroupKind, Pod, Seen, Snapshot

if TYPE_CHECKING:  # imported where a cluster is reached
    from concurrent.futures import Future

T = TypeVar("T")

WORKERS = 6
"""Number of parallel requests."""
_LARGEST_FIRST = ("Pod", "Workload", "PodGroup", "Job", "ReplicaSet", "Node", "Deployment")
"""Kinds with long lists are listed first, so that the longest list does not start last."""
_WAIT_S = 0.5
_GRACE_S = 1.0
"""After the deadline, a request still has this time to end itself, with a better message."""
_DEPLOYMENT = ("apps", "Deployment")

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
    server: Server, wanted: ClusterQuery, *, document: int = 0, progress: Progress = lambda _: None
) -> Iterator["ClusterListing"]:
    """Start to list the wanted kinds. The lists run during the block, and stop at its end.

    `document` is the index of the document that has the objects. Raises ReadError if the API groups
    of the server cannot be read.
    """
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only where a cluster is reached

    pool = ThreadPoolExecutor(WORKERS)
    with in_short_turns():
        try:
            yield ClusterListing(server, wanted, pool, progress, document)
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
        wanted: ClusterQuery,
        pool: Any,
        progress: Progress,
        document: int,
    ) -> None:
        self.server = server
        self.wanted = wanted
        self.pool = pool
        self.progress = progress
        self.document = document
        self.rows = Pods(document)
        self.unowned: dict[int, dict[str, Any]] = {}
        """The data of pods without a workload, by their numbers."""
        self.gaps: list[Gap] = []
        self.unserved: set[GroupKind] = set()
        self.progress("what is served")
        self._version_answer = self.pool.submit(self._version)
        self._served = self._of(self.pool.submit(discovery.served, self.server.get))
        self._lists = self._begin(self._served, self.wanted.kinds)

    def finish(self, taken: datetime) -> Snapshot:
        """The objects of the wanted kinds. A list that could not be read is a gap."""
        lists = self._lists
        # They only wait for Deployments, so they arrive before the longest list.
        config_maps = (
            self._config_maps(self._served, lists) if CONFIG_MAP in self.wanted.kinds else None
        )
        listed: dict[GroupKind, _Listed] = {}
        for number, (it, future) in enumerate(lists.items()):
            self.progress(f"{it.kind} ({number + 1} of {len(lists)})")
            listed[GroupKind(it.group, it.kind)] = self._listed(it, future)
        if config_maps is not None:
            listed[CONFIG_MAP] = config_maps
        for each in listed.values():
            self.gaps += each.gaps
        server, no_server = self._server(self._version_answer)
        unread = {GroupKind(gap.group, gap.kind) for gap in self.gaps}
        seen = Seen(
            context=self.server.name,
            in_cluster=self.server.in_cluster,
            taken=taken,
            server=server,
            no_server=no_server,
            read=frozenset(listed) - unread,
            unserved=frozenset(self.unserved),
            gaps=tuple(sorted(self.gaps)),
            namespaces=self.wanted.namespaces,
            config_maps=self.wanted.config_maps,
        )
        return self._snapshot(seen, listed)

    def _snapshot(self, seen: Seen, listed: Mapping[GroupKind, _Listed]) -> Snapshot:
        pods = listed.get(POD, _Listed()).pods
        unowned = (self.unowned.get(pod.number) for pod in pods) if self.unowned else ()
        data = [
            *(each for kind in sorted(listed) for each in listed[kind].objects),
            *(each for each in unowned if each is not None),
        ]
        at = (At(self.document, ("objects", i)) for i in count())
        objects = map(Object.read, data, at)
        return Snapshot(seen, tuple(it for it in objects if it is not None), tuple(pods))

    def _version(self) -> str:
        body = self.server.get("/version")
        try:
            return msgspec.json.decode(body, type=_ServerVersion).git_version
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ReadError(f"the answer is not a version: {error}") from None

    def _begin(self, found: ServedResources, kinds: frozenset[GroupKind]) -> dict[Resource, Any]:
        """Start to list kinds. Returns a future for each."""
        places = _ordered(self._places(found, kinds - {CONFIG_MAP}))
        return {it: self.pool.submit(self._list, it) for it in places}

    def _places(self, found: ServedResources, kinds: Iterable[GroupKind]) -> list[Resource]:
        """The resources of kinds. A kind that is not served is absent, an unknown kind is a gap."""
        places = []
        for kind in sorted(kinds):
            try:
                place = found.find(kind, self.wanted.versions.get(kind, ""))
            except ReadError as error:
                self.gaps.append(Gap(*kind, "", str(error)))
                continue
            if place is None:
                self.unserved.add(kind)
            else:
                places.append(place)
        return places

    def _list(self, it: Resource) -> _Listed:
        namespaces = self.wanted.namespaces if it.namespaced and self.wanted.namespaces else ("",)
        listed = _Listed()
        kind = GroupKind(it.group, it.kind)
        for namespace in namespaces:
            try:
                if kind == POD:
                    listed.pods += pages.items(
                        self.server.fetch, it.path(namespace), {}, ListedPod, self._pod
                    )
                else:
                    listed.objects += self._objects(it, namespace, {})
            except ReadError as error:
                listed.gaps.append(Gap(it.group, it.kind, namespace, str(error)))
        return listed

    def _pod(self, listed: ListedPod) -> Pod:
        pod = self.rows.row(listed)
        data = pod_lists.unowned(listed, pod)
        if data is not None:
            self.unowned[pod.number] = data
        return pod

    def _objects(
        self, it: Resource, namespace: str, query: Mapping[str, str]
    ) -> list[dict[str, Any]]:
        type_ = listed_as(GroupKind(it.group, it.kind))
        return pages.items(
            self.server.fetch, it.path(namespace), query, type_, partial(_projected, it)
        )

    def _config_maps(self, found: ServedResources, lists: Mapping[Resource, Any]) -> _Listed:
        """The ConfigMaps with controllers' files, each requested by name: others can contain secrets."""
        place = found.find(CONFIG_MAP)
        read = _Listed()
        if place is None:
            self.unserved.add(CONFIG_MAP)
            return read
        deployments = (
            self._listed(it, future)
            for it, future in lists.items()
            if (it.group, it.kind) == _DEPLOYMENT
        )
        objects = (Object.read(data, At(0)) for each in deployments for data in each.objects)
        names = {
            (namespace, name) for name in self.wanted.config_maps for namespace in self._where()
        }
        names |= {
            (each.object.namespace, name)
            for each in controllers(it for it in objects if it is not None)
            for name in each.config_maps
            if name not in self.wanted.config_maps
        }
        futures = {key: self.pool.submit(self._named, place, *key) for key in sorted(names)}
        for (namespace, name), future in futures.items():
            try:
                read.objects += self._of(future)
            except ReadError as error:
                read.gaps.append(Gap("", "ConfigMap", namespace, f"{name}: {error}"))
        return read

    def _named(self, place: Resource, namespace: str, name: str) -> list[dict[str, Any]]:
        """The ConfigMaps with a name, in one namespace or all. RBAC can allow such a list by name."""
        return self._objects(place, namespace, {"fieldSelector": f"metadata.name={name}"})

    def _where(self) -> Sequence[str]:
        return self.wanted.namespaces or ("",)

    def _listed(self, it: Resource, future: "Future[_Listed]") -> _Listed:
        """A list, or a gap with the reason why it could not be read."""
        try:
            return self._of(future)
        except ReadError as error:
            return _Listed(gaps=[Gap(it.group, it.kind, "", str(error))])

    def _server(self, version: "Future[str]") -> tuple[str, str]:
        """The version of the server, or the reason why it is unknown."""
        try:
            return self._of(version), ""
        except ReadError as error:
            return "", str(error)

    def _of(self, future: "Future[T]") -> T:
        """The result of a future. Raises ReadError after the deadline, and the errors of the future.

        The waits are short for two reasons. A thread that reads the head of an answer byte by byte,
        or runs a plugin, does not check the deadline. And a Ctrl-C just before a wait is only
        noticed after that wait.
        """
        while not future.done():
            if self.server.late_s > _GRACE_S:
                raise ReadError("the time limit was reached")
            with suppress(TimeoutError):
                return future.result(_WAIT_S)
        return future.result()


def _ordered(places: Iterable[Resource]) -> list[Resource]:
    rank = {kind: number for number, kind in enumerate(_LARGEST_FIRST)}
    return sorted(places, key=lambda it: rank.get(it.kind, len(rank)))


def _projected(it: Resource, item: Any) -> dict[str, Any]:
    """An item as an object. In lists of built-in kinds, servers omit apiVersion and kind."""
    complete = {**plain(item), "apiVersion": it.api_version, "kind": it.kind}
    return projection.projected(GroupKind(it.group, it.kind), complete)
