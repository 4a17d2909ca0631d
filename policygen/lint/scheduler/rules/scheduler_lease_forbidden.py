"""A second kube-scheduler may not update the lease that its configuration names."""

from collections.abc import Sequence

from msgspec import Struct

from policygen.core.finding import At
from policygen.core.quoting import listed
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.untyped import numbered, text, texts
from policygen.lint.core.role_bindings import RoleBinding, bindings, roles
from policygen.lint.core.rules import binding_account_missing, role_missing
from policygen.lint.other_rules import places
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.scheduler.leases import MAIN, lease, second_scheduler
from policygen.lint.scheduler.rules import scheduler_lease_shared

_VERBS = ("get", "create", "update")
_GROUP, _RESOURCE = "coordination.k8s.io", "leases"
_OF_SCHEDULER = "system:kube-scheduler"
_WITHOUT_LEASES = (
    "extension-apiserver-authentication-reader",
    "system:auth-delegator",
    "system:volume-scheduler",
)


_CAUSES = (binding_account_missing.RULE, role_missing.RULE, scheduler_lease_shared.RULE)
"""Rules whose faults take the right to a lease away, or name another lease."""


class _Right(Struct, frozen=True):
    """A rule of a role about leases."""

    verbs: Sequence[str]
    names: Sequence[str] = ()
    """Empty: all leases."""
    at: At | None = None
    """The place of the names in a role of the input."""

    def allows(self, verb: str, name: str) -> bool:
        """Whether it allows a verb. A request to create has no name yet."""
        is_named = not self.names or (name in self.names and verb != "create")
        return is_named and ("*" in self.verbs or verb in self.verbs)


def check(facts: Facts) -> Hits:
    """A scheduler that never gets its lease schedules no pods.

    Checks input with one scheduler and one configuration, in which all roles of its ServiceAccount are known.
    Source: k8s.io/client-go/tools/leaderelection; bootstrappolicy/policy.go, system:kube-scheduler.
    """
    scheduler = second_scheduler(facts.cluster)
    if facts.cluster.seen is not None or scheduler is None or any(places(facts, _CAUSES)):
        return
    namespace = scheduler.object.namespace
    spec = ("spec", "template", "spec", "serviceAccountName")
    name = text(scheduler.object.data, *spec) or "default"
    own = [
        it
        for it in facts.cluster.derive(bindings)
        if any(each[1:] == (namespace, name) for each in it.accounts)
    ]
    [entry] = facts.cluster.scheduler_configurations
    found, rights = lease(entry), _rights(facts.cluster, own)
    if found is None or not own or rights is None:
        return
    here = [it for where, it in rights if where in ("", found.namespace)]
    lacking = [verb for verb in _VERBS if not any(it.allows(verb, found.name) for it in here)]
    if lacking:
        wrong = next(
            (it for it in here if it.at is not None and it.names and found.name not in it.names),
            None,
        )
        advice = f"allow this in a Role of namespace {found.namespace}"
        if wrong:
            advice = f"write {found.name} instead of {wrong.names[0]}"
        yield Hit(
            RULE,
            f"ServiceAccount {namespace}/{name} of {scheduler.object} has no right to {listed(lacking, 'and')} lease "
            f"{found.namespace}/{found.name}, so the scheduler never becomes the leader and schedules no pods; {advice}",
            (wrong and wrong.at) or found.at,
            (found.at,) if wrong else (),
        )


def _rights(cluster: Cluster, own: Sequence[RoleBinding]) -> Sequence[tuple[str, _Right]] | None:
    """The rights about leases, each with its namespace, "" for all; None if a role is not known."""
    found: list[tuple[str, _Right]] = []
    for it in own:
        where = it.object.namespace
        role = roles(cluster, it.kind, it.namespace).get(it.role)
        if role is not None and "aggregationRule" not in role.data:
            for i, rule in numbered(role.data, "rules"):
                if {_GROUP, "*"} & {*texts(rule, "apiGroups")} and {_RESOURCE, "*"} & {
                    *texts(rule, "resources")
                }:
                    names = texts(rule, "resourceNames")
                    at = role.at.to("rules", i, "resourceNames")
                    found.append((where, _Right(texts(rule, "verbs"), names, at)))
        elif it.role == _OF_SCHEDULER:
            found += (where, _Right(("create",))), (where, _Right(("get", "update"), (MAIN,)))
        elif it.role not in _WITHOUT_LEASES:
            return None
    return found


RULE = ObjectRule(
    "scheduler-lease-forbidden",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Allow get, create and update of this lease in a Role of its namespace.",
    judges=(),
    check=check,
    needs=frozenset({Need.WHOLE, Need.BUILT}),
)
