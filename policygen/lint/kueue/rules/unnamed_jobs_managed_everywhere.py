"""Kueue takes every job of every namespace."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.names import NAMESPACE_NAME
from policygen.core.rule import Severity
from policygen.lint.kueue.configuration import all_settings
from policygen.lint.rule import Facts, Family, ObjectRule

_ANY = {NAMESPACE_NAME: "any-other-namespace"}
"""The labels of a namespace that nobody has thought of."""


def check(facts: Facts) -> Iterator[Hit]:
    """Jobs of operators and installers are suspended too, and wait for a queue that they lack.

    Source: pkg/controller/jobframework/reconciler.go; issues 2277, 5048, 7649.
    """
    for entry, rules in all_settings(facts):
        if entry.it.manage_jobs_without_queue_name and rules.managed.selects(_ANY):
            yield Hit(
                RULE,
                "manageJobsWithoutQueueName takes the jobs of every namespace, those of operators "
                "too; write a managedJobsNamespaceSelector that names what is to be managed",
                entry.at / "manageJobsWithoutQueueName",
            )


RULE = ObjectRule(
    "unnamed-jobs-managed-everywhere",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("Configuration",),
    check=check,
)
