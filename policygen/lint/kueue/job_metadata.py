"""The labels and annotations of workloads that Kueue's webhooks refuse.

Source: pkg/controller/jobframework/validation.go, pkg/controller/jobs/job/job_webhook.go,
pkg/controller/jobs/pod/pod_webhook.go and pkg/util/webhook of Kueue 0.19.2.
"""

from collections.abc import Iterable, Iterator

from policygen.api_validation.metadata import is_subdomain
from policygen.core import durations, go_values
from policygen.core.finding import Fault
from policygen.core.label_grammar import value_fault
from policygen.core.names import LOCAL_QUEUE
from policygen.core.quoting import quoted
from policygen.kubernetes.kueue_jobs import (
    ELASTIC,
    EQUAL_COMPLETIONS,
    FRAMEWORKS,
    GROUP,
    GROUP_COUNT,
    MIN_PARALLELISM,
    PREBUILT,
    PRIORITY,
)
from policygen.kubernetes.kueue_settings import Settings, identifier
from policygen.kubernetes.workloads import Workload
from policygen.lint.core.webhook_objects import WebhookObject

_DOMAIN = "kueue.x-k8s.io/"
MAX_SECONDS = f"{_DOMAIN}max-exec-time-seconds"
GATED_BY = f"{_DOMAIN}admission-gated-by"

_ANY_NAME = (LOCAL_QUEUE, PRIORITY)
"""Labels that Kueue does not check here; most jobs have no others."""
BY_PODS = ("Deployment", "LeaderWorkerSet", "StatefulSet")
"""Kinds whose pods Kueue manages; their webhooks check less."""
_ELASTIC_SINCE = (0, 18)
"""The first release that checks it."""
_ELASTIC = ("Job", "RayCluster", "RayJob", "RayService")
_LONGEST = 63
"""Characters of a gate's name."""


def faults(job: WebhookObject, settings: Settings) -> Iterator[Fault]:
    """Every fault that Kueue would refuse, each once."""
    if not any(
        key.startswith(_DOMAIN) and key not in _ANY_NAME
        for keys in (job.labels, job.annotations)
        for key in keys
    ):
        return
    if job.kind not in BY_PODS:
        yield from _seconds(job)
        yield from _prebuilt(job, settings)
    if job.kind == "Job":
        yield from _at(MIN_PARALLELISM, _parallelism(job, settings))
        yield from _at(EQUAL_COMPLETIONS, _completions(job))
    if _elastic(job, settings) and job.kind not in _ELASTIC:
        kinds = f"{', '.join(_ELASTIC[:-1])} and {_ELASTIC[-1]}"
        yield ("annotations", ELASTIC), f"{ELASTIC} is only for {kinds}; remove the annotation"
    if settings.gate("AdmissionGatedBy"):
        yield from _at(GATED_BY, _gates(job.annotations.get(GATED_BY, "")))
    if job.kind == "Pod":
        yield from _pod(job, settings)


def _at(key: str, messages: Iterable[str]) -> Iterator[Fault]:
    """Faults of one annotation, from their messages."""
    for message in messages:
        yield ("annotations", key), message


def _elastic(job: WebhookObject, settings: Settings) -> bool:
    return (
        job.annotations.get(ELASTIC) == "true"
        and settings.target.release >= _ELASTIC_SINCE
        and settings.gate("ElasticJobsViaWorkloadSlices")
    )


def _seconds(job: WebhookObject) -> Iterator[Fault]:
    text = job.labels.get(MAX_SECONDS)
    if text is None or value_fault(text):  # the API server refuses it first
        return
    number = go_values.integer(text)
    if number is None:
        duration = durations.seconds(text)
        right = int(duration) if duration and duration >= 1 else 3600
        yield (
            ("labels", MAX_SECONDS),
            f'{MAX_SECONDS} is {quoted(text)}, which is not an integer; write the number of seconds, such as "{right}"',
        )
    elif number <= 0:
        yield (
            ("labels", MAX_SECONDS),
            f"{MAX_SECONDS} is {text}, which is too small; write 1 or more",
        )


def _prebuilt(job: WebhookObject, settings: Settings) -> Iterator[Fault]:
    place, name = _named(job, PREBUILT, settings)
    if not name or (place == "labels" and value_fault(name)):
        return
    if not is_subdomain(name):
        yield (
            (place, PREBUILT),
            (
                f"{PREBUILT} is {quoted(name)}, which is not a valid object name; "
                'write lower-case letters, digits, "-" and "."'
            ),
        )
    elif job.kind == "Pod":
        _, group = _named(job, GROUP, settings)
        if group and group != name:
            yield (
                (place, PREBUILT),
                f"{PREBUILT} is {quoted(name)}, but {GROUP} is {quoted(group)}; write the same name in both",
            )


