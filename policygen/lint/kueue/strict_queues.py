"""StrictFIFO queues, in which a job that is never admitted blocks all jobs behind it."""

from typing import Final

from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.table import Entry

STRICT: Final = "StrictFIFO"


def is_strict(queue: Entry[ClusterQueueView]) -> bool:
    """Whether Kueue tries only the first job of the queue."""
    return queue.fields.queueing_strategy == STRICT


def blocking(queue: Entry[ClusterQueueView]) -> str:
    """The end of a sentence about a job that Kueue never admits: what it does to jobs behind it.

    Empty if it does nothing to them. Source: pkg/cache/queue/cluster_queue.go of Kueue 0.19.2,
    requeueIfNotPresent.
    """
    if not is_strict(queue):
        return ""
    return f", and since {queue} is StrictFIFO, Kueue never admits the jobs behind it either"
