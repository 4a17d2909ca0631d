"""A Queue or PodGroup names a resource that Volcano does not count."""

from collections.abc import Mapping
from typing import Any

from policygen.core.amounts import HUGE_PAGES
from policygen.core.finding import Path
from policygen.kubernetes.node_groups import NATIVE
from policygen.kubernetes.table import Entry
from policygen.lint.core.resource_names import meant, provided
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """Volcano drops names without a domain and names of quotas; a misspelled name limits nothing.

    Skips groups that Volcano's controllers create, which contain names of quotas too.

    Source: pkg/scheduler/api/resource_info.go, NewResource;
    pkg/controllers/job/job_controller_actions.go.
    """
    known = facts.cluster.derive(provided)
    for queue in facts.cluster.queues:
        for path, amounts in queues.amounts(queue.fields).items():
            yield from _uncounted(queue, ("spec", *path), amounts, known)
    for group in facts.cluster.pod_groups:
        if group.object.is_made:
            continue
        path = ("spec", "minResources")
        yield from _uncounted(group, path, group.fields.min_resources or {}, known)


def _uncounted(
    owner: Entry[Any], path: Path, amounts: Mapping[str, Any], known: frozenset[str]
) -> Hits:
    for name in amounts:
        for prefix in ("requests.", "limits."):
            right = name.removeprefix(prefix)
            if right != name:
                break
        else:
            slip = meant(name, known)
            if slip is None and ("/" in name or name in NATIVE or name.startswith(HUGE_PAGES)):
                continue
            right = slip or name
        advice = "remove the amount" if right == name else f'write "{right}"'
        yield Hit(
            RULE,
            f'{owner} has an amount of "{name}", which Volcano does not count, so the amount '
            f"has no effect; {advice}",
            owner.at.to(*path, name).on_key(),
        )


RULE = ObjectRule(
    "queue-resource-not-counted",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the name that pods use for the resource.",
    judges=("PodGroup", "Queue"),
    check=check,
    reads=("Node",),
)
