"""Refused podFailurePolicy, successPolicy and counts of an Indexed Job.

Source: pkg/apis/batch/validation/validation.go of Kubernetes 1.36.3, validateJobSpec.
"""

from collections.abc import Iterator
from typing import Any, Final

from policygen.api_validation.metadata import is_namespace, is_subdomain
from policygen.core import go_values
from policygen.core.finding import FaultAt
from policygen.core.quoting import quoted
from policygen.kubernetes.untyped import integer, mapping, mappings
from policygen.lint.core.pod_templates import Part

REASONS: Final = ("onExitCodes", "onPodConditions")
_MOST_RULES = 20
_MOST_CODES = 255
_MOST_CONDITIONS = 20
_MOST_INDEXES = 100_000
"""Of the pods of an Indexed Job that run at once, and of failed indexes."""
_MOST_OF_LARGE = 10_000
"""The same for a Job of more indexes with backoffLimitPerIndex."""
_LONGEST_NAME = 63
_NAMES = ("job-name", "batch.kubernetes.io/job-name")
_UIDS = ("controller-uid", "batch.kubernetes.io/controller-uid")
"""Labels that the server sets in the template of a Job without manualSelector."""
_OF_SERVER = frozenset((*_NAMES, *_UIDS))
_LONGEST_INDEXES = 64 * 1024


def of_job(spec: Part) -> Iterator[FaultAt]:
    """Refused combinations in the `spec` of a Job."""
    fields = spec.data.keys()
    if "podFailurePolicy" in fields:
        yield from _failures(spec)
    if spec.data.get("completionMode") == "Indexed":
        yield from _sizes(spec)
        if "successPolicy" in fields:
            yield from _successes(spec)
    if spec.owner.kind == "Job":
        yield from _named(spec)
    if spec.data.get("podReplacementPolicy") == "":
        yield (
            spec.at / "podReplacementPolicy",
            f"{spec.owner} has an empty podReplacementPolicy, which is refused; write Failed, or remove podReplacementPolicy",
        )


def _named(job: Part) -> Iterator[FaultAt]:
    """Names that the server derives from the name of a Job."""
    name = job.owner.name
    completions = integer(job.data.get("completions"))
    if completions is None and job.data.get("parallelism") is None:
        completions = 1
    pod = f"{name}-{(completions or 1) - 1}"
    indexed = job.data.get("completionMode") == "Indexed"
    if indexed and completions and name and is_subdomain(name) and not is_namespace(pod):
        yield (
            job.owner.at.to("metadata", "name"),
            f"{job.owner} is Indexed, so {quoted(pod)} would be the hostname of a pod, which is not valid; write a name without dots that has at most {_LONGEST_NAME - len(pod) + len(name)} characters",
        )
    if _OF_SERVER.isdisjoint(mapping(job.data, "template", "metadata", "labels")):
        return
    labels = job.under("template").under("metadata").under("labels")
    for key, value in labels.data.items() if job.data.get("manualSelector") is not True else ():
        if key in _UIDS or (key in _NAMES and isinstance(value, str) and name not in ("", value)):
            yield (
                labels.at / key,
                f"{job.owner} has the label {key} in its template, which is refused, because the server sets it; remove the label",
            )


def _failures(spec: Part) -> Iterator[FaultAt]:
    policy, owner = spec.under("podFailurePolicy"), spec.owner
    rules = policy.items("rules")
    if len(rules) > _MOST_RULES:
        yield _too_many(policy, "rules", len(rules), _MOST_RULES)
    replacement = spec.data.get("podReplacementPolicy")
    if replacement == "TerminatingOrFailed" and spec.data["podFailurePolicy"] is not None:
        yield (
            spec.at / "podReplacementPolicy",
            f"{owner} has podReplacementPolicy {replacement} with a podFailurePolicy, which is refused; write podReplacementPolicy: Failed",
        )
    pods = mapping(mapping(spec.data, "template"), "spec")
    if pods.get("restartPolicy") == "OnFailure" and spec.data["podFailurePolicy"] is not None:
        yield (
            spec.at.to("template", "spec", "restartPolicy"),
            f"{owner} has restartPolicy OnFailure with a podFailurePolicy, which is refused; write restartPolicy: Never",
        )
    for rule in rules:
        reasons = [name for name in REASONS if _is_stated(name, rule.data.get(name))]
        if len(reasons) != 1:
            found = " and ".join(reasons) or f"neither {REASONS[0]} nor {REASONS[1]}"
            yield (
                rule.at,
                f"{owner} has a podFailurePolicy rule with {found}, which is refused; write exactly one of {REASONS[0]} and {REASONS[1]}",
            )
        if rule.data.get("action") == "FailIndex" and spec.data.get("backoffLimitPerIndex") is None:
            yield (
                rule.at / "action",
                f"{owner} has action FailIndex without backoffLimitPerIndex, which is refused; write backoffLimitPerIndex",
            )
        conditions = rule.items("onPodConditions")
        if len(conditions) > _MOST_CONDITIONS:
            yield _too_many(rule, "onPodConditions", len(conditions), _MOST_CONDITIONS)
        if isinstance(rule.data.get("onExitCodes"), dict):
            yield from _codes(rule.under("onExitCodes"), pods)


