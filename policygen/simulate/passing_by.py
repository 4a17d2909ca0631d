"""Jobs that name a queue of Kueue, but start without it."""

from collections.abc import Iterable, Iterator

from policygen.core.quoting import some
from policygen.simulate.arrival import Arrival


def passing_by(arrivals: Iterable[Arrival]) -> Iterator[str]:
    """A sentence for each reason why Kueue does not manage jobs that name a queue."""
    found: dict[str, list[str]] = {}
    for it in arrivals:
        if it.passes_by:
            found.setdefault(it.passes_by, []).append(f"{it.kind} {it.object_name}")
    for reason, names in sorted(found.items()):
        named = "they name queues" if len(names) > 1 else "it names a queue"
        yield (
            f"Kueue does not manage {some(names, 'other job')}, although {named}, so no quota holds for "
            f"{'them' if len(names) > 1 else 'it'}: {reason}"
        )
