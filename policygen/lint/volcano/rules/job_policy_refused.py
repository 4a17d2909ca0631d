"""A policy of a Volcano Job has a missing, invalid or repeated event, or an unknown action."""

from collections.abc import Iterator

from policygen.core.finding import At
from policygen.core.quoting import listed, quoted
from policygen.core.suggest import suggest
from policygen.kubernetes.untyped import texts
from policygen.lint.core.pod_templates import Part
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
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
"""These are in the enum of the CRD. `unsupported-value` reports any other."""
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


def check(facts: Facts) -> Hits:
    """Source: pkg/webhooks/admission/jobs/validate/util.go, validatePolicies."""
    for spec in jobs.specs(facts.cluster):
        for holder in (spec, *spec.items("tasks")):
            for message, at in _policies(holder):
                yield Hit(RULE, message, at)


def _policies(holder: Part) -> Iterator[tuple[str, At]]:
    who, seen = holder.owner, set[object]()
    for policy in holder.items("policies"):
        events, code = _events(policy), policy.data.get("exitCode")
        if events and code is not None:
            yield (
                f"{who} has a policy for both events and an exitCode, which Volcano refuses; write two policies",
                policy.at,
            )
        elif not (policy.data.get("event") or policy.data.get("events")) and code is None:
            yield (
                f"{who} has a policy without an event or exitCode, which Volcano refuses; write one of them",
                policy.at,
            )
        elif code == 0:
            yield (
                f"{who} has a policy for exitCode 0, which is not a failure; write another exitCode",
                policy.at / "exitCode",
            )
        for one in (*events, code):
            if one in seen and one is not None:
                yield (
                    f"{who} has two policies for {one}, which Volcano refuses; remove one of the policies",
                    policy.at,
                )
            seen.add(one)
            if one in _NOT_FOR_USERS:
                yield (
                    f"{who} has a policy for event {one}, which only Volcano itself may use; {suggest(str(one), _EVENTS)}",
                    policy.at,
                )
        action = policy.data.get("action")
        if events and isinstance(action, str | None) and action not in _ACTIONS:
            message = f"{who} has a policy with unknown action {quoted(str(action or ''))}; {_advice(str(action))}"
            yield message, policy.at / "action"
    if _ANY in seen and len({event for event in seen if isinstance(event, str)}) > 1:
        yield (
            f"{who} has policies for event * and for other events, which Volcano refuses; remove the policies for other events",
            holder.at / "policies",
        )


def _advice(action: str) -> str:
    """All actions that begin with a word, such as those of Restart; else the most similar one."""
    longer = [it for it in _ACTIONS if action and it.startswith(action)]
    return f"write {listed(longer)}" if len(longer) > 1 else suggest(action, _ACTIONS)


def _events(policy: Part) -> list[str]:
    found = texts(policy.data, "events")
    one = policy.data.get("event")
    return list(dict.fromkeys((*found, one) if isinstance(one, str) and one else found))


RULE = ObjectRule(
    "job-policy-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write each event or exit code once, with an action that Volcano knows.",
    judges=("Job",),
    check=check,
)
