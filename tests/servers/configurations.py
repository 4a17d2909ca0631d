"""Does lint refuse the configuration files that real servers refuse? Drawn files.

    python -m tests.servers.configurations --count 500 --seed 7 [kube-scheduler|kueue|volcano ...]

draws files as `families` does. The servers' own code reads them, see `loaders`. With `--processes`, a
kube-scheduler starts with each of its files instead.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from policygen.app import lint as app_lint
from policygen.app.requests import LintRequest
from policygen.lint.registry import RULES
from policygen.lint.rule import Family as RuleFamily

from . import kueue_files, loaders, scheduler_files, volcano_files
from .bench import Bench, Options
from .build import located
from .families import Family, draws
from .upstream import ETCD, KEYS, KUBERNETES, Upstream

TODAY = date(2026, 11, 21)
_REFUSED = frozenset(
    {rule.name for rule in RULES if rule.family is RuleFamily.INVALID}
    | {"configuration-kind-unknown", "scheduler-configuration-version-gone", "yaml-syntax"}
)
"""Rules that say that a server does not start."""


class Files(NamedTuple):
    """The configuration files of a server."""

    families: Sequence[Family]
    exceptions: Mapping[str, re.Pattern[str]]
    """Why lint and the server may differ, with the message of the one that refuses."""
    loader: Upstream
    logging: frozenset[str] = frozenset()
    """The rules that report what the server only logs."""
    harmless: re.Pattern[str] | None = None
    """Matches the lines of its log that are not about a value of the file."""
    key: str = ""
    """The file is under this key of a ConfigMap; empty: the file is the manifest."""


FILES: Mapping[str, Files] = {
    "kube-scheduler": Files(
        scheduler_files.FAMILIES, scheduler_files.EXCEPTIONS, loaders.KUBE_SCHEDULER
    ),
    "kueue": Files(
        kueue_files.FAMILIES,
        kueue_files.EXCEPTIONS,
        loaders.KUEUE_MANAGER,
    ),
    "volcano": Files(
        volcano_files.FAMILIES,
        volcano_files.EXCEPTIONS,
        loaders.VOLCANO_SCHEDULER,
        volcano_files.LOGGING,
        volcano_files.HARMLESS,
        "volcano-scheduler.conf",
    ),
}


class Draw(NamedTuple):
    """A drawn file."""

    family: str
    label: str
    text: str
    times: int = 1
    """How many of the draws are this file."""


def drawn(files: Files, count: int, number: int, only: Sequence[str] = ()) -> list[Draw]:
    """So many draws, of each family alike; equal files of a family are one."""
    found: dict[tuple[str, str], Draw] = {}
    families = [it for it in files.families if not only or it.name in only]
    for family in families:
        for thing, label in draws(family, -(-count // len(families)), number):
            text = thing["text"] if "text" in thing else json.dumps(thing, ensure_ascii=False)
            key = (family.name, text)
            again = found.get(key) or Draw(family.name, label, text, 0)
            found[key] = again._replace(times=again.times + 1)
    return list(found.values())


class Verdict(NamedTuple):
    """The results of the server and of lint for a file."""

    draw: Draw
    server: str
    """Its error; empty: it takes the file."""
    lint: tuple[str, ...]
    exception: str = ""
    """Why they may differ; empty if it is not known."""

    @property
    def agree(self) -> bool:
        return bool(self.server) == bool(self.lint)

    def __str__(self) -> str:
        ours = "; ".join(self.lint) or "accepts"
        draw = self.draw
        return (
            f"{draw.family}: {draw.label}\n  server: {self.server or 'accepts'}\n  lint:   {ours}"
        )


def compared(files: Files, found: Sequence[Draw], answers: Iterator[str]) -> Iterator[Verdict]:
    """Both verdicts about each file; `answers` are those of the server."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "configuration.yaml")
        for draw, answer in zip(found, answers, strict=True):
            server = files.harmless.sub("", answer) if files.harmless else answer
            server = "" if server == loaders.LOGGED else server
            logged = server.startswith(loaders.LOGGED)
            ours = _lint(files.key, draw.text, path, files.logging if logged else _REFUSED)
            said = server or "; ".join(ours)
            why = next((why for why, each in files.exceptions.items() if each.search(said)), "")
            yield Verdict(draw, server, ours, why)


def _lint(key: str, text: str, path: Path, rules: frozenset[str]) -> tuple[str, ...]:
    if key:
        metadata = {"name": "drawn", "namespace": "drawn"}
        thing = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
        text = json.dumps({**thing, "data": {key: text}}, ensure_ascii=False)
    path.write_text(text, "utf-8")
    report = app_lint.lint(LintRequest(manifests=(str(path),)), today=TODAY)
    return tuple(
        f"{it.message} [{it.rule.name}]" for it in report.findings if it.rule.name in rules
    )


def main() -> int:
    """Draw, ask, and print where they differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.servers.configurations")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--family", action="append", default=[])
    parser.add_argument("--processes", action="store_true", help="only of kube-scheduler")
    parser.add_argument("server", nargs="*", choices=[[], *FILES])
    options = parser.parse_args()
    agree = True
    for name in options.server or FILES:
        files = FILES[name]
        found = drawn(files, options.count, options.seed, options.family)
        texts = [draw.text for draw in found]
        start = time.monotonic()
        if options.processes:
            built = {upstream.name: located(upstream) for upstream in (KEYS, ETCD, KUBERNETES)}
            bare = Options(
                parts=frozenset(), kueue_crds=False, volcano_crds=False, autoscaler_crds=False
            )
            with tempfile.TemporaryDirectory() as folder, Bench(built, bare) as bench:
                answers = scheduler_files.started(bench, texts, Path(folder))
                verdicts = list(compared(files, found, answers))
        else:
            verdicts = list(compared(files, found, loaders.refusals(files.loader, texts)))
        print(*(it for it in verdicts if not it.agree), sep="\n")
        seconds = time.monotonic() - start
        print(f"{name}: {_summary(verdicts, options.seed)}; {seconds:.0f} s", flush=True)
        agree = agree and all(it.agree for it in verdicts)
    return 0 if agree else 1


def _summary(verdicts: Sequence[Verdict], number: int) -> str:
    """How many agree; prints a row of the table in docs/server-schemas.md for each family and for all."""
    totals: dict[str, Counter[str]] = {}
    for it in verdicts:
        differs = "excepted" if it.exception else "missed" if it.server else "false"
        total = totals.setdefault(it.draw.family, Counter())
        verdict = "agree" if it.agree else differs
        total.update({"drawn": it.draw.times, "distinct": 1, verdict: it.draw.times})
        total["refused"] += bool(it.server)
    every = sum(totals.values(), Counter())
    for family, total in {**totals, "all": every}.items():
        agree, excepted, drawn = total["agree"], total["excepted"], total["drawn"]
        cells = (
            family,
            f"{drawn:,}",
            f"{total['distinct']:,}",
            f"{100 * agree / drawn:.2f} %",
            f"{100 * (agree + excepted) / drawn:.2f} %",
            f"{total['false']}",
            f"{total['missed']}",
            f"{number}",
        )
        print(f"| {' | '.join(cells)} |")
    return (
        f"{every['agree']} of {every['drawn']} draws agree, {every['refused']} of {every['distinct']} files are refused; "
        f"{every['excepted']} are exceptions, {every['false']} false refusals, {every['missed']} missed"
    )


if __name__ == "__main__":
    sys.exit(main())
