"""Does `refused_changes` name what real servers refuse to change? Drawn changes of stored objects.

    python -m tests.servers.updates --count 3000 --seed 7

draws more cases, and others, than the test, and prints where the two differ. A case is a valid
object with one changed field. It counts if the servers accept it as a new object, so that only the
change can be refused.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from typing import Any, NamedTuple

from policygen.api_validation.updates.refused import refused_changes
from policygen.api_validation.updates.states import applied
from policygen.core.finding import Path, at_path, dotted

from .apply import FIELD_MANAGER
from .client import APPLY, Answer, Object
from .cluster import LATE, Cluster
from .samples import samples
from .update_seeds import BOUND, UNRECORDED, VOLUMES, unrecorded

THREADS = 8
COUNT = 300
LAG_S = 3.0
LONGEST = 300
"""Characters of a message that are printed."""
NAMESPACE = "updates"
NAME = "mine"
KINDS = (
    "ConfigMap", "ResourceQuota", "LimitRange", "Pod", "Deployment", "ReplicaSet", "StatefulSet",
    "Job", "CronJob", "PriorityClass", "ClusterRoleBinding", "RoleBinding", "AdmissionCheck",
    "Cohort", "LocalQueue", "ClusterQueue", "ResourceFlavor", "Topology", "WorkloadPriorityClass",
    "Queue", "PodGroup", "HyperNode", *UNRECORDED,
)  # fmt: skip
REPLACED_AS_CREATED = {"Pod", "Job", "Queue", "Service"}
"""Kinds that get other defaults on create than on an update, so they are only applied."""
_NOT_A_CHANGE = re.compile(r"object has been modified|: (?:Required|Duplicate) value")
"""A controller was faster, or the new state is invalid: two ports with one name after an apply, or a
field that Kueue's webhook fills only on create."""
LABELS = (
    "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class",
    "kueue.x-k8s.io/max-exec-time-seconds",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    "a",
    "b",
    "30",
    1,
    2,
    5,
    True,
    False,
    "Never",
    "Always",
    "500m",
    "zone",
    "NonIndexed",
    "None",
    "6Gi",
)


class Case(NamedTuple):
    """A changed object."""

    stored: Object
    changed: Object
    at: Path
    verb: str
    """PATCH applies it beside the stored fields, PUT replaces the object."""

    def __str__(self) -> str:
        old, new = (at_path(it, self.at) for it in (self.stored, self.changed))
        kind = f"{self.stored['apiVersion']} {self.stored['kind']}"
        return f"{self.verb} {kind} {dotted(self.at)}: {json.dumps(old)} to {json.dumps(new)}"


class Verdict(NamedTuple):
    """What the servers and policygen say about a case."""

    case: Case
    server: str
    """Why the change is refused; empty: accepted."""
    ours: tuple[str, ...]

    @property
    def agree(self) -> bool:
        return bool(self.server) == bool(self.ours)

    @property
    def is_known(self) -> bool:
        """Whether an apply removed a field: policygen takes a missing field as unchanged."""
        removed = at_path(self.case.changed, self.case.at) is None
        return bool(self.server) and self.case.verb == "PATCH" and removed

    def __str__(self) -> str:
        server = self.server[:LONGEST] or "accepts"
        return f"{self.case}\n  server: {server}\n  ours:   {'; '.join(self.ours) or 'accepts'}"


def seeds() -> list[Object]:
    """Valid objects: a sample of each kind, and variants of which other fields may change."""
    found = [
        {**thing, "metadata": {"name": NAME, "namespace": NAMESPACE}}
        for thing in samples()
        if thing["kind"] in KINDS
    ]
    found += unrecorded(NAMESPACE)
    return [*found, *(variant for thing in found for variant in _variants(thing))]


