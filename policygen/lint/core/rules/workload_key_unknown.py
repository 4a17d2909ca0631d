"""A workload has a label or annotation that looks like a key of Kueue or Volcano but has no effect."""

from difflib import get_close_matches
from functools import lru_cache

from policygen.core import versions
from policygen.core.label_grammar import key_fault
from policygen.core.names import VOLCANO_JOB_QUEUE, VOLCANO_QUEUE
from policygen.core.quoting import quoted
from policygen.core.versions import Version
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core import known_keys
from policygen.lint.core.metadata_keys import written
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, ObjectRule, Severity, Verb

_CUTOFF = 0.8
_OWNERS = {
    known_keys.KUEUE: "Kueue",
    known_keys.VOLCANO_SCHEDULING: "Volcano",
    known_keys.VOLCANO: "Volcano",
}


def check(facts: Facts) -> Hits:
    """No controller reads such a key.

    Volcano's sister projects also use volcano.sh/, so only near misses are reported there.
    Source: `known_keys`.
    """
    target = facts.target["kueue"]
    for metadata in written(facts.cluster):
        for key in metadata.keys:
            fault = _fault(key, target) if "/" in key else None
            if fault and not key_fault(key):
                at, right = (metadata.at / key).on_key(), _near(key) if fault.endswith("?") else ""
                yield Hit(
                    RULE,
                    f"{metadata.workload} has the {metadata.kind} {quoted(key)}, but {fault}",
                    at,
                    meant=(Edit(Verb.RENAME, at, right),) if right else (),
                )


@lru_cache(maxsize=4096)
def _fault(key: str, target: Version) -> str | None:
    domain, _, name = key.partition("/")
    if domain in known_keys.NAMES:
        owner = _OWNERS[domain]
        since = known_keys.LATER.get(name) if domain == known_keys.KUEUE else None
        if since and target.release < since:
            return f"{owner} {target} ignores this key; upgrade {owner} to {versions.written(since)}, or remove the key"
        if name in known_keys.NAMES[domain]:
            return None
        near = _near(key)
        if domain == known_keys.VOLCANO and not near:
            return None
        advice = f'did you mean "{near}"?' if near else "remove the key"
        return f"{owner} does not know this key, so the key has no effect; {advice}"
    if get_close_matches(domain, known_keys.NAMES, n=1, cutoff=_CUTOFF) and (near := _near(key)):
        return (
            f'no controller reads keys of the domain "{domain}", so this key has no effect; '
            f'did you mean "{near}"?'
        )
    return None


def _near(key: str) -> str:
    """The known key that a key resembles, or ""."""
    close = get_close_matches(key.lower(), known_keys.WRITTEN, n=1, cutoff=_CUTOFF)
    meant = {VOLCANO_JOB_QUEUE: VOLCANO_QUEUE}
    return meant.get(close[0], close[0]) if close else ""


RULE = ObjectRule(
    "workload-key-unknown",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the key exactly as your release of Kueue or Volcano defines it.",
    judges=KINDS,
    check=check,
)
