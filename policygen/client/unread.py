"""What a look at a cluster missed and its gaps do not tell, in words."""

from collections.abc import Iterator

from policygen.core.suggest import suggest
from policygen.kubernetes.snapshot import NAMESPACE, Snapshot


def told(snapshot: Snapshot) -> Iterator[str]:
    """A server that does not say which release it is, and namespaces that are most likely mistyped."""
    seen = snapshot.seen
    if not seen.server:  # the rules of another release may hold
        why = seen.no_server and f" ({seen.no_server})"
        yield f"the server's version could not be read{why}, so the target's rules hold"
    if not seen.namespaces:
        return
    is_known = NAMESPACE in seen.read
    if is_known:
        there = {it.name for it in snapshot.objects if (it.group, it.kind) == NAMESPACE}
    else:  # as an identity sees it that may read in its namespaces only
        there = {it.namespace for it in snapshot.objects} | {it.namespace for it in snapshot.pods}
    for name in seen.namespaces:
        if name in there:
            continue
        if is_known:
            near = suggest(name, sorted(there))
            yield f'namespace "{name}" is not there, so nothing was read in it; {near}'
        else:
            yield f'nothing was read in namespace "{name}", and nobody knows whether it is there'
