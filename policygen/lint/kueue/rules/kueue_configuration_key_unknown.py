"""Kueue's Configuration has an unknown key, so Kueue's manager does not start."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core import versions
from policygen.core.finding import Fault, Path
from policygen.core.suggest import suggest
from policygen.core.versions import Minor
from policygen.kubernetes.cluster import KUEUE_CONFIG
from policygen.lint.kueue import configuration_keys
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The manager decodes it strictly and exits at start, so nothing is admitted any more.

    Source: pkg/config/config.go (EnableStrict); apis/config/*/configuration_types.go.
    """
    release = facts.target["kueue"].release
    for config in facts.cluster.of(KUEUE_CONFIG, "Configuration"):
        for path, message in _unknown(config.data, config.version, release):
            yield Hit(RULE, message, config.at.to(*path).on_key())


def _unknown(data: Mapping[str, Any], version: str, release: Minor) -> Iterator[Fault]:
    """The path and the message of each key that the release does not know."""
    known, parents = configuration_keys.of(version), configuration_keys.parents(version)
    waiting: list[tuple[Path, str, Any]] = [((), "", data)]
    while waiting:
        parent, name, value = waiting.pop()
        if isinstance(value, list):
            waiting += [((*parent, i), f"{name}[]", item) for i, item in enumerate(value)]
        if not isinstance(value, dict) or name not in parents:
            continue
        for key, inner in value.items():
            path = f"{name}.{key}" if name else key
            since = known.get(path)
            if path not in known:
                siblings = [
                    path.rpartition(".")[2] for path in known if path.rpartition(".")[0] == name
                ]
                yield (
                    (*parent, key),
                    f'key "{path}" is unknown, so Kueue does not start; {suggest(key, siblings)}',
                )
            elif since is not None and release < since:
                yield (
                    (*parent, key),
                    (
                        f'key "{path}" is new in Kueue {versions.written(since)}, so '
                        f"Kueue {versions.written(release)} does not start; remove the key"
                    ),
                )
            else:
                waiting.append(((*parent, key), path, inner))


RULE = ObjectRule(
    "kueue-configuration-key-unknown",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write a key that your Kueue release supports, or remove the unknown key.",
    judges=("Configuration",),
    check=check,
)
