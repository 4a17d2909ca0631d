"""Kueue's Configuration has a key that its manager does not know."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core import versions
from policygen.core.finding import Hit, Path
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.core.versions import Minor
from policygen.kubernetes.cluster import KUEUE_CONFIG
from policygen.lint.kueue import configuration_keys
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """It is decoded strictly: the manager exits at start, and nothing is admitted any more.

    Source: pkg/config/config.go (EnableStrict); apis/config/*/configuration_types.go.
    """
    release = facts.target["kueue"].release
    for it in facts.cluster.of(KUEUE_CONFIG, "Configuration"):
        for path, message in _unknown(it.data, it.version, release):
            yield Hit(RULE, f"Kueue does not start with {message}", it.at.to(*path).on_key())


def _unknown(data: Mapping[str, Any], version: str, release: Minor) -> Iterator[tuple[Path, str]]:
    known, parents = configuration_keys.of(version), configuration_keys.parents(version)
    waiting: list[tuple[Path, str, Any]] = [((), "", data)]
    while waiting:
        way, name, value = waiting.pop()
        if isinstance(value, list):
            waiting += [((*way, i), f"{name}[]", each) for i, each in enumerate(value)]
        if not isinstance(value, dict) or name not in parents:
            continue
        for key, inner in value.items():
            path = f"{name}.{key}" if name else key
            since = known.get(path)
            if path not in known:
                there = [it.rpartition(".")[2] for it in known if it.rpartition(".")[0] == name]
                where = f" below {name}" if name else ""
                yield (*way, key), f'key "{key}"{where}; {suggest(key, there)}'
            elif since is not None and release < since:
                first = f"{versions.written(since)}"
                yield (*way, key), f'key "{path}", which is new in Kueue {first}; take it out'
            else:
                waiting.append(((*way, key), path, inner))


RULE = ObjectRule(
    "kueue-configuration-key-unknown",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("Configuration",),
    check=check,
)
