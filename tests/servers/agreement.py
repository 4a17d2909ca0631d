"""Does `policygen lint` refuse what the servers refuse? Drawn changes of good objects, asked of both.

    python -m tests.servers.agreement --count 5000 --seed 7

asks more, and others, than the test does, and prints where they differ. With `--families`, it draws so
many of each family of `families`, and prints a table.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cache
from http import HTTPStatus
from http.client import RemoteDisconnected
from itertools import islice, zip_longest
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import yaml
from hypothesis import HealthCheck, Phase, given, seed, settings

from policygen.api_validation.metadata import is_namespace
from policygen.api_validation.schemas import index
from policygen.app import lint as app_lint
from policygen.app.requests import LintRequest
from policygen.core import versions
from policygen.core.finding import Verdict
from policygen.core.rule import Family
from policygen.lint.registry import RULES
from tests.examples_of_rules import examples

from . import autoscaler_families, container_families, families, workload_families
from .apply import FIELD_MANAGER
from .client import APPLY, JSON, Object
from .cluster import LATE, Cluster
from .mutations import mutated
from .samples import samples

ROOT = Path(__file__).parents[2]
TODAY = date(2026, 11, 21)
BEFORE = "namespace-missing"
"""Not asked: the namespace of each case is made before it."""
INVALID = tuple(
    rule.name for rule in RULES if rule.family is Family.INVALID and rule.name != BEFORE
)
RUNNING = {name: versions.parse(name, index().versions[name]) for name in versions.SUPPORTED}
COUNT = 500
THREADS = 8
CRASHED = "a bug in"
APPLY_ALONE = "apply alone:"
LONGEST = 300
MOST_BYTES = 500_000
"""More may be more than a server reads."""
LAG_S = 3.0
"""For a webhook whose cache trails what was just made."""
WORLD = ("Namespace", "PriorityClass", "Queue")
"""What other objects must find on the server: made for good, and given to lint beside each."""
NOT_RUN = (
    "karpenter.sh/",
    "jobset.x-k8s.io/",
    "kubeflow.org/",
    "leaderworkerset.x-k8s.io/",
    "trainer.kubeflow.org/",
    "workload.codeflare.dev/",
    "ray.io/",
)
"""Groups of kinds that have schemas, but that the bench does not serve."""
SERVED = {
    (api_version.removeprefix("core/"), kind)
    for api_version, kinds in index().kinds.items()
    for kind in kinds
    if not api_version.startswith(NOT_RUN)
}
FAMILIES = (
    *families.FAMILIES,
    *workload_families.FAMILIES,
    *container_families.FAMILIES,
    *autoscaler_families.FAMILIES,
)
FRESH = "fresh"
"""What a changed object is called, so that it is created."""


@dataclass(frozen=True)
class Seed:
    """A good object, and where it is from."""

    thing: Object
    source: str

    @property
    def kind(self) -> str:
        return f"{self.thing['apiVersion']} {self.thing['kind']}"

    @property
    def number(self) -> int:
        """Its own, which is the same tomorrow."""
        return zlib.crc32(json.dumps(self.thing, sort_keys=True).encode())


@dataclass(frozen=True)
class Case:
    """A changed object."""

    seed: Seed
    label: str
    thing: Object

    @property
    def text(self) -> str:
        """As it is sent, and as lint reads it."""
        return json.dumps(self.thing, ensure_ascii=False) + "\n"

    def __str__(self) -> str:
        return f"{self.seed.kind} of {self.seed.source}: {self.label}"


class Difference(NamedTuple):
    """A difference that stays, and why."""

    why: str
    message: re.Pattern[str]
    """Matches the message of the server, or of lint if only lint refuses."""


EXCEPTIONS = {
    name: Difference(why, re.compile(pattern))
    for name, why, pattern in (
        (
            "emptied-in-apply",
            (
                "Only of a Queue that exists already, which lint does not know: server-side apply turns an empty "
                "mapping into null, and Volcano's webhook replaces null and a weight of 0 only on create."
            ),
            rf'^{APPLY_ALONE} 422 Queue.scheduling.volcano.sh "(w-[a-z-]+|default)" is invalid: \S+ Invalid value: ("null"|0:)',
        ),
        (
            "named-and-not-there",
            "A pod names a RuntimeClass that lint does not have, and with it the pod's overhead.",
            r"RuntimeClass",
        ),
        (
            "workloads-in-detail",
            "Pods inside Workloads, which only Kueue writes.",
            r"vworkload\.kb\.io",
        ),
        (
            "status-in-detail",
            "The types of a status, which only controllers write.",
            r'struct field (\w+\.status\b|Node(Status|Condition)\.)|unknown field "status\.|status\.addresses',
        ),
        (
            "expressions-in-detail",
            "Expressions of policies that are not empty: only the server compiles them.",
            r"AdmissionPolicy\.admissionregistration\.k8s\.io.*(compilation failed|must evaluate to)",
        ),
        (
            "zones-of-the-server",
            "Which time zones exist depends on the database of the server.",
            r"unknown time zone|invalid timeZone",
        ),
    )
}
"""Why lint and the servers may differ, by name."""


def _exception(said: str) -> str:
    names = (name for name, each in EXCEPTIONS.items() if each.message.search(said))
    return next(names, "")


@dataclass(frozen=True)
class Verdicts:
    """The results of the server and of lint for one case."""

    case: Case
    server: str
    """Why it was refused; empty: accepted."""
    lint: tuple[str, ...]
    """Rules of the invalid family that found something, with their messages."""

    @property
    def agree(self) -> bool:
        crashed = any(each.startswith(CRASHED) for each in self.lint)
        return not crashed and bool(self.server) == bool(self.lint)

    @property
    def exception(self) -> str:
        """The name of the matching exception, or an empty text."""
        names = {_exception(each) for each in ([self.server] if self.server else self.lint)}
        return names.pop() if len(names) == 1 else ""

    def __str__(self) -> str:
        ours = "; ".join(self.lint) or "accepts"
        return f"{self.case}\n  server: {self.server or 'accepts'}\n  lint:   {ours}"


class Response(NamedTuple):
    """The response of a server."""

    ok: bool
    status: int
    message: str


@cache
def seeds() -> tuple[Seed, ...]:
    """Rendered examples, good examples of rules' pages, and a sample of every kind."""
    found = [
        *_of_files(sorted((ROOT / "examples").glob("*/expected/manifests.yaml"))),
        *_of_pages(),
        *(Seed(thing, "samples") for thing in samples()),
    ]
    once: dict[str, Seed] = {}
    for each in found:
        thing = {key: value for key, value in each.thing.items() if key != "status"}
        if (thing.get("apiVersion"), thing.get("kind")) in SERVED:
            once.setdefault(json.dumps(thing, sort_keys=True), Seed(thing, each.source))
    return tuple(once.values())


