"""Cleans a used control plane: deletes every object that did not exist at the start."""

from __future__ import annotations

import base64
import http.client
import json
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from urllib.parse import urlsplit

from .client import JSON, MERGE, ApiError, Client, Object, Resource

METADATA_ONLY = f"{JSON};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
STUCK_S = 60.0
FORGOTTEN_S = 10.0
"""Seconds.

If a flavor is deleted at the moment of its last use, Kueue can miss the use and keep its finalizer
forever. After this time without a change the object is removed here, since no test needs it.
"""
POLL_S = 0.05
THREADS = 8
TRIES = 5
SHOWN = 10
CRDS = "customresourcedefinitions"
KEPT = frozenset({"events"})
"""Not waited for: they go with their namespace, or are deleted at the end."""
OWNERS = frozenset({"jobs", "cronjobs", "deployments", "statefulsets", "daemonsets", "replicasets"})
"""What makes other objects goes first, lest it makes them again."""
STORED_AS = {
    "ingresses": "ingress",
    "nodes": "minions",
    "replicationcontrollers": "controllers",
}
"""The word in etcd's keys for resources that are not stored under their plural."""
UNLISTED = KEPT | {"masterleases", "peerserverleases", "ranges"}
"""Words in keys of what no test makes, or nothing lists."""
ETCD_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Thing:
    """One object, by where it lives."""

    resource: Resource
    namespace: str | None
    name: str

    @property
    def path(self) -> str:
        return self.resource.path(self.namespace, self.name)

    def __str__(self) -> str:
        return f"{self.resource.plural}/{f'{self.namespace}/' if self.namespace else ''}{self.name}"


class Slate:
    """Knows the objects of the new control plane, of all resources or of some plurals.

    One request to etcd finds the resources with new objects, and only those are listed. To list all
    of them, twice a test, costs the API server more than most tests do.
    """

    def __init__(self, client: Client, etcd: str, only: Collection[str] = ()) -> None:
        """`etcd` is its URL."""
        self._client, self._etcd, self._only = client, etcd, only
        self._pool = ThreadPoolExecutor(THREADS)
        self._resources = [it for it in _deletable(client) if not only or it.plural in only]
        self._since = int(self._keys(limit=1)["header"]["revision"])
        self._baseline = frozenset(self._found(self._resources))
        self._specs = {
            thing.path: self._spec(thing.path) for thing in self._baseline if _own(thing)
        }

    def clean(self) -> None:
        """Delete all that came since; returns when it is gone. Raises ApiError if some stays.

        Namespaces go last and empty, and are finalized here: their controller lets each one wait
        for five seconds first.
        """
        fewest, end = None, 0.0
        groups: set[str] = set()
        while left := self.left():
            groups |= _groups(left)
            if fewest is None or len(left) < fewest:
                fewest, end = len(left), time.monotonic() + STUCK_S
            if time.monotonic() > end - STUCK_S + FORGOTTEN_S:
                list(self._pool.map(self._let_go, (it for it, going in left.items() if going)))
            if time.monotonic() > end:
                raise ApiError(f"still there, for {STUCK_S:.0f} s the same: {_named(left)}")
            list(self._pool.map(self._delete, _next(left)))
            time.sleep(POLL_S)
        self._client.request("DELETE", "/api/v1/namespaces/default/events")
        for path, spec in self._specs.items():
            if self._spec(path) != spec:
                self._restore(path, spec)
        if groups := groups - _groups(self._baseline):
            self._forget(groups)

    def _forget(self, groups: Collection[str]) -> None:
        """Forget the kinds of deleted CRDs, which the server lists a little longer than it has them."""
        served, end = set(groups), time.monotonic() + STUCK_S
        while served := {it for it in served if self._client.get(f"/apis/{it}").ok}:
            if time.monotonic() > end:
                raise ApiError(f"still served without their CRDs: {', '.join(sorted(served))}")
            time.sleep(POLL_S)
        self._client.forget_resources()

    def _let_go(self, thing: Thing) -> None:
        nothing: Object = {"metadata": {"finalizers": None}}
        self._client.request("PATCH", thing.path, nothing, content_type=MERGE)

    def close(self) -> None:
        self._pool.shutdown()

    def left(self) -> dict[Thing, bool]:
        """New objects, and whether each is being deleted already."""
        found = self._found(self._changed())
        going = {
            thing.name for thing in found if thing.resource.plural == "namespaces" and found[thing]
        }
        return {
            thing: deleting
            for thing, deleting in found.items()
            if thing not in self._baseline and thing.namespace not in going
        }

    def _changed(self) -> list[Resource]:
        """The resources that have objects which came since, at least."""
        found = self._keys(min_create_revision=self._since + 1, keys_only=True).get("kvs", ())
        # /registry/GROUP/RESOURCE/... of a custom resource, /registry/RESOURCE/... of the others.
        keys = [set(base64.b64decode(each["key"]).decode().split("/")[2:4]) for each in found]
        known = {_word(it) for it in self._resources} | UNLISTED
        if not self._only and any(map(known.isdisjoint, keys)):
            return self._resources
        return [it for it in self._resources if any(_word(it) in key for key in keys)]

    def _keys(self, **options: object) -> Object:
        """What etcd answers about the keys of all objects."""
        first, end = (base64.b64encode(key).decode() for key in (b"/registry/", b"/registry0"))
        asked = json.dumps({"key": first, "range_end": end, **options}).encode()
        where = urlsplit(self._etcd).netloc
        with closing(http.client.HTTPConnection(where, timeout=ETCD_TIMEOUT_S)) as connection:
            connection.request("POST", "/v3/kv/range", asked)
            body: Object = json.load(connection.getresponse())
        return body

    def _found(self, resources: Iterable[Resource]) -> dict[Thing, bool]:
        return {
            thing: deleting
            for things in self._pool.map(self._list, resources)
            for thing, deleting in things
        }

    def _spec(self, path: str) -> Object:
        spec: Object = self._client.get(path).body.get("spec", {})
        return spec

    def _restore(self, path: str, spec: Object) -> None:
        for _ in range(TRIES):  # a controller may write its status in between
            answer = self._client.request(
                "PUT", path, {**self._client.get(path).body, "spec": spec}
            )
            if answer.status != http.client.CONFLICT:
                break
        if not answer.ok:
            raise ApiError(f"{path} not restored: {answer.message}")

    def _list(self, resource: Resource) -> list[tuple[Thing, bool]]:
        answer = self._client.request("GET", resource.path(None), accept=METADATA_ONLY)
        if not answer.ok:
            raise ApiError(f"{resource.plural}: {answer.message}")
        return [
            (Thing(resource, meta.get("namespace"), meta["name"]), "deletionTimestamp" in meta)
            for meta in (item["metadata"] for item in answer.body["items"] or [])
        ]

    def _delete(self, thing: Thing) -> None:
        options: Object = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Background",
        }
        if thing.resource.plural == "pods":
            options["gracePeriodSeconds"] = 0
        # Refused as long as something else needs it (a Volcano queue's children): asked again.
        self._client.request("DELETE", thing.path, options)
        if thing.resource.plural == "namespaces":
            self._client.request("DELETE", f"{thing.path}/events")
            final: Object = {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": thing.name},
                "spec": {"finalizers": []},
            }
            self._client.request("PUT", f"{thing.path}/finalize", final)


