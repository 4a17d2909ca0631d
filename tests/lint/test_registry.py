"""Every finding is one object of the registry, and every object of the registry is emitted."""

import ast
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from policygen.core.rule import Family, Rule
from policygen.lint.registry import REGISTRY, RULES, can_be_selected, find
from policygen.lint.rule import ObjectRule, shared

SOURCE = Path(__file__).parents[2] / "policygen"
MODULES = [
    "policygen.documents.rules",
    "policygen.kubernetes.rules",
    "policygen.lint.run_rules",
    "policygen.plan.rules",
    "policygen.spec.rules",
]

FORMER = {
    "accelerator-escapes-quota": "gpu-request-not-counted",
    "admission-checks-written-twice": "admission-checks-set-twice",
    "annotation-refused": "invalid-annotation",
    "bad-date": "invalid-value",
    "bad-duration": "invalid-value",
    "bad-label": "invalid-label",
    "bad-name": "invalid-name",
    "bad-quantity": "invalid-value",
    "bad-taint": "invalid-taint",
    "bad-toleration": "invalid-toleration",
    "bad-topology": "invalid-topology",
    "borrow-within-cohort-not-heeded": "borrow-within-cohort-ignored",
    "capability-leaves-out": "capability-incomplete",
    "capacity-beside-proportion": "capacity-and-proportion-enabled",
    "check-config-name-unusable": "admission-check-config-name-invalid",
    "check-flavor-refused": "admission-check-flavor-refused",
    "cohort-quota-out-of-reach": "cohort-quota-unused",
    "counted-by-profile": "mig-quota-mismatch",
    "deviceshare-packs-cards-only": "deviceshare-does-not-pack-nodes",
    "duplicate-identity": "object-declared-twice",
    "empty-text": "wrong-length",
    "encoding": "file-not-utf-8",
    "enqueue-starves-claimants": "enqueue-blocks-preemption",
    "excluded-prefix-hits-quota": "quota-resource-excluded",
    "feature-gates-given-twice": "feature-gates-set-twice",
    "field-missing": "missing-field",
    "field-unknown": "unknown-field",
    "flavor-taint-not-heeded": "flavor-taint-ignored",
    "gang-in-inner-queue": "gang-in-non-leaf-queue",
    "gang-never-claims": "gang-cannot-reclaim",
    "gang-placed-by-another": "gang-scheduler-not-volcano",
    "gang-roles-not-tested": "min-task-member-ignored",
    "gang-rolls-over": "gang-rolling-update",
    "gang-shields-victims": "gang-plugin-blocks-preemption",
    "gangs-not-awaited": "wait-for-pods-ready-off",
    "gpu-container-short-of-cpu": "gpu-container-short-of-cpu-or-memory",
    "gpu-held-in-vain": "gpu-held-unused",
    "gpu-quota-binds-nothing": "gpu-quota-counts-nothing",
    "gpus-kept-back": "available-below-total",
    "identity-twice": "object-declared-twice",
    "job-in-inner-queue": "job-in-non-leaf-queue",
    "job-runs-too-few": "parallelism-exceeds-completions",
    "job-waits-for-too-many": "min-available-exceeds-replicas",
    "kinds-not-judged": "kinds-without-special-rules",
    "label-refused": "invalid-label",
    "length-refused": "wrong-length",
    "limit-range-order": "limit-range-amount-refused",
    "list-entry-twice": "duplicate-entry",
    "missing-key": "missing-field",
    "model-in-inner-team": "model-team-without-namespaces",
    "name-refused": "invalid-name",
    "not-allowed": "unsupported-value",
    "nothing-to-judge": "nothing-to-check",
    "number-out-of-range": "out-of-range",
    "object-taken-over": "object-managed-by-another",
    "on-flavors-unused": "admission-check-flavor-ignored",
    "packing-sees-a-sample": "packing-scores-some-nodes",
    "packs-weakly": "profile-packs-weakly",
    "part-of-a-gpu": "gpu-amount-fractional",
    "pod-group-disagrees": "pod-group-inconsistent",
    "preemptable-unread": "preemptable-ignored",
    "pytorch-master-missing": "plugin-task-missing",
    "queue-barred-from-all-nodes": "queue-affinity-missing",
    "queue-held": "queue-stopped",
    "queue-keeps-what-it-borrows": "borrowing-queue-not-reclaimable",
    "queue-limit-misses-gpu": "capability-without-gpu",
    "queued-pod-fits-no-node": "pod-fits-no-node",
    "queues-read-by-no-plugin": "queues-without-plugin",
    "quota-without-bound": "quota-unlimited",
    "ranks-start-without-gang": "ranks-not-gang-scheduled",
    "scheduler-arguments-unread": "scheduler-arguments-ignored",
    "scheduler-profiles-unread": "scheduler-profiles-not-loaded",
    "scheduler-word-unknown": "scheduler-key-unknown",
    "shared-queue-unlike": "shared-queue-pools-differ",
    "shared-queue-weights": "shared-queue-weights-differ",
    "tier-given-twice": "highest-tier-given-twice",
    "too-few-entries": "wrong-length",
    "too-many-entries": "wrong-length",
    "type-refused": "wrong-type",
    "unknown-key": "unknown-field",
    "unlabelled-flavor-first": "flavor-without-labels-first",
    "unnamed-jobs-managed-everywhere": "all-namespaces-managed",
    "validators-disagree": "unexplained-refusal",
    "value-form-refused": "invalid-value",
    "value-unsupported": "unsupported-value",
    "victims-chosen-before-shares": "reclaim-ignores-queue-shares",
    "volcano-argument-unread": "volcano-argument-ignored",
    "volcano-unknown-plugin": "volcano-plugin-unknown",
    "volcano-word-unread": "volcano-key-ignored",
    "waits-for-pods-anyway": "gang-scheduling-false-ignored",
    "workload-charges-no-quota": "workload-uses-no-quota",
    "yaml-surprise": "ambiguous-yaml-value",
}
"""Former names, which users may have in waivers, baselines and scripts. This list may only grow."""