def _of_files(paths: Iterable[Path]) -> Iterator[Seed]:
    for path in paths:
        for thing in _documents(path.read_text("utf-8")):
            yield Seed(thing, path.parts[-3])


def _of_pages() -> Iterator[Seed]:
    for rule in RULES:
        for example in examples(rule.name):
            if example.good:
                for thing in _documents(example.text):
                    yield Seed(thing, rule.name)


def _documents(text: str) -> Iterator[Object]:
    for each in yaml.load_all(text, Loader=yaml.CSafeLoader):
        if isinstance(each, dict) and isinstance(each.get("metadata"), dict):
            yield each


def draw(good: Iterable[Seed], count: int, number: int) -> list[Case]:
    """So many cases, of every kind alike; the same for the same number.

    Each seed has its own draws, and those of a kind go in an order of their own, so that a page
    more changes few cases.
    """
    by_kind: dict[str, list[Seed]] = {}
    for each in good:
        by_kind.setdefault(each.kind, []).append(each)
    found: list[Case] = []
    for index_, kind in enumerate(sorted(by_kind)):
        share = count * (index_ + 1) // len(by_kind) - len(found)
        seeds_ = sorted(by_kind[kind], key=lambda each: each.number)
        each_has = -(-share // len(seeds_))
        cases = [_draws(each, each_has, number ^ each.number) for each in seeds_[:share]]
        turns = (case for turn in zip_longest(*cases) for case in turn if case is not None)
        found += islice(turns, share)
    return found


def hard(family: families.Family, count: int, number: int) -> list[Case]:
    """So many cases of a family; the same for the same number."""
    good = Seed(family.good, family.name)
    return [Case(good, label, thing) for thing, label in families.draws(family, count, number)]


def _draws(good: Seed, count: int, number: int) -> list[Case]:
    found: dict[str, Case] = {}

    @seed(number)
    @settings(
        max_examples=2 * count + 10,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(mutated(_fresh(good.thing, FRESH)))
    def collect(changed: tuple[Object, str]) -> None:
        case = Case(good, changed[1], changed[0])
        if len(case.text) < MOST_BYTES:
            found.setdefault(case.text, case)
        if len(found) == count:
            raise _Enough

    with suppress(_Enough):
        collect()
    return list(found.values())


class _Enough(BaseException):
    """Ends the draws; hypothesis would try an `Exception` again."""


def _fresh(thing: Object, name: str) -> Object:
    """Under a name that nothing has, so that it is created."""
    return {**thing, "metadata": {**thing["metadata"], "name": name}}


class Judges:
    """The API server of a bench and lint, in one world: the same namespaces, classes and queues."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster, self.client = cluster, cluster.client
        self.folder = folder
        world: dict[tuple[str, str], Object] = {}
        for each in seeds():
            thing = each.thing
            if thing["kind"] in WORLD and each.source != "samples":
                world.setdefault((thing["kind"], thing["metadata"]["name"]), thing)
            elif namespace := thing["metadata"].get("namespace"):
                key = ("Namespace", namespace)
                world.setdefault(
                    key, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
                )
        world.update({(it["kind"], it["metadata"]["name"]): it for it in families.WORLD})
        text = "".join(f"---\n{json.dumps(thing)}\n" for thing in world.values())
        outcome = cluster.try_apply(text)
        refused = {(d.kind, d.thing["metadata"]["name"]) for d, _ in outcome.refused}
        self.world = {key: thing for key, thing in world.items() if key not in refused}
        self._before = frozenset(self._findings(self._write(self.world.values())))

    def good(self) -> list[Seed]:
        """The seeds that both accept as they are, in this world."""
        cases = [Case(each, "unchanged", _fresh(each.thing, FRESH)) for each in seeds()]
        return [it.case.seed for it in self.ask(cases) if not it.server and not it.lint]

    def ask(self, cases: Iterable[Case]) -> list[Verdicts]:
        """The results of the server and of lint for each case; equal cases are asked once."""
        cases = list(cases)
        once = {case.text: case for case in cases}
        with ThreadPoolExecutor(THREADS) as pool:
            said = pool.map(self._server, once.values())
            ours = [self._lint(case) for case in once.values()]
            results = dict(zip(once, zip(said, ours, strict=True), strict=True))
        return [Verdicts(case, *results[case.text]) for case in cases]

    def _lint(self, case: Case) -> tuple[str, ...]:
        file = self.folder / "case.yaml"
        file.write_text(case.text, "utf-8")
        world = self._write(self._beside(case))
        return tuple(each for each in self._findings(world, file) if each not in self._before)

    def _beside(self, case: Case) -> Iterator[Object]:
        """The objects of the world that a rule may hold against a case: lint reads no others, to be fast."""
        metadata = case.thing.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        for key, thing in self.world.items():
            kind, _ = key
            related = kind == "PriorityClass" or (kind == "Queue" and "volcano" in case.text)
            if related and key != (case.thing["kind"], name):
                yield thing

    def _write(self, world: Iterable[Object]) -> Path:
        file = self.folder / "world.json"
        file.write_text("".join(f"---\n{json.dumps(thing)}\n" for thing in world), "utf-8")
        return file

    def _findings(self, *files: Path) -> Iterator[str]:
        """What rules about invalid objects report."""
        asked = LintRequest(manifests=tuple(map(str, files)), only=INVALID, target=RUNNING)
        report = app_lint.lint(asked, today=TODAY)
        for each in report.rules:
            if each.verdict == Verdict.CRASHED:
                yield f"{CRASHED} {each.rule}: {each.reason}"
        for it in report.findings:
            if it.rule.name in {*INVALID, "yaml-syntax"}:
                yield f"{it.message} [{it.rule.name}]"

    def _server(self, case: Case) -> str:
        """Why it is refused when it is created or, where that is taken, applied."""
        path, name = self._path(case.thing)
        query = {"dryRun": "All", "fieldValidation": "Strict"}
        created = self._late("POST", path, case.text, query)
        there = created.status == HTTPStatus.CONFLICT  # such as Volcano's queue root
        if (not created.ok and not there) or name is None:
            return created.message
        more = {"fieldManager": FIELD_MANAGER, "force": "true"}
        applied = self._late("PATCH", f"{path}/{quote(name)}", case.text, {**query, **more})
        return "" if applied.ok else f"{APPLY_ALONE} {applied.message}"

    def _late(self, verb: str, path: str, text: str, query: dict[str, str]) -> Response:
        end = time.monotonic() + LAG_S
        of = APPLY if verb == "PATCH" else JSON
        while True:
            try:
                answer = self.client.request(verb, path, text, content_type=of, query=query)
            except (
                RemoteDisconnected
            ):  # its code has ended with a panic, as for a Job without completions
                return Response(ok=False, status=0, message="the server closed the connection")
            if answer.ok or not LATE.search(answer.message) or time.monotonic() > end:
                said = "" if answer.ok else f"{answer.status} {answer.message}"
                return Response(answer.ok, answer.status, said)
            time.sleep(0.1)

    def _path(self, thing: Object) -> tuple[str, str | None]:
        """Where it is created, and the name by which it can be applied."""
        resource = self.client.resource(thing["apiVersion"], thing["kind"])
        metadata = thing.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        name, namespace = metadata.get("name"), metadata.get("namespace")
        if not isinstance(namespace, str) or not namespace:
            namespace = "default"
        elif is_namespace(namespace):
            self.cluster.namespace(namespace)
        # The client quotes the path. A text that is not a name may be longer than a server accepts.
        path = resource.path(namespace[:LONGEST] if resource.namespaced else None)
        return path, name if isinstance(name, str) and name and "/" not in name else None


def main() -> int:
    """Draw, ask, and print where they differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.servers.agreement")
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--families", nargs="*", metavar="NAME", help="all if none is named")
    options = parser.parse_args()
    from .bench import Bench  # noqa: PLC0415 - only here
    from .build import located  # noqa: PLC0415 - only for its command
    from .upstream import control_plane  # noqa: PLC0415 - as above

    built = {upstream.name: located(upstream) for upstream in control_plane()}
    with tempfile.TemporaryDirectory() as folder, Bench(built) as bench:
        judges = Judges(Cluster(bench), Path(folder))
        if options.families is None:
            sets = {"changed": draw(_good(judges), options.count, options.seed)}
        else:
            by_name = {it.name: it for it in FAMILIES}
            chosen = [by_name[name] for name in options.families or by_name]
            sets = {it.name: hard(it, options.count, options.seed) for it in chosen}
        every: list[Verdicts] = []
        start = time.monotonic()
        for name, cases in sets.items():
            verdicts = judges.ask(cases)
            every += verdicts
            print(*(f"[{it.exception}] {it}" for it in verdicts if not it.agree), sep="\n")
            print(f"{name}: {summary(verdicts)}\n{row(name, verdicts, options.seed)}", flush=True)
    print(f"all: {summary(every)}; {len(every) / (time.monotonic() - start):.0f} a second")
    return 1 if any(not each.agree and not each.exception for each in every) else 0


def _good(judges: Judges) -> list[Seed]:
    good = judges.good()
    kinds = {each.kind for each in good}
    print(f"{len(good)} of {len(seeds())} seeds, {len(kinds)} of {len(SERVED)} kinds")
    for missing in sorted({f"{a} {k}" for a, k in SERVED} - kinds):
        print(f"no seed of {missing}")
    return good


def summary(verdicts: Iterable[Verdicts]) -> str:
    """How many agree, and what the others are."""
    verdicts = list(verdicts)
    refused = sum(bool(each.server) for each in verdicts)
    differ = Counter(each.exception or "unknown" for each in verdicts if not each.agree)
    words = ", ".join(f"{count} {name}" for name, count in sorted(differ.items())) or "none"
    agree = len(verdicts) - differ.total()
    false = sum(not (each.agree or each.exception or each.server) for each in verdicts)
    return f"{agree} of {len(verdicts)} agree, {refused} are refused; not: {words}; {false} false"


def row(name: str, verdicts: Sequence[Verdicts], number: int) -> str:
    """A row of the table in docs/server-schemas.md."""
    drawn = len(verdicts)
    differ = [each for each in verdicts if not each.agree]
    unknown = [each for each in differ if not each.exception]
    false = sum(not each.server for each in differ)
    missed = sum(bool(each.server) for each in unknown)
    cells = (
        name,
        f"{drawn:,}",
        f"{len({each.case.text for each in verdicts}):,}",
        f"{100 * (drawn - len(differ)) / drawn:.2f} %",
        f"{100 * (drawn - len(unknown)) / drawn:.2f} %",
        f"{false}",
        f"{missed}",
        f"{number}",
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