def _groups(things: Iterable[Thing]) -> set[str]:
    """The API groups of CRDs, which have the name PLURAL.GROUP."""
    return {it.name.partition(".")[2] for it in things if it.resource.plural == CRDS}


def _word(resource: Resource) -> str:
    """The name of the resource in etcd's keys."""
    return STORED_AS.get(resource.plural, resource.plural)


def _next(left: dict[Thing, bool]) -> list[Thing]:
    """What to delete now: owners, then the rest, then namespaces.

    A pod that its owner's end gave a grace period is asked again, without: its node may be gone.
    """
    waiting = [
        thing for thing, deleting in left.items() if not deleting or thing.resource.plural == "pods"
    ]
    owners = [thing for thing in waiting if thing.resource.plural in OWNERS]
    within = [thing for thing in waiting if thing.resource.plural != "namespaces"]
    emptied = all(thing.resource.plural == "namespaces" for thing in left)
    return owners or within or (waiting if emptied else [])


def _own(thing: Thing) -> bool:
    """True for objects of Volcano or Kueue that exist from the start: the queues root and default."""
    return thing.resource.prefix.startswith(("/apis/scheduling.volcano.sh", "/apis/kueue.x-k8s.io"))


def _deletable(client: Client) -> Iterator[Resource]:
    """Every resource that can be listed and deleted, in one version each."""
    groups = client.get("/apis").body["groups"]
    prefixes = ["/api/v1", *(f"/apis/{g['preferredVersion']['groupVersion']}" for g in groups)]
    for prefix in prefixes:
        for entry in client.get(prefix).body["resources"]:
            if (
                "/" not in entry["name"]
                and {"list", "delete"} <= set(entry["verbs"])
                and entry["name"] not in KEPT
            ):
                yield Resource(prefix, entry["name"], entry["namespaced"])


def _named(left: dict[Thing, bool]) -> str:
    counts = Counter(thing.resource.plural for thing in left)
    shown = ", ".join(sorted(map(str, left))[:SHOWN])
    return f"{', '.join(f'{count} {name}' for name, count in counts.items())} ({shown}, ...)"
