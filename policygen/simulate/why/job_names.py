"""The jobs that a user means by a name."""

from collections.abc import Sequence

from policygen.simulate.arrival import Arrival


def named_jobs(arrivals: Sequence[Arrival], name: str) -> list[Arrival]:
    """The jobs with this name: `namespace/name`, `name`, or with their kind before it.

    Otherwise the job of the Workload with this name, or those that run the model with this name.
    """
    parts = name.split("/")
    found = [
        it
        for it in arrivals
        if [it.kind.lower(), *it.object_name.split("/")][-len(parts) :]
        == [parts[0].lower(), *parts[1:]]
        or parts in (it.object_name.split("/")[-len(parts) :], it.name.split("/")[-len(parts) :])
    ]
    found = found or [it for it in arrivals if it.workload and it.workload.name == name]
    return found or [
        it for it in arrivals if it.model and parts == [it.namespace, it.model][-len(parts) :]
    ]
