"""The admission policies of a spec, and their bindings."""

from policygen.plan.admission.policies import any_rule, bindings, policies
from policygen.plan.decisions import Decisions
from policygen.plan.workloads import Workloads
from policygen.spec.programs import AdmissionSettings
from policygen.spec.types import Platform, Spec, Team, TeamNamespace
from tests.plan.admission.test_parameters import decided


def of(*rules, action="deny"):
    platform = Platform("set", admission=AdmissionSettings(action, rules))
    team = Team("nlp", None, namespaces=(TeamNamespace("b"), TeamNamespace("a")))
    return Decisions(Spec(platform, teams=(team,)), (), (), Workloads((), ()))


def named(items):
    return [it.meta.name for it in items]


def test_rules_with_the_same_action_share_a_policy():
    assert named(policies(of())) == ["set-admission-deny", "set-admission-parameters"]
    mixed = of(("gang", "warn"), ("nodes", "audit"), ("priority", "off"))
    assert named(policies(mixed)) == [
        "set-admission-deny",
        "set-admission-warn",
        "set-admission-audit",
        "set-admission-parameters",
    ]


def problems(policy):
    return next(it.expression for it in policy.variables if it.name == "problems")


def test_a_policy_reports_only_its_rules():
    deny, warn, _ = policies(of(("gang", "warn"), ("priority", "off")))
    assert "['queue', 'scheduler', 'resources', 'nodes'])" in problems(deny).replace(
        "\n", ""
    ).replace("  ", "")
    assert "[priority]" not in problems(deny)
    assert "'gang'])" in problems(warn)
    assert "[queue]" not in problems(warn)


def test_a_missing_config_map_refuses_only_where_a_rule_denies():
    found = {it.meta.name: it for it in bindings(of(("gang", "warn")))}
    deny, warn = found["set-admission-deny"], found["set-admission-warn"]
    assert (deny.actions, deny.without_config_map) == (("Deny",), "Deny")
    assert (warn.actions, warn.without_config_map) == (("Warn",), "Allow")
    assert deny.namespaces == ("a", "b")
    assert {it.failure_policy for it in policies(of(action="audit"))} == {"Ignore", "Fail"}


def test_an_action_turns_off_all_rules_without_one_of_their_own():
    assert not any_rule(AdmissionSettings("off"))
    assert any_rule(AdmissionSettings("off", (("queue", "deny"),)))
    one = of(("queue", "deny"), action="off")
    assert named(policies(one)) == ["set-admission-deny", "set-admission-parameters"]


def test_each_policy_has_a_binding():
    everything = decided("three-schedulers")
    assert named(policies(everything)) == named(bindings(everything))


def test_a_spec_without_teams_has_no_policy():
    nothing = Decisions(Spec(Platform("set")), (), (), Workloads((), ()))
    assert list(policies(nothing)) == []
    assert list(bindings(nothing)) == []