def _variants(thing: Object) -> Iterator[Object]:
    spec: Object = thing.get("spec", {})
    labels = dict.fromkeys(LABELS, "1")

    def named(name: str, **fields: Any) -> Object:
        metadata = {"name": name, "namespace": NAMESPACE, "labels": fields.pop("labels", {})}
        return {**thing, "metadata": metadata, **fields}

    match thing["apiVersion"], thing["kind"]:
        case "batch/v1", "Job":
            template = deepcopy(spec["template"])
            template["spec"]["schedulerName"] = "default-scheduler"
            plain = {**spec, "template": template}
            yield named("queued", spec=plain, labels=labels)
            yield named("free", spec=plain)
            yield named("runs", spec={**plain, "suspend": False, "completionMode": "NonIndexed"})
        case "v1", "Pod":
            yield named("gated", spec={**spec, "schedulingGates": [{"name": "a.b/c"}]})
        case "batch.volcano.sh/v1alpha1", "Job":
            (task, *others) = deepcopy(spec["tasks"])
            pods = {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}
            task["template"]["spec"] |= pods
            yield named("network", spec={**spec, "tasks": [task, *others]})
        case "v1", "ConfigMap":
            yield named("free", immutable=False)
        case "v1", "ResourceQuota":
            scopes = ["NotTerminating", "NotBestEffort"]
            yield named("scoped", spec={"hard": {"pods": "10"}, "scopes": scopes})
        case _, "ResourceFlavor":
            free = {key: it for key, it in spec.items() if key != "topologyName"}
            yield named(f"free-{thing['apiVersion'].rpartition('/')[2]}", spec=free)
        case "apps/v1", "Deployment":
            yield named("queued", labels=labels)


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every field below a value."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield (*path, key)
            yield from places(inside, (*path, key))
    elif isinstance(value, list):
        for index, inside in enumerate(value):
            yield (*path, index)
            yield from places(inside, (*path, index))


def change(thing: Object, chance: random.Random) -> tuple[Object, Path]:
    """A copy with one changed field, and where."""
    changed = deepcopy(thing)
    metadata = changed["metadata"]
    if chance.random() < 0.1:
        label = chance.choice(LABELS)
        labels = metadata.setdefault("labels", {})
        value = chance.choice(("1", "2", "b", None))
        labels[label] = value
        if value is None:
            del labels[label]
        return changed, ("metadata", "labels", label)
    body = {key: it for key, it in changed.items() if key not in {"apiVersion", "kind", "metadata"}}
    path = chance.choice([it for it in places(body) if it != ("spec",)])
    *parents, last = path
    holder: Any = changed
    for step in parents:
        holder = holder[step]
    if chance.random() < 0.3:
        del holder[last]
    elif isinstance(holder[last], list) and chance.random() < 0.5:
        holder[last] = chance.choice((holder[last][::-1], holder[last][:1], []))
    elif isinstance(holder, dict) and chance.random() < 0.1:
        holder[f"{last}-b"] = holder[last]
    else:
        holder[last] = other(holder[last], chance)
    return changed, path


