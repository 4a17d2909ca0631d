"""Labels of Kueue beside a label with the name of a queue, in a place where Kueue ignores all of them."""

from policygen.core.finding import At, at_path
from policygen.core.names import LOCAL_QUEUE
from policygen.kubernetes.kueue_jobs import labels
from policygen.kubernetes.untyped import keyed_texts
from policygen.kubernetes.workloads import Workload
from policygen.lint.core.known_keys import KUEUE, ON_OBJECT


def beside(workload: Workload, queue_name: At) -> dict[str, str]:
    """The other labels of a CronJob that belong where its misplaced queue name belongs."""
    holder = queue_name.path[len(workload.at.path) : -1]
    if workload.kind != "CronJob" or holder != ("metadata", "labels"):
        return {}
    return {
        key: value
        for key, value in keyed_texts(workload.object.data, "metadata", "labels").items()
        if key != LOCAL_QUEUE and _is_of_jobs(key)
    }


def are_together(workload: Workload, key: str, place: At) -> bool:
    """Whether a label of a CronJob is beside its misplaced queue name, which is reported with it."""
    path = place.path[len(workload.at.path) :]
    found = at_path(workload.object.data, path)
    return (
        workload.kind == "CronJob"
        and path == ("metadata", "labels")
        and isinstance(found, dict)
        and LOCAL_QUEUE in found
        and not labels(workload).get(LOCAL_QUEUE)
        and _is_of_jobs(key)
    )


def _is_of_jobs(key: str) -> bool:
    domain, _, name = key.partition("/")
    return domain == KUEUE and "labels" in ON_OBJECT.get(name, ())