@pytest.mark.parametrize(("former", "name"), FORMER.items())
def test_a_former_name_is_kept(former, name):
    rule = find(former)
    assert rule is not None
    assert (rule.name, former in rule.aliases) == (name, True)


def test_every_former_name_is_in_the_list():
    assert {name for rule in REGISTRY for name in rule.aliases} == set(FORMER)


def test_every_former_name_is_in_the_changelog():
    text = (SOURCE.parent / "CHANGELOG.md").read_text("utf-8")
    assert [former for former in FORMER if f"`{former}`" not in text] == []


def test_every_name_and_every_former_name_is_used_once():
    names = Counter(name for rule in REGISTRY for name in (rule.name, *rule.aliases))
    assert [name for name, count in names.items() if count > 1] == []
    assert all(find(name) is not None for name in names)


def test_the_registry_is_sorted_and_holds_the_rules_that_check_objects():
    assert [rule.name for rule in REGISTRY] == sorted(rule.name for rule in REGISTRY)
    assert set(RULES) == {rule for rule in REGISTRY if isinstance(rule, ObjectRule)}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_of_rules_lists_each_of_them(name):
    module = import_module(name)
    written = {name: it for name, it in vars(module).items() if isinstance(it, Rule)}
    assert {rule.name.replace("-", "_").upper(): rule for rule in module.RULES} == written
    for rule in module.RULES:
        listed = find(rule.name)
        assert listed is rule or isinstance(listed, ObjectRule)


def test_a_fault_of_specs_and_of_objects_has_one_rule_but_for_its_family():
    """A spec's refusal cannot be switched off; the object rule of the same name can."""
    others = [rule for name in MODULES for rule in import_module(name).RULES]
    both = [(rule, find(rule.name)) for rule in others if find(rule.name) is not rule]
    assert both
    for rule, of_objects in both:
        assert isinstance(of_objects, ObjectRule)
        assert shared(rule, of_objects.family) == shared(of_objects, of_objects.family)
        assert can_be_selected(of_objects)


def test_every_rule_that_checks_no_objects_is_emitted_somewhere():
    modules = {SOURCE.parent / f"{name.replace('.', '/')}.py" for name in MODULES}
    used = {
        node.id if isinstance(node, ast.Name) else node.attr
        for path in set(SOURCE.rglob("*.py")) - modules
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Name | ast.Attribute)
    }
    constants = {
        rule.name.replace("-", "_").upper()
        for name in MODULES
        for rule in import_module(name).RULES
    }
    assert constants - used == set()


def test_no_finding_is_made_of_a_name():
    """mypy checks this too; this test reads the calls that mypy cannot check."""
    made = [
        f"{path.relative_to(SOURCE)}:{call.lineno}"
        for path in SOURCE.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call)
        and getattr(call.func, "id", "") in {"Hit", "Finding"}
        and call.args
        and isinstance(call.args[0], ast.Constant | ast.JoinedStr)
    ]
    assert made == []


def test_refusals_and_reports_about_a_run_cannot_be_switched_off():
    fixed = {rule.family for rule in REGISTRY if not can_be_selected(rule)}
    assert fixed == {Family.REFUSED, Family.RUN}


@pytest.mark.parametrize("rule", REGISTRY, ids=str)
def test_a_rule_has_a_summary_of_one_line(rule):
    assert rule.summary
    assert "\n" not in rule.summary
