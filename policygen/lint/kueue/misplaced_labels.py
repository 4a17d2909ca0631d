"""Labels of Kueue beside a label with the name of a queue, in a place where Kueue ignores all of them."""

from policygen.core.finding import At, Path, at_path
from policygen.core.names import LOCAL_QUEUE
from policygen.kubernetes.kueue_jobs import labels
from policygen.kubernetes.untyped import keyed_texts
from policygen.kubernetes.workloads import Workload
from policygen.lint.core.known_keys import KUEUE, ON_OBJECT
from policygen.lint.kueue.job_metadata import BY_PODS


def beside(workload: Workload, queue_name: At) -> dict[str, str]:
    """The other keys that belong where a misplaced queue name belongs."""
    holder = queue_name.path[len(workload.at.path) : -1]
    if not _holds_labels(workload, holder):
        return {}
    return {
        key: value
        for key, value in keyed_texts(
            {"keys": at_path(workload.object.data, holder)}, "keys"
        ).items()
        if key != LOCAL_QUEUE and _is_label(key, f"{holder[-1]}")
    }


def are_together(workload: Workload, key: str, place: At) -> bool:
    """Whether a key is beside a misplaced queue name, which is reported with it."""
    path = place.path[len(workload.at.path) :]
    found = at_path(workload.object.data, path)
    return (
        _holds_labels(workload, path)
        and isinstance(found, dict)
        and LOCAL_QUEUE in found
        and not labels(workload).get(LOCAL_QUEUE)
        and _is_label(key, f"{path[-1]}")
    )


def _holds_labels(workload: Workload, path: Path) -> bool:
    """Whether users write labels there that Kueue does not read.

    These are annotations, labels of a CronJob itself, and labels of pods or objects that the workload creates.
    """
    of_cron_job = workload.kind == "CronJob" and path == ("metadata", "labels")
    of_others = len(path) > 2 and path[-1] == "labels" and workload.kind not in BY_PODS
    return of_cron_job or of_others or path == ("metadata", "annotations")


def _is_label(key: str, form: str) -> bool:
    """Whether Kueue reads a key in labels, and not where it is written. `form`: labels or annotations."""
    domain, _, name = key.partition("/")
    forms = ON_OBJECT.get(name, ()) if domain == KUEUE else ()
    return "labels" in forms and (form == "labels" or form not in forms)