def _parallelism(job: WebhookObject, settings: Settings) -> Iterator[str]:
    text = job.annotations.get(MIN_PARALLELISM)
    if text is None:
        return
    number, count = go_values.integer(text), job.count
    if number is None:
        yield f"{MIN_PARALLELISM} is {quoted(text)}, which is not an integer; write an integer"
    elif count is not None and not 0 < number < count:
        if count > 1:
            yield (
                f"{MIN_PARALLELISM} is {text}, but the Job has {count} pods; write a number from 1 "
                f"to {count - 1}"
            )
        else:
            yield f"{MIN_PARALLELISM} is {text}, but the Job has only one pod; remove the annotation"
    if _elastic(job, settings):
        yield f"{MIN_PARALLELISM} and {ELASTIC} exclude each other; remove one of them"


def _completions(job: WebhookObject) -> Iterator[str]:
    text = job.annotations.get(EQUAL_COMPLETIONS)
    if text is None:
        return
    on = go_values.boolean(text)
    if on is None:
        yield f'{EQUAL_COMPLETIONS} is {quoted(text)}; write "true" or "false"'
    if not on:
        return
    mode = job.spec.get("completionMode")
    if not isinstance(mode, str | None):
        return  # the API server refuses its type
    if mode != "Indexed":
        yield (
            f"{EQUAL_COMPLETIONS} is only for indexed Jobs; write completionMode: Indexed, or "
            "remove the annotation"
        )
    else:
        pods, ends = job.number("parallelism"), job.number("completions")
        if pods is not None and ends is not None and pods != ends:
            yield (
                f"{EQUAL_COMPLETIONS} requires equal completions ({ends}) and parallelism ({pods}); "
                "write the same number in both fields"
            )


def _gates(text: str) -> Iterator[str]:
    names = [name.strip() for name in text.split(",")] if text.strip() else []
    for i, name in enumerate(names):
        domain, slash, rest = name.partition("/")
        if not name:
            yield f"{GATED_BY} has an empty entry; remove the extra comma"
        elif name in names[:i]:
            yield f"{GATED_BY} lists {quoted(name)} twice; remove one of the two entries"
        elif not (slash and rest and is_subdomain(domain)):
            yield (
                f"{GATED_BY} lists {quoted(name)}, which is not a valid controller name; write a "
                "name such as example.com/controller"
            )
        elif len(name) > _LONGEST:
            yield (
                f"{GATED_BY} lists {quoted(name)}, which has {len(name)} characters; write at most "
                f"{_LONGEST} characters"
            )


def _pod(pod: WebhookObject, settings: Settings) -> Iterator[Fault]:
    place, group = _named(pod, GROUP, settings)
    count = pod.annotations.get(GROUP_COUNT)
    if not group:
        if count is not None:
            message = f"{GROUP_COUNT} is set, but the pod has no label {GROUP}; add this label"
            yield ("annotations", GROUP_COUNT), message
        return
    if not is_subdomain(group) and not (place == "labels" and value_fault(group)):
        yield (
            (place, GROUP),
            (
                f"{GROUP} is {quoted(group)}, which is not a valid object name; "
                'write lower-case letters, digits, "-" and "."'
            ),
        )
    if count is None:
        yield (
            (place, GROUP),
            f"{GROUP} is set, but the pod has no annotation {GROUP_COUNT}; add this annotation with the number of pods of the group",
        )
    elif (go_values.integer(count) or 0) < 1:
        yield (
            ("annotations", GROUP_COUNT),
            f"{GROUP_COUNT} is {quoted(count)}; write the number of pods of the group, 1 or more",
        )


def _named(job: WebhookObject, key: str, settings: Settings) -> tuple[str, str]:
    return identifier(job.labels, job.annotations, key, settings)


def group(job: WebhookObject, settings: Settings) -> str:
    """The name of the pod's group; empty if it has no group."""
    return _named(job, GROUP, settings)[1]


def refusing(workload: Workload, settings: Settings) -> bool:
    """Whether a webhook of Kueue checks the workload, or what it creates."""
    framework = FRAMEWORKS.get((workload.object.group, workload.kind))
    if framework is None:
        return False
    # Without a Configuration it is not known which integrations are enabled.
    return settings.entry is None or framework in settings.frameworks
