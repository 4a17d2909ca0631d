"""Decides the admission policies, their bindings, and the ConfigMaps with their parameters."""

from collections.abc import Iterator

from msgspec import Struct

from policygen.plan.admission import defaults
from policygen.plan.admission.expressions import (
    PROTECTED,
    PROTECTED_MESSAGE,
    RULES,
    VALIDATION,
    Validation,
    Variable,
    variables,
)
from policygen.plan.admission.parameters import parameters, parameters_name, team_namespaces
from policygen.plan.decisions import Decisions, Generators
from policygen.plan.kind import Meta
from policygen.spec import derived_names
from policygen.spec.programs import AdmissionSettings

_ACTIONS = {"deny": "Deny", "warn": "Warn", "audit": "Audit"}
"""The actions of a spec, as the API writes them."""


_DEFAULTS = "defaults"
"""The end of the name of the policy that adds missing fields."""
_PARAMETERS = "parameters"
"""The end of the name of the policy that protects the ConfigMaps."""


class ResourceRule(Struct, frozen=True):
    """Requests that a policy looks at."""

    groups: tuple[str, ...]
    versions: tuple[str, ...]
    resources: tuple[str, ...]
    operations: tuple[str, ...] = ("CREATE", "UPDATE")
    names: tuple[str, ...] = ()


class ValidatingAdmissionPolicy(Struct, frozen=True):
    """Rules with the same action."""

    meta: Meta
    failure_policy: str
    reads_config_map: bool
    """Whether its expressions read the ConfigMap of a namespace."""
    rules: tuple[ResourceRule, ...]
    variables: tuple[Variable, ...]
    validations: tuple[Validation, ...]


class ValidatingAdmissionPolicyBinding(Struct, frozen=True):
    """Puts the policy of the same name into force in the namespaces of the teams."""

    meta: Meta
    actions: tuple[str, ...]
    """As the API writes them: Deny, Warn or Audit."""
    config_map: str | None
    """The ConfigMap of each namespace that the policy reads."""
    without_config_map: str
    """What happens in a namespace without it: Deny or Allow."""
    namespaces: tuple[str, ...]


class MutatingAdmissionPolicy(Struct, frozen=True):
    """Adds to new objects what they do not have."""

    meta: Meta
    rules: tuple[ResourceRule, ...]
    variables: tuple[Variable, ...]
    expression: str


class MutatingAdmissionPolicyBinding(Struct, frozen=True):
    """Puts the policy of the same name into force in the namespaces of the teams."""

    meta: Meta
    config_map: str
    without_config_map: str
    namespaces: tuple[str, ...]


_CREATED = (
    # Kinds with one pod template. Their controllers create only pods that have an owner.
    ResourceRule(("",), ("v1",), ("pods",), ("CREATE",)),
    ResourceRule(("batch",), ("v1",), ("jobs", "cronjobs"), ("CREATE",)),
    ResourceRule(("apps",), ("v1",), ("deployments", "statefulsets"), ("CREATE",)),
)
_WORKLOADS = (
    # A pod's spec hardly changes after it was created, and pods are updated often.
    ResourceRule(("",), ("v1",), ("pods",), ("CREATE",)),
    ResourceRule(("batch",), ("v1",), ("jobs", "cronjobs")),
    ResourceRule(("apps",), ("v1",), ("deployments", "statefulsets")),
    ResourceRule(("batch.volcano.sh",), ("v1alpha1",), ("jobs",)),
    ResourceRule(("scheduling.volcano.sh",), ("v1beta1",), ("podgroups",)),
    ResourceRule(("jobset.x-k8s.io",), ("v1alpha2",), ("jobsets",)),
    ResourceRule(("leaderworkerset.x-k8s.io",), ("v1",), ("leaderworkersets",)),
)


def policies(decided: Decisions) -> Iterator[ValidatingAdmissionPolicy]:
    """One policy for each action of a rule, and one that protects the ConfigMaps.

    One policy has all rules of an action, because the API server converts the object and the
    ConfigMap once for each policy.
    """
    for action, rules in _by_action(decided):
        yield ValidatingAdmissionPolicy(
            meta=_meta(decided, action),
            failure_policy="Fail" if action == "deny" else "Ignore",
            reads_config_map=True,
            rules=_WORKLOADS,
            variables=variables(rules),
            validations=(VALIDATION,),
        )
    if decided.spec.teams:
        operations = ("CREATE", "UPDATE", "DELETE")
        names = (parameters_name(decided.platform),)
        yield ValidatingAdmissionPolicy(
            meta=_meta(decided, _PARAMETERS),
            failure_policy="Fail",
            reads_config_map=False,
            rules=(ResourceRule(("",), ("v1",), ("configmaps",), operations, names),),
            variables=(),
            validations=(Validation(PROTECTED, message=PROTECTED_MESSAGE),),
        )


def bindings(decided: Decisions) -> Iterator[ValidatingAdmissionPolicyBinding]:
    """One binding for each policy, with the namespaces of all teams."""
    platform = decided.platform
    chosen = [(action, _ACTIONS[action]) for action, _ in _by_action(decided)]
    for suffix, action in [*chosen, (_PARAMETERS, "Deny")]:
        namespaces = team_namespaces(decided)
        if namespaces:
            yield ValidatingAdmissionPolicyBinding(
                meta=_meta(decided, suffix),
                actions=(action,),
                config_map=None if suffix == _PARAMETERS else parameters_name(platform),
                without_config_map="Deny" if action == "Deny" else "Allow",
                namespaces=namespaces,
            )


def mutating_policies(decided: Decisions) -> Iterator[MutatingAdmissionPolicy]:
    """The policy that adds the fields of the rules that are on, if the spec wants it."""
    settings = decided.platform.admission
    rules = [rule for action in _ACTIONS for rule in _rules_of(settings, action)]
    if settings.defaults and rules and decided.spec.teams:
        yield MutatingAdmissionPolicy(
            meta=_meta(decided, _DEFAULTS),
            rules=_CREATED,
            variables=defaults.variables([rule for rule in RULES if rule in rules]),
            expression=defaults.MUTATION,
        )


def mutating_bindings(decided: Decisions) -> Iterator[MutatingAdmissionPolicyBinding]:
    """The binding of this policy, with the namespaces of all teams."""
    namespaces = team_namespaces(decided)
    for policy in mutating_policies(decided):
        if namespaces:
            name = parameters_name(decided.platform)
            yield MutatingAdmissionPolicyBinding(policy.meta, name, "Allow", namespaces)


def any_rule(settings: AdmissionSettings) -> bool:
    """Whether a rule is on."""
    return any(_rules_of(settings, action) for action in _ACTIONS)


def _by_action(decided: Decisions) -> Iterator[tuple[str, list[str]]]:
    for action in _ACTIONS if decided.spec.teams else ():
        rules = _rules_of(decided.platform.admission, action)
        if rules:
            yield action, rules


def _rules_of(settings: AdmissionSettings, action: str) -> list[str]:
    chosen = dict(settings.rules)
    return [rule for rule in RULES if chosen.get(rule, settings.action) == action]


def _meta(decided: Decisions, suffix: str) -> Meta:
    platform = decided.platform
    return Meta(derived_names.component(platform, f"admission-{suffix}"), platform.name)


OBJECTS: Generators = {
    "ConfigMap": parameters,
    "ValidatingAdmissionPolicy": policies,
    "ValidatingAdmissionPolicyBinding": bindings,
    "MutatingAdmissionPolicy": mutating_policies,
    "MutatingAdmissionPolicyBinding": mutating_bindings,
}
