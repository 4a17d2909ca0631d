"""Messages about missing data of a cluster that are not in its gaps."""

from collections.abc import Iterator

from policygen.core.suggest import suggest
from policygen.kubernetes.snapshot import NAMESPACE, Snapshot


def messages(snapshot: Snapshot) -> Iterator[str]:
    """Messages about an unknown server version, and about namespaces that are probably misspelled."""
    seen = snapshot.seen
    if not seen.server:  # the rules of another release may apply
        why = seen.no_server and f" ({seen.no_server})"
        yield f"the version of the server could not be read{why}, so the target version is used"
    yield from namespaces(snapshot)


def namespaces(snapshot: Snapshot) -> Iterator[str]:
    """Messages about namespaces that were asked for, and that probably do not exist."""
    seen = snapshot.seen
    if not seen.namespaces:
        return
    is_known = NAMESPACE in seen.read
    if is_known:
        there = {it.name for it in snapshot.objects if (it.group, it.kind) == NAMESPACE}
    else:  # the identity may only read in its namespaces
        there = {it.namespace for it in snapshot.objects} | {it.namespace for it in snapshot.pods}
    for name in seen.namespaces:
        if name in there:
            continue
        if is_known:
            near = suggest(name, there, "Namespace")
            yield f'namespace "{name}" does not exist, so nothing was read in it; {near}'
        else:
            yield f'nothing was read in namespace "{name}"; check that the namespace exists'
