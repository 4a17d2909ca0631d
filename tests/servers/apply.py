"""Server-side apply of YAML files, twice: what is refused, and what does the second apply change?

Prints one line for each refusal and each `Warning:` header. The exit code is 0 only if every object
was accepted and the second apply changed nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import yaml

from .client import APPLY, Answer, Client, Object, Resource

FIELD_MANAGER = "policygen"
RETRY_S = 10.0
RETRY_PAUSE_S = 0.1
SECOND_TRIES = 5
UNCOMPARED_METADATA = frozenset({"managedFields", "resourceVersion"})
SHOWN_DIFFERENCES = 5
LAGGING = (
    'admission webhook "validatequeue.volcano.sh"',
    'admission webhook "validatepodgroup.volcano.sh"',
    'admission webhook "validatejob.volcano.sh" denied the request: can only submit job to queue',
)
"""They judge by a cache: a queue, or its parent, may be missing there, or not be open yet."""
NOT_SENT = 999
"""Our own status: the object names a kind that the server does not have."""


@dataclass(frozen=True)
class Document:
    """One object of one file, and the text that is sent: the server judges it as written."""

    file: str
    index: int
    thing: Object
    text: str

    @property
    def kind(self) -> str:
        return str(self.thing.get("kind"))

    @property
    def name(self) -> str:
        metadata = self.thing.get("metadata") or {}
        namespace = metadata.get("namespace")
        return f"{namespace}/{metadata.get('name')}" if namespace else str(metadata.get("name"))

    def __str__(self) -> str:
        return f"{self.file}#{self.index} {self.kind} {self.name}"

    @property
    def group(self) -> str:
        """Its API group; empty for the core."""
        return str(self.thing.get("apiVersion")).rpartition("/")[0]

    @property
    def is_volcano_queue(self) -> bool:
        return self.group == "scheduling.volcano.sh" and self.kind == "Queue"


@dataclass
class Outcome:
    """What happened to all documents."""

    refused: list[tuple[Document, str]] = field(default_factory=list)
    warnings: list[tuple[Document, str]] = field(default_factory=list)
    changed: list[tuple[Document, list[str]]] = field(default_factory=list)
    retries: int = 0
    accepted_late: int = 0
    accepted: int = 0
    created_namespaces: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not self.refused and not self.changed


class Applier:
    """Applies documents to one server, as `policygen`, forced and strictly validated."""

    def __init__(
        self,
        client: Client,
        *,
        create_namespaces: bool = False,
        jobs: int = 1,
        retry_s: float = RETRY_S,
    ) -> None:
        self.outcome = Outcome()
        self._retry_s = retry_s
        self._client = client
        self._create_namespaces = create_namespaces
        self._jobs = jobs
        self._lock = threading.Lock()
        self._namespaces: set[str] = set()
        self._queue_changed = time.monotonic()

    def apply_all(self, documents: list[Document]) -> list[Document]:
        """First round, stage after stage, `jobs` at a time within one: who was accepted."""
        accepted = []
        with ThreadPoolExecutor(self._jobs) as pool:
            for batch in stages(documents):
                for document, answer in zip(batch, pool.map(self._apply, batch), strict=True):
                    self._note(document, answer)
                    if answer.ok:
                        accepted.append(document)
        self.outcome.accepted = len(accepted)
        return accepted

    def apply_again(self, documents: list[Document]) -> None:
        """Second round: note each object that this apply changed."""
        with ThreadPoolExecutor(self._jobs) as pool:
            for document, found in zip(
                documents, pool.map(self._apply_once_more, documents), strict=True
            ):
                if found:
                    self.outcome.changed.append((document, found))

    def _apply(self, document: Document) -> Answer:
        try:
            path = self._path(document.thing)
        except LookupError as error:
            return Answer(NOT_SENT, {"message": str(error.args[0])})
        answer = self._patch(path, document)
        return self._retry_while_cache_lags(path, document, answer)

    def _retry_while_cache_lags(self, path: str, document: Document, answer: Answer) -> Answer:
        """Volcano's webhooks read Queues from a cache that trails the last accepted Queue."""
        retries = 0
        while (
            not answer.ok
            and any(said in answer.message for said in LAGGING)
            and time.monotonic() < self._queue_changed + self._retry_s
        ):
            time.sleep(RETRY_PAUSE_S)
            retries += 1
            answer = self._patch(path, document)
        with self._lock:
            self.outcome.retries += retries
            self.outcome.accepted_late += bool(retries and answer.ok)
            if answer.ok and document.is_volcano_queue:
                self._queue_changed = time.monotonic()
        return answer

    def _apply_once_more(self, document: Document) -> list[str]:
        path = self._path(document.thing)
        found: list[str] = []
        for _ in range(SECOND_TRIES):
            before = self._client.get(path)
            answer = self._patch(path, document)
            if not answer.ok:
                return [f"refused the second time: {answer.status} {answer.message}"]
            if not before.ok:
                return [f"not there before the second apply: {before.message}"]
            found = _changes(before.body, answer.body)
            if _others_fields(before.body) == _others_fields(answer.body):
                break  # else a controller wrote in between: judge again
        return found

    def _patch(self, path: str, document: Document) -> Answer:
        return self._client.request(
            "PATCH",
            path,
            document.text,
            content_type=APPLY,
            query={
                "fieldManager": FIELD_MANAGER,
                "force": "true",
                "fieldValidation": "Strict",
            },
        )

    def _path(self, thing: Object) -> str:
        resource: Resource = self._client.resource(str(thing["apiVersion"]), str(thing["kind"]))
        metadata = thing["metadata"]
        namespace = metadata.get("namespace")
        if resource.namespaced and not namespace:
            namespace = "default"
        if resource.namespaced and self._create_namespaces:
            self._ensure_namespace(namespace)
        return resource.path(namespace, str(metadata["name"]))

    def _ensure_namespace(self, name: str) -> None:
        with self._lock:
            if name in self._namespaces:
                return
            namespace: Object = {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": name},
            }
            if self._client.request("POST", "/api/v1/namespaces", namespace).ok:
                self.outcome.created_namespaces.append(name)
            self._namespaces.add(name)

    def _note(self, document: Document, answer: Answer) -> None:
        for warning in answer.warnings:
            self.outcome.warnings.append((document, warning))
        if not answer.ok:
            status = "not sent" if answer.status == NOT_SENT else answer.status
            self.outcome.refused.append((document, f"{status}: {answer.message}"))


