"""A policy of a job of Volcano names no event, a wrong one, one twice, or a wrong action."""

from collections.abc import Iterator

from policygen.core.finding import At, Hit
from policygen.core.quoting import quoted
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.kubernetes.untyped import texts
from policygen.lint.core.pod_templates import Part
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano import jobs

_ANY = "*"
_EVENTS = (
    _ANY,
    "JobUpdated",
    "PodEvicted",
    "PodFailed",
    "PodPending",
    "TaskCompleted",
    "TaskFailed",
    "Unknown",
)
_NOT_FOR_USERS = ("CommandIssued", "OutOfSync", "PodRunning")
"""In the CRD's list all the same; what is in none is `value-unsupported`."""
_ACTIONS = (
    "AbortJob",
    "CompleteJob",
    "RestartJob",
    "RestartPartition",
    "RestartPod",
    "RestartTask",
    "ResumeJob",
    "TerminateJob",
)


def check(facts: Facts) -> Iterator[Hit]:
    """Source: pkg/webhooks/admission/jobs/validate/util.go, validatePolicies."""
    for spec in jobs.specs(facts.cluster):
        for holder in (spec, *spec.items("tasks")):
            for message, at in _policies(holder):
                yield Hit(RULE, f"{spec.owner}: {message}", at)


def _policies(holder: Part) -> Iterator[tuple[str, At]]:
    seen: set[object] = set()
    for policy in holder.items("policies"):
        events, code = _events(policy), policy.data.get("exitCode")
        if events and code is not None:
            yield "a policy is for events or for an exitCode, not for both; write two", policy.at
        elif not (policy.data.get("event") or policy.data.get("events")) and code is None:
            yield "a policy needs an event or an exitCode; write one", policy.at
        elif code == 0:
            yield "exit code 0 is no failure; write another one", policy.at / "exitCode"
        for one in (*events, code):
            if one in seen and one is not None:
                yield f"two policies are for {one}, which is refused; keep one", policy.at
            seen.add(one)
            if one in _NOT_FOR_USERS:
                yield f"{one} is no event for a policy; {suggest(str(one), _EVENTS)}", policy.at
        action = policy.data.get("action")
        if events and isinstance(action, str | None) and action not in _ACTIONS:
            said = f"{quoted(str(action or ''))} is no action; {suggest(str(action), _ACTIONS)}"
            yield said, policy.at / "action"
    if _ANY in seen and len({each for each in seen if isinstance(each, str)}) > 1:
        yield "the event * stands alone; remove the other ones", holder.at / "policies"


def _events(policy: Part) -> list[str]:
    found = texts(policy.data, "events")
    one = policy.data.get("event")
    return list(dict.fromkeys((*found, one) if isinstance(one, str) and one else found))


RULE = ObjectRule(
    "job-policy-refused", Severity.ERROR, Family.INVALID, __doc__, judges=("Job",), check=check
)
