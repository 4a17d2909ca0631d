"""Why a job waits, in plain words."""

import re
from collections.abc import Iterator, Sequence

from policygen.kubernetes.accelerators import is_one
from policygen.simulate.result import JobResult

_ABOVE = re.compile(
    r"insufficient quota for (\S+) in flavor (\S+), previously considered podsets requests "
    r"\((.*?)\) \+ current podset request \((.*?)\) > maximum capacity \((.*?)\)"
)
_MISSING = re.compile(r"insufficient unused quota for (\S+) in flavor (\S+), (\S+) more needed")
_UNCOVERED = re.compile(r"resource (\S+) unavailable in ClusterQueue")
_NO_MATCH = re.compile(
    r"(untolerated taint .*? in flavor \S+|flavor \S+ doesn't match node affinity)"
)
_NO_QUEUE = re.compile(r"(LocalQueue|ClusterQueue) (\S+) doesn't exist(.*)")
_FIXED = {
    "LocalQueue ": "its LocalQueue is stopped",
    "ClusterQueue ": "its ClusterQueue is not active",
    "workload namespace doesn't match": "its ClusterQueue does not select its namespace",
    "Exceeded the PodsReady timeout": "found no node in time, so Kueue evicted it and tries it again",
    "Workload has overlapping preemption": "another job preempts the same jobs first",
    "Workload no longer fits": "another job was admitted first",
    "queue resource quota insufficient": "its queue in Volcano has too little left for its minimum",
    "resource in cluster is overused": "other jobs have or wait for all for which Volcano enqueues jobs",
}
"""Words by the beginning of the message."""


def plain(job: JobResult) -> str:
    """Why a job waits at the end; empty: it does not wait."""
    message = job.message
    if job.reason == "NotSimulated":
        return f"is not simulated: {message}"
    if job.reason == "NeverStarts":
        return f"never starts: {message}"
    if missing := _NO_QUEUE.fullmatch(message):
        return f"never starts: {missing[1]} {missing[2]} does not exist{missing[3]}"
    if job.reason == "Unschedulable" and message.startswith("0/"):
        words = "no node has room for all its pods"
        return f"holds its quota, but {words}" if job.queue else words
    for begin, words in _FIXED.items():
        if message.startswith(begin):
            return words
    if job.reason == "NotEnoughResources":
        return "Volcano finds no room for its gang"
    return "; or ".join(dict.fromkeys(_parts(message))) or message


def _parts(message: str) -> Iterator[str]:
    """The reasons that Kueue gives for each flavor."""
    if "Pending the preemption" in message:
        yield "waits until the jobs that it preempts have stopped"
        return
    for it in _chosen(_ABOVE, message):
        resource, flavor, earlier, own, most = it.groups()
        asked = own if earlier == "0" else f"{earlier} and {own}"
        yield f"requests {asked} {resource}, but its queue can never use more than {most} of {flavor}"
    missing: dict[str, list[str]] = {}
    for it in _chosen(_MISSING, message):
        resource, flavor, amount = it.groups()
        missing.setdefault(flavor, []).append(f"{amount} {resource}")
    for flavor, amounts in missing.items():
        yield f"needs {' and '.join(amounts)} more of {flavor}"
    for resource in _UNCOVERED.findall(message):
        yield f"its queue has no quota for {resource}"
    for why in _NO_MATCH.findall(message):
        yield f"its pods do not match: {why}"


def _chosen(pattern: re.Pattern[str], message: str) -> Sequence[re.Match[str]]:
    """The parts of a message about GPUs; all of them if there are none, as cpu and memory come with GPUs."""
    found = list(pattern.finditer(message))
    return [it for it in found if is_one(it[1])] or found