def _changes(before: Object, after: Object) -> list[str]:
    """How our apply changed an object; a status that a controller wrote does not count."""
    if before["metadata"]["resourceVersion"] == after["metadata"]["resourceVersion"]:
        return []
    found = list(_differences(_compared(before), _compared(after)))[:SHOWN_DIFFERENCES]
    if _own_fields(before) != _own_fields(after):
        found.append("managedFields of policygen")
    return found


def _compared(thing: Object) -> Object:
    kept = {key: value for key, value in thing.items() if key != "status"}
    kept["metadata"] = {
        key: value for key, value in thing["metadata"].items() if key not in UNCOMPARED_METADATA
    }
    return kept


def _own_fields(thing: Object) -> list[Object]:
    return [entry for entry in _managed(thing) if _is_own(entry)]


def _others_fields(thing: Object) -> list[Object]:
    return [entry for entry in _managed(thing) if not _is_own(entry)]


def _managed(thing: Object) -> list[Object]:
    return list(thing["metadata"].get("managedFields", []))


def _is_own(entry: Object) -> bool:
    return entry["manager"] == FIELD_MANAGER and not entry.get("subresource")


def _differences(before: object, after: object, at: str = "") -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            yield from _differences(before.get(key), after.get(key), f"{at}.{key}" if at else key)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (left, right) in enumerate(zip(before, after, strict=True)):
            yield from _differences(left, right, f"{at}[{index}]")
    elif before != after:
        yield f"{at}: {before!r} became {after!r}"


