"""Specs for real servers: every example, and drawn specs, which are the same in each run."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from policygen.plan.catalog import KINDS
from tests.strategies import articles, specs

from .apply import Document, parse
from .rendering import Rendered, rendered

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(
    path.name for path in (ROOT / "examples").iterdir() if (path / "expected").is_dir()
)
EXTRAS = ("kueue-config", "second-scheduler", "volcano-config")
IMAGE = "images.example.com/kube-scheduler:v1.36.3"
TAGS = tuple(f"t{number}" for number in range(25))
"""Each ends the names of one spec, so that as many specs fit one cluster."""
ROUNDS = 8
ENOUGH = int(os.environ.get("POLICYGEN_SPECS_PER_FIELD", "3"))
"""The number of specs with a field, or with a value of it, that are applied: more show the same. With 200 all are."""
APPLIED = 3 if ENOUGH <= 3 else ROUNDS
"""The rounds that these specs need."""
OF_A_SPEC = 3
"""Objects that take as long as what each spec costs besides its objects."""
MAPS = frozenset(
    {
        "annotations", "capability", "data", "deserved", "guarantee", "hard", "labels", "limits",
        "matchLabels", "minResources", "nodeLabels", "nodeSelector", "requests", "resource",
    }
)  # fmt: skip
"""Fields whose keys are names."""
NOT_SERVED = ("kueue.x-k8s.io/v1alpha1",)
"""Of Kueue 0.13 a Topology; 0.19 serves and converts v1beta1 and later."""
OWN_NAMES = re.compile(
    r"(schedulerName|resourceName): (?!default-scheduler$)(?:\S*[.-])?", re.MULTILINE
)


def example(name: str, kueue_base: Path) -> Rendered:
    """An example with every extra; its Platform sets what the extras need."""
    documents = [
        document
        for path in sorted((ROOT / "examples" / name).glob("*.yaml"))
        for document in yaml.load_all(path.read_bytes(), Loader=yaml.CSafeLoader)
    ]
    platform = next((d for d in documents if d["kind"] == "Platform"), None)
    if platform is None:
        platform = {"apiVersion": "policygen.dev/v1alpha1", "kind": "Platform", "spec": {}}
        platform["metadata"] = {"name": "default"}
        documents.append(platform)
    fields = platform.setdefault("spec", {})
    fields.setdefault("kueue", {})["configuration"] = str(kueue_base)
    fields.setdefault("kubeScheduler", {})["image"] = IMAGE
    return rendered(documents, *EXTRAS)


@cache
def drawn() -> list[list[Rendered]]:
    """Rounds of specs that fit one cluster together; one in five is in the articles' forms."""
    by_tag = [
        draws_of(articles(tag=tag) if index % 5 == 4 else specs(tag=tag), index)
        for index, tag in enumerate(TAGS)
    ]
    return [list(round_) for round_ in zip(*by_tag, strict=True)]


@cache
def telling() -> list[list[Rendered]]:
    """Few and small specs that together show each field ENOUGH times, or as often as all specs do.

    Each round has about as many specs as the others. The specs of a round fit one cluster.
    """
    left = [(tag, each) for round_ in drawn() for tag, each in enumerate(round_)]
    shows = {id(each): shown(each) for _, each in left}
    drawn_times = Counter(chain(*shows.values()))
    missing = Counter({path: min(times, ENOUGH) for path, times in drawn_times.items()})

    def worth(it: tuple[int, Rendered]) -> float:
        return len(shows[id(it[1])] & missing.keys()) / (len(it[1].objects) + OF_A_SPEC)

    rounds: list[dict[int, Rendered]] = [{} for _ in range(APPLIED)]
    while missing:
        free = {
            tag: min((it for it in rounds if tag not in it), key=len, default=None)
            for tag in range(len(TAGS))
        }
        tag, best = max((it for it in left if free[it[0]] is not None), key=worth)
        left.remove((tag, best))
        missing -= Counter(shows[id(best)])
        free[tag][tag] = best
    return [list(it.values()) for it in rounds]


def shown(spec: Rendered) -> set[tuple[str, ...]]:
    """The fields of a spec's objects, with the kind of the object."""
    return {(it["apiVersion"], it["kind"], *path) for it in spec.objects for path in _fields(it)}


def _fields(value: Any) -> Iterator[tuple[str, ...]]:
    """Every path in an object; with the value, where it is a word of the API or a switch."""
    match value:
        case dict():
            for key, inner in value.items():
                for path in _fields(inner):
                    yield (key, "*", *path[1:]) if key in MAPS else (key, *path)
        case list():
            for inner in value:
                yield from (("[]", *path) for path in _fields(inner))
        case bool():
            yield (str(value),)
        case str() if value[:1].isupper() and value.isalpha():
            yield (value,)
        case _:
            yield (type(value).__name__,)


class Configurations(NamedTuple):
    """Controllers' files, each once."""

    kube_scheduler: list[str]
    volcano: list[str]


def configurations(sets: Iterable[Rendered], *, alike: bool = True) -> Configurations:
    """The schedulers' files in these sets; with `alike` one of those that differ in names only."""
    kube_scheduler: dict[str, str] = {}
    volcano: dict[str, str] = {}
    for each in sets:
        data = {key: text for o in each.of("ConfigMap").values() for key, text in o["data"].items()}
        if text := data.get("config.yaml"):
            for file in (text, each.scheduler_config):
                kube_scheduler.setdefault(OWN_NAMES.sub(r"\1: x", file) if alike else file, file)
        if text := data.get("volcano-scheduler.conf"):
            volcano.setdefault(text, text)
    return Configurations(list(kube_scheduler.values()), list(volcano.values()))


def draws_of(strategy: st.SearchStrategy[list[Any]], number: int) -> list[Rendered]:
    """Up to ROUNDS specs that render something; the same for each number."""
    found: list[Rendered] = []

    @seed(number)
    @settings(
        max_examples=ROUNDS + 8,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(documents: list[Any]) -> None:
        if len(found) == ROUNDS:
            return
        out = rendered(documents, "volcano-config")
        if out.text and all(out.text != each.text for each in found):
            found.append(out)

    collect()
    return found


def together(sets: Sequence[Rendered]) -> tuple[list[Document], list[Document]]:
    """The objects of several sets in one apply order, and the objects whose names are taken.

    Sets without a Platform share the name of the set, and so the name of its ConfigMap. Objects
    that only an older Kueue serves are omitted.
    """
    rank = {kind.name: index for index, kind in enumerate(KINDS)}
    first: dict[tuple[str, str], Document] = {}
    again = [
        document
        for index, each in enumerate(sets)
        for document in parse(each.text, f"set {index}")
        if document.thing["apiVersion"] not in NOT_SERVED
        and first.setdefault((document.kind, document.name), document) is not document
    ]
    return sorted(first.values(), key=lambda document: rank[document.kind]), again
