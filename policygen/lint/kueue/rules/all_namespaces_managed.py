"""manageJobsWithoutQueueName applies to all namespaces, so Kueue also suspends operators' jobs."""

from policygen.core.names import NAMESPACE_NAME
from policygen.lint.kueue.configuration import all_settings
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_ANY = {NAMESPACE_NAME: "any-other-namespace"}
"""The labels of a namespace that no selector names."""


def check(facts: Facts) -> Hits:
    """Kueue also suspends jobs of operators and installers, which name no queue and wait forever.

    Source: pkg/controller/jobframework/reconciler.go; issues 2277, 5048, 7649.
    """
    for entry, rules in all_settings(facts):
        if entry.fields.manage_jobs_without_queue_name and rules.managed.selects(_ANY):
            yield Hit(
                RULE,
                "manageJobsWithoutQueueName suspends jobs in every namespace, also jobs that "
                "operators create; write a managedJobsNamespaceSelector that selects the intended "
                "namespaces",
                entry.at / "manageJobsWithoutQueueName",
            )


RULE = ObjectRule(
    "all-namespaces-managed",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set managedJobsNamespaceSelector to select only the intended namespaces.",
    judges=("Configuration",),
    check=check,
    aliases=("unnamed-jobs-managed-everywhere",),
)