def stages(documents: list[Document]) -> Iterator[list[Document]]:
    """Runs of one kind; within Volcano's queues parents before children.

    What is in one stage may be applied at once. The order of documents is kept otherwise.
    """
    for _, run in groupby(documents, key=lambda d: (d.thing.get("apiVersion"), d.kind)):
        batch = list(run)
        if not batch[0].is_volcano_queue:
            yield batch
            continue
        parents = {d.thing["metadata"]["name"]: _parent(d.thing) for d in batch}
        by_depth: dict[int, list[Document]] = {}
        for document in batch:
            by_depth.setdefault(_depth(parents, _parent(document.thing)), []).append(document)
        yield from (by_depth[depth] for depth in sorted(by_depth))


def _parent(queue: Object) -> str | None:
    return (queue.get("spec") or {}).get("parent")


def _depth(parents: dict[str, str | None], parent: str | None) -> int:
    """How many of these queues are above; a cycle ends the count."""
    above = []
    while parent in parents and parent not in above:
        above.append(parent)
        parent = parents[parent]
    return len(above)


def read(files: list[Path]) -> list[Document]:
    """All documents of all files and folders, in order; empty ones are skipped, Lists unpacked."""
    return [
        document
        for given in files
        for path in (sorted(given.rglob("*.yaml")) if given.is_dir() else [given])
        for document in parse(path.read_text(encoding="utf-8"), str(path))
    ]


def parse(text: str, name: str) -> list[Document]:
    """The documents of one text that came from the file `name`."""
    found = []
    loader = yaml.CSafeLoader(text)
    index = 0
    while loader.check_node():
        node = loader.get_node()
        assert node
        thing = loader.construct_document(node)
        index += 1
        if thing is None:
            continue
        if thing.get("kind") == "List":
            found += [Document(name, index, item, json.dumps(item)) for item in thing["items"]]
        else:
            begin = text.rfind("\n", 0, node.start_mark.index) + 1
            found.append(Document(name, index, thing, text[begin : node.end_mark.index]))
    return found


def lines(outcome: Outcome) -> Iterator[str]:
    """One line for each warning, refusal and change; the last line has the totals."""
    for document, warning in outcome.warnings:
        yield f"WARNING {document}: {warning}"
    for document, message in outcome.refused:
        yield f"REFUSED {document}: {' '.join(message.split())}"
    for document, differences in outcome.changed:
        yield f"CHANGED {document}: {'; '.join(differences)}"
    if outcome.created_namespaces:
        yield f"created namespaces: {', '.join(sorted(outcome.created_namespaces))}"
    yield (
        f"{outcome.accepted} accepted, {len(outcome.refused)} refused, "
        f"{len(outcome.warnings)} warnings, {len(outcome.changed)} changed by a second apply, "
        f"{outcome.retries} retries of Volcano queues ({outcome.accepted_late} then accepted)"
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="apply.py", description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--create-namespaces", action="store_true", help="make missing namespaces")
    parser.add_argument("--jobs", type=int, default=1, help="requests at once within one kind (1)")
    parser.add_argument("files", type=Path, nargs="+", metavar="PATH")
    options = parser.parse_args(arguments)
    try:
        documents = read(options.files)
        client = Client.from_kubeconfig(options.kubeconfig)
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        print(f"apply: {error!r}", file=sys.stderr)
        return 2
    applier = Applier(client, create_namespaces=options.create_namespaces, jobs=options.jobs)
    try:
        applier.apply_again(applier.apply_all(documents))
    except OSError as error:
        print(f"apply: {client.server}: {error}", file=sys.stderr)
        return 2
    for line in lines(applier.outcome):
        print(line)
    return 0 if applier.outcome.clean else 1


if __name__ == "__main__":
    sys.exit(main())
