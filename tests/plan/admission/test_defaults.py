"""The policy that adds missing fields: tests/servers/test_admission.py tries it on a server."""

from msgspec.structs import replace

from policygen.plan.admission.expressions import RULES
from policygen.plan.admission.policies import mutating_bindings, mutating_policies
from policygen.spec.programs import AdmissionSettings
from tests.plan.admission.test_parameters import decided


def of(*rules, action="deny", defaults=True):
    found = decided("three-schedulers")
    settings = AdmissionSettings(action, rules, defaults)
    platform = replace(found.spec.platform, admission=settings)
    return replace(found, spec=replace(found.spec, platform=platform))


def absent(made):
    (policy,) = mutating_policies(made)
    return next(it.expression for it in policy.variables if it.name == "absent")


def test_one_policy_and_its_binding_for_the_namespaces_of_teams():
    (policy,), (binding,) = mutating_policies(of()), mutating_bindings(of())
    assert policy.meta.name == binding.meta.name == "mixed-admission-defaults"
    assert binding.namespaces == ("data", "lab", "product-canary", "product-live")
    assert {it.operations for it in policy.rules} == {("CREATE",)}


def test_only_on_request_and_with_a_rule():
    for made in (of(defaults=False), of(action="off")):
        assert [*mutating_policies(made), *mutating_bindings(made)] == []


def test_fields_of_rules_that_are_off_are_not_added():
    assert all(f"'{rule}'" in absent(of()) for rule in RULES)
    partial = absent(of(("nodes", "off"), ("gang", "warn")))
    assert "'nodes'" not in partial
    assert "'gang'" in partial
