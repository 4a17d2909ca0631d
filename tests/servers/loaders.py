"""What servers say about many configuration files, by their own code in one process.

A loader is a small Go program that links the code of a server's release. It does what the server does
with its file, and checks some hundred files a second; a server that starts with each file checks seven.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

from .build import build
from .upstream import KUBERNETES, KUEUE, VOLCANO, Binary, Upstream

LOADERS = KUBE_SCHEDULER, KUEUE_MANAGER, VOLCANO_SCHEDULER = tuple(
    replace(upstream, binaries=(Binary("loader", "./loader"),), assets=())
    for upstream in (KUBERNETES, KUEUE, VOLCANO)
)
CONVERTER = replace(
    KUBERNETES, release="1.34", binaries=(Binary("convert", "./convert"),), assets=()
)
"""The code that converts objects of versions that no server has any more."""
LOGGED = "logged: "
"""The beginning of an answer about a file that the server takes, with lines in its log."""


def refusals(server: Upstream, texts: Sequence[str]) -> Iterator[str]:
    """Why the server does not take each file; empty if it does."""
    return _answers(server, texts)


def effects(texts: Sequence[str]) -> Iterator[str]:
    """The effective Configuration in each file of Kueue; empty if Kueue does not take the file."""
    return _answers(KUEUE_MANAGER, texts, "effect")


def conversions(texts: Sequence[str]) -> Iterator[str]:
    """Each object as JSON in the newest version of its kind; empty if it has an unknown field."""
    return _answers(CONVERTER, texts)


def _answers(server: Upstream, texts: Sequence[str], *arguments: str) -> Iterator[str]:
    program = build([server], quiet=True)[server.name].binary(server.binaries[0].name)
    lines = "".join(f"{json.dumps(text)}\n" for text in texts)
    answers = subprocess.run(
        [program, *arguments],
        input=lines,
        stdout=subprocess.PIPE,
        stderr=sys.stderr,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert len(answers) == len(texts), f"{len(answers)} answers about {len(texts)} files"
    return map(json.loads, answers)
