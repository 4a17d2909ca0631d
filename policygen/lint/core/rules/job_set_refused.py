"""A JobSet names a replicatedJob, a failure reason or a pod that its webhook refuses."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core.finding import Fault, Path, at_path
from policygen.core.quoting import counted, quoted
from policygen.core.suggest import suggest
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import entries, integer, mapping, numbered, text
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_REASONS = (
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "PodFailurePolicy",
)
_KIND = "replicatedJob of this JobSet"
_RULE_NAME = re.compile("[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_LABEL = re.compile("[a-z]([a-z0-9-]*[a-z0-9])?")
_PART = re.compile("[a-z0-9-]+")
_LONGEST = 63
_SUFFIX = len("-abcde")
"""What the Job controller adds to the name of a pod."""


def check(facts: Facts) -> Hits:
    """Source: pkg/webhooks/jobset_webhook.go of JobSet 0.12.0, ValidateCreate."""
    for obj in facts.cluster.of("jobset.x-k8s.io", "JobSet"):
        for path, message in _faults(obj, mapping(obj.data, "spec")):
            yield Hit(RULE, f"{obj} {message}", obj.at.to(*path))


def _faults(obj: Object, spec: Mapping[str, Any]) -> Iterator[Fault]:
    jobs = {text(it, "name"): it for it in entries(spec, "replicatedJobs")}
    if "" in jobs:  # another rule reports it
        return
    for path, name in _references(spec):
        if isinstance(name, str) and name not in jobs:
            yield (
                ("spec", *path),
                (
                    f"names replicatedJob {quoted(name)}, which does not exist, so its webhook refuses the "
                    f"JobSet; {suggest(name, jobs, _KIND)}"
                ),
            )
    yield from _dependencies(spec)
    yield from _names(obj, jobs)
    for i, job in numbered(spec, "replicatedJobs"):
        if not _PART.fullmatch(text(job, "name")):
            yield (
                ("spec", "replicatedJobs", i, "name"),
                (
                    f"names a replicatedJob {quoted(text(job, 'name'))}, which is refused, because the names of its "
                    "Jobs contain this name; write lower-case letters, digits and dashes"
                ),
            )
    yield from _failure_rules(spec)
    coordinator = mapping(spec, "coordinator")
    if (name := text(coordinator, "replicatedJob")) in jobs:
        yield from _coordinator(coordinator, name, jobs[name])


def _references(spec: Mapping[str, Any]) -> Iterator[tuple[Path, object]]:
    """All names of replicatedJobs but those of dependencies, with their paths."""
    targets: list[Path] = [("successPolicy",)]
    targets += [("failurePolicy", "rules", i) for i, _ in numbered(spec, "failurePolicy", "rules")]
    for at in targets:
        for i, name in enumerate(entries(at_path(spec, at), "targetReplicatedJobs")):
            yield (*at, "targetReplicatedJobs", i), name
    if "coordinator" in spec:
        yield ("coordinator", "replicatedJob"), mapping(spec, "coordinator").get("replicatedJob")


def _dependencies(spec: Mapping[str, Any]) -> Iterator[Fault]:
    before: list[str] = []
    for i, job in numbered(spec, "replicatedJobs"):
        name = text(job, "name")
        before.append(name)
        at: Path = ("spec", "replicatedJobs", i, "dependsOn")
        if i == 0 and job.get("dependsOn") is not None:
            yield (
                at,
                (
                    f"has a dependsOn in its first replicatedJob {quoted(name)}, which is refused; list the "
                    "replicatedJob that it needs before it"
                ),
            )
            continue
        for j, other in numbered(job, "dependsOn"):
            if (needed := text(other, "name")) not in before:
                yield (
                    (*at, j, "name"),
                    (
                        f"has replicatedJob {quoted(name)} that depends on {quoted(needed)}, which is refused, "
                        f"because no replicatedJob before it has this name; {suggest(needed, before[:-1], _KIND)}"
                    ),
                )


def _names(obj: Object, jobs: Mapping[str, Mapping[str, Any]]) -> Iterator[Fault]:
    """The longest names of Jobs and pods, which are DNS labels."""
    longest = ""
    for name, job in jobs.items():
        made = f"{obj.name}-{name}-{max(0, (integer(job.get('replicas', 1)) or 1) - 1)}"
        of_job = mapping(job, "template", "spec")
        completions = integer(of_job.get("completions"))
        if completions is not None and of_job.get("completionMode", "Indexed") == "Indexed":
            made += f"-{max(0, completions - 1)}{'x' * _SUFFIX}"
        longest = max(longest, made, key=len)
    if len(longest) > _LONGEST:
        yield (
            ("metadata", "name"),
            (
                f"has a name of {len(obj.name)} characters, so the names of its Jobs or pods have more than {_LONGEST} "
                f"and are refused; shorten the name by {counted(len(longest) - _LONGEST, 'character')}"
            ),
        )
    elif obj.name and not _LABEL.fullmatch(obj.name):
        yield (
            ("metadata", "name"),
            (
                "has a name that is refused, because names of its Jobs begin with it; write lower-case letters, digits "
                "and dashes, and begin with a letter"
            ),
        )


def _failure_rules(spec: Mapping[str, Any]) -> Iterator[Fault]:
    seen = set[str]()
    for i, rule in numbered(spec, "failurePolicy", "rules"):
        at: Path = ("spec", "failurePolicy", "rules", i)
        name = text(rule, "name")
        if name and not _RULE_NAME.fullmatch(name):
            yield (
                (*at, "name"),
                (
                    f"has a failure policy rule {quoted(name)}, which is refused; write letters, digits and _, and "
                    "begin with a letter"
                ),
            )
        elif name and name in seen:
            yield (
                (*at, "name"),
                f"has two failure policy rules {quoted(name)}, which is refused; rename one",
            )
        seen.add(name)
        for j, reason in enumerate(entries(rule, "onJobFailureReasons")):
            if isinstance(reason, str) and reason not in _REASONS:
                yield (
                    (*at, "onJobFailureReasons", j),
                    f"has failure reason {quoted(reason)}, which is refused; {suggest(reason, _REASONS)}",
                )


def _coordinator(
    coordinator: Mapping[str, Any], name: str, job: Mapping[str, Any]
) -> Iterator[Fault]:
    at: Path = ("spec", "coordinator")
    of_job = mapping(job, "template", "spec")
    pods = integer(of_job.get("completions"))
    if "completions" not in of_job or of_job.get("completionMode", "Indexed") != "Indexed":
        yield (
            (*at, "replicatedJob"),
            (
                f"has its coordinator in replicatedJob {quoted(name)}, which is refused, because its Jobs are not "
                "Indexed or have no completions; write completionMode: Indexed and completions in its template"
            ),
        )
        return
    for field, count in (("jobIndex", integer(job.get("replicas", 1))), ("podIndex", pods)):
        index = integer(coordinator.get(field, 0))
        if index is not None and count is not None and not 0 <= index < count:
            yield (
                (*at, field),
                (
                    f"has coordinator {field} {index}, which is refused, because replicatedJob {quoted(name)} has "
                    f"indexes below {count}; write 0"
                ),
            )
            return


RULE = ObjectRule(
    "job-set-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the name of a replicatedJob of the JobSet.",
    judges=("JobSet",),
    check=check,
)