def other(value: Any, chance: random.Random) -> Any:
    """Another value, mostly of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + chance.choice((-1, 1, 2))
    if isinstance(value, str) and chance.random() < 0.5:
        return f"{value}b"
    if isinstance(value, dict) and value and chance.random() < 0.5:
        return {"b": next(iter(value.values()))}
    return chance.choice(VALUES)


class Judges:
    """Real servers with the stored objects, and `refused_changes`."""

    def __init__(self, cluster: Cluster) -> None:
        self.client = cluster.client
        cluster.namespace(NAMESPACE)
        world = [
            *(
                {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                 "metadata": {"name": name}, "value": 5}
                for name in ("a", "b")
            ),
            {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
             "metadata": {"name": "a"}, "spec": {"weight": 1}},
        ]  # fmt: skip
        cluster.create(*world, *VOLUMES)
        with ThreadPoolExecutor(THREADS) as pool:
            made = pool.map(self._made, map(self._unscoped, seeds()))
            self.seeds = [each for each in made if each is not None]
        cluster.becomes("bound claims", self._bound, len(BOUND))

    def _bound(self) -> int:
        path = self.client.resource("v1", "PersistentVolumeClaim").path(NAMESPACE)
        found = (self.client.get(f"{path}/{name}").body for name in BOUND)
        return sum(it["status"]["phase"] == "Bound" for it in found)

    def _storage_class(self, name: str) -> Object | None:
        """A StorageClass as a snapshot keeps it."""
        found = self.client.get(
            self.client.resource("storage.k8s.io/v1", "StorageClass").path(None, name)
        )
        return {"allowVolumeExpansion": False, **found.body} if found.ok else None

    def _made(self, sent: Object) -> tuple[Object, Object] | None:
        """An object as it was sent, and as it is stored; None if another version of it exists."""
        answer = self._late("POST", self._path(sent), sent, {"fieldValidation": "Strict"})
        assert answer.ok or answer.body.get("reason") == "AlreadyExists", answer.message
        return (sent, answer.body) if answer.ok else None

    def ask(self, count: int, number: int) -> list[Verdict]:
        """The results for so many drawn cases that count; the same for the same number."""
        chance = random.Random(number)
        found: list[Verdict] = []
        with ThreadPoolExecutor(THREADS) as pool:
            while len(found) < count:
                drawn = [self._draw(chance, index) for index in range(len(self.seeds))]
                asked = pool.map(self._verdict, drawn)
                found += [each for each in asked if each is not None]
        return found[:count]

    def _draw(self, chance: random.Random, index: int) -> Case:
        sent, stored = self.seeds[index]
        changed, at = change(sent, chance)
        verb = chance.choice(("PATCH", "PUT"))
        verb = "PATCH" if sent["kind"] in REPLACED_AS_CREATED else verb
        return Case(stored, changed, at, verb)

    def _verdict(self, case: Case) -> Verdict | None:
        path, name = self._path(case.changed), case.changed["metadata"]["name"]
        fresh = {**case.changed, "metadata": {**case.changed["metadata"], "name": "fresh"}}
        dry = {"dryRun": "All", "fieldValidation": "Strict"}
        created = self._late("POST", path, fresh, dry)
        if not created.ok:
            return None
        # Controllers write to the stored objects, too.
        found_now = self.client.get(f"{path}/{name}")
        if not found_now.ok:  # or delete them
            return None
        stored = found_now.body
        case = case._replace(stored=stored)
        if case.verb == "PATCH":
            more = {"fieldManager": FIELD_MANAGER, "force": "true"}
            answer = self._late("PATCH", f"{path}/{name}", case.changed, {**dry, **more})
            new = applied(stored, case.changed)
        else:
            version = {"resourceVersion": stored["metadata"]["resourceVersion"]}
            body = {**case.changed, "metadata": {**case.changed["metadata"], **version}}
            answer = self._late("PUT", f"{path}/{name}", body, dry)
            new = {**created.body, "status": stored.get("status", {})}
        if not answer.ok and _NOT_A_CHANGE.search(answer.message):
            return None
        found = refused_changes(stored, new, storage_class=self._storage_class)
        ours = tuple(f"{dotted(it.path)}: {it.why}" for it in found)
        return Verdict(case, "" if answer.ok else answer.message, ours)

    def _late(self, verb: str, path: str, body: Object, query: dict[str, str]) -> Answer:
        end = time.monotonic() + LAG_S
        of = {"content_type": APPLY} if verb == "PATCH" else {}
        while True:
            answer = self.client.request(verb, path, body, query=query, **of)
            if answer.ok or not LATE.search(answer.message) or time.monotonic() > end:
                return answer
            time.sleep(0.1)

    def _unscoped(self, thing: Object) -> Object:
        """Without a namespace if the kind has none."""
        if self.client.resource(thing["apiVersion"], thing["kind"]).namespaced:
            return thing
        metadata = {key: it for key, it in thing["metadata"].items() if key != "namespace"}
        return {**thing, "metadata": metadata}

    def _path(self, thing: Object) -> str:
        return self.client.resource(thing["apiVersion"], thing["kind"]).path(NAMESPACE)


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many cases agree, and which kinds do not."""
    refused = sum(bool(each.server) for each in verdicts)
    differ = [each for each in verdicts if not each.agree]
    unknown = Counter(each.case.stored["kind"] for each in differ if not each.is_known)
    words = ", ".join(f"{count} {kind}" for kind, count in sorted(unknown.items())) or "none"
    known = len(differ) - unknown.total()
    agree = len(verdicts) - len(differ)
    return (
        f"{agree} of {len(verdicts)} agree, {refused} are refused, {known} removals; not: {words}"
    )


def main() -> int:
    """Draw, ask, and print where they differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.servers.updates")
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    from .bench import Bench  # noqa: PLC0415 - only here
    from .build import located  # noqa: PLC0415 - only for its command
    from .upstream import control_plane  # noqa: PLC0415 - as above

    built = {upstream.name: located(upstream) for upstream in control_plane()}
    with Bench(built) as bench:
        judges = Judges(Cluster(bench))
        start = time.monotonic()
        verdicts = judges.ask(options.count, options.seed)
        took = time.monotonic() - start
    for each in verdicts:
        if not each.agree:
            print("[removal]" if each.is_known else "[unknown]", each)
    print(f"{summary(verdicts)}; {took:.0f} s")
    return 1 if any(not each.agree and not each.is_known for each in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
