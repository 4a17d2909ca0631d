"""A pod uses a key that its Secret does not have."""

from collections.abc import Iterator

from policygen.core.finding import Path, at_path
from policygen.core.quoting import quoted
from policygen.core.suggest import suggest
from policygen.kubernetes.untyped import mapping, numbered, text
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.core.missing_references import known_objects
from policygen.lint.core.references import Reference, references
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_KIND = "Secret"


def check(facts: Facts) -> Hits:
    """The kubelet does not start the container, or does not mount the volume.

    Checks only manifests. Skips Secrets without keys, which another program fills.
    Source: pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables; pkg/volume/secret, MakePayload.
    """
    if facts.cluster.seen is not None:
        return
    secrets = {
        (namespace, name): it
        for (kind, namespace), objects in facts.cluster.derive(known_objects).items()
        if kind == _KIND
        for name, it in objects.items()
    }
    for it in references(facts.cluster, {namespace for namespace, _ in secrets}):
        secret = secrets.get((it.owner.namespace, it.name)) if it.kind == _KIND else None
        keys = (
            {**mapping(secret.data, "data"), **mapping(secret.data, "stringData")} if secret else {}
        )
        for path, key in _keys(it) if keys else ():
            if secret and key not in keys:
                yield Hit(
                    RULE,
                    f"{it.owner} uses key {quoted(key)} of {secret}, which does not have this key, so its "
                    f"containers do not start; {suggest(key, keys)}",
                    it.part.at.to(*path),
                    (secret.at,),
                )


def _keys(it: Reference) -> Iterator[tuple[Path, str]]:
    """The keys of a variable, or of the items of a volume, with their paths in the part."""
    if isinstance(it.part, Workload):
        return
    above = it.steps[:-1]
    holder = at_path(it.part.data, above)
    if key := text(holder, "key"):
        yield (*above, "key"), key
    for i, item in numbered(holder, "items"):
        if key := text(item, "key"):
            yield (*above, "items", i, "key"), key


RULE = ObjectRule(
    "secret-key-missing",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write a key of the Secret, or add the key to it.",
    judges=KINDS,
    check=check,
)