def _is_stated(name: str, value: Any) -> bool:
    return value is not None if name == REASONS[0] else bool(value)


def _codes(codes: Part, pods: dict[str, Any]) -> Iterator[FaultAt]:
    owner, values, name = codes.owner, codes.data.get("values"), codes.data.get("containerName")
    names = [
        container.get("name")
        for key in ("containers", "initContainers")
        for container in mappings(pods, key)
    ]
    if isinstance(name, str) and name not in names:
        yield (
            codes.at / "containerName",
            f"{owner} has a podFailurePolicy rule about container {quoted(name)}, which its pods do not have; write the name of a container",
        )
    if not isinstance(values, list) or not all(isinstance(it, int) for it in values):
        return
    if not values:
        yield (
            codes.at,
            f"{owner} has a podFailurePolicy rule without exit codes, which is refused; write values",
        )
    if len(values) > _MOST_CODES:
        yield _too_many(codes, "values", len(values), _MOST_CODES)
    if codes.data.get("operator") == "In" and 0 in values:
        yield (
            codes.at.to("values", values.index(0)),
            f"{owner} has exit code 0 in a podFailurePolicy rule, which is refused; remove exit code 0",
        )
    elif values != sorted(set(values)):
        yield (
            codes.at / "values",
            f"{owner} has exit codes in a podFailurePolicy rule that are not in ascending order or are listed twice, which is refused; sort them and remove duplicates",
        )


def _too_many(part: Part, key: str, count: int, most: int) -> FaultAt:
    message = f"{part.owner} has {count} {key}, which is refused; write at most {most}"
    return part.at / key, message


def _sizes(spec: Part) -> Iterator[FaultAt]:
    names = ("completions", "parallelism", "maxFailedIndexes", "backoffLimitPerIndex")
    completions, pods, failed, per_index = (integer(spec.data.get(name)) for name in names)
    large = (completions or 0) > _MOST_INDEXES and per_index is not None
    most = _MOST_OF_LARGE if large else _MOST_INDEXES
    why = f" of {completions} completions" if large else ""
    for name, count in (("parallelism", pods), ("maxFailedIndexes", failed)):
        if count is not None and count > most:
            yield (
                spec.at / name,
                f"{spec.owner} is Indexed and has {name} {count}, which is refused for a Job{why}; write at most {most}",
            )
    if large and spec.data.get("maxFailedIndexes") is None:
        yield (
            spec.at / "completions",
            f"{spec.owner} has more than {_MOST_INDEXES} completions and backoffLimitPerIndex, but no maxFailedIndexes, which is refused; write maxFailedIndexes",
        )


def _successes(spec: Part) -> Iterator[FaultAt]:
    policy, completions = spec.under("successPolicy"), integer(spec.data.get("completions"))
    rules = policy.items("rules")
    if len(rules) > _MOST_RULES:
        yield _too_many(policy, "rules", len(rules), _MOST_RULES)
    if completions is None:
        return  # job-index-refused reports it
    for rule in rules:
        indexes, total = rule.data.get("succeededIndexes"), None
        if isinstance(indexes, str):
            total = _indexes(indexes, completions)
            if total is None or len(indexes) > _LONGEST_INDEXES:
                yield (
                    rule.at / "succeededIndexes",
                    f"{spec.owner} has succeededIndexes {quoted(indexes)}, which is refused; write ascending indexes from 0 to {completions - 1}, such as 0,2-3",
                )
        count = integer(rule.data.get("succeededCount"))
        most = completions if total is None else min(total, completions)
        if count is not None and not 0 <= count <= most:
            yield (
                rule.at / "succeededCount",
                f"{spec.owner} has succeededCount {count}, which is refused; write 0 to {most}",
            )


def _indexes(text: str, completions: int) -> int | None:
    """How many indexes a list of intervals has; None if it is refused."""
    last, total = -1, 0
    for interval in text.split(",") if text else ():
        ends = interval.split("-")
        first, end = go_values.integer(ends[0]), go_values.integer(ends[-1])
        if len(ends) > 2 or first is None or end is None:
            return None
        if first <= last or end >= completions or (len(ends) > 1 and first >= end):
            return None
        last, total = end, total + end - first + 1
    return total
