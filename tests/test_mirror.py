"""Tests mirror the tree: a module has a test module of its name, or its reason is in WITHOUT."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "policygen"

WITHOUT = {
    "__main__": "tests/cli/test_main.py starts it as a process, and tests/cli/test_startup.py interrupts it.",
    "adopt/guesses": "tests/adopt/test_infer.py and test_volcano.py read the guesses of specs.",
    "adopt/kube_scheduler": "tests/adopt/test_infer.py renders adopted quotas again.",
    "adopt/kueue": "tests/adopt/test_infer.py adopts rendered queues, and queues written by hand.",
    "adopt/models": "tests/adopt/test_infer.py renders adopted pod groups again.",
    "adopt/namespaces": "tests/adopt/test_infer.py and test_volcano.py show whose namespaces are.",
    "adopt/pools": "tests/adopt/test_infer.py renders adopted pools again.",
    "adopt/priorities": "tests/adopt/test_infer.py renders adopted priorities again.",
    "adopt/profiles": "tests/adopt/test_infer.py renders adopted profiles again.",
    "adopt/quotas": "tests/adopt/test_infer.py renders adopted quotas again.",
    "adopt/teams": "tests/adopt/test_infer.py shows the tree and the quotas of teams.",
    "adopt/trees": "It has types and small functions; tests/adopt/test_volcano.py reads trees.",
    "api_validation/prevalidation_schema": "tests/api_validation/test_prevalidate.py shows that its schemas "
    "accept nothing that is refused, which is all that is asked of them.",
    "api_validation/selectors": "tests/api_validation/test_object_code.py and test_admission_code.py break each part.",
    "api_validation/updates/kubernetes": "tests/api_validation/updates/test_refused.py changes objects of each kind.",
    "api_validation/updates/kueue": "tests/api_validation/updates/test_refused.py changes objects of each kind.",
    "api_validation/updates/states": "tests/api_validation/updates/test_refused.py applies objects through it.",
    "api_validation/updates/transitions": "tests/api_validation/updates/test_refused.py breaks each rule.",
    "api_validation/updates/update": "tests/api_validation/updates/test_refused.py changes objects of each kind.",
    "api_validation/updates/volcano": "tests/api_validation/updates/test_refused.py changes objects of each kind.",
    "app/adopt": "tests/cli/test_adopt.py adopts manifests and snapshots through it.",
    "app/baseline": "tests/lint/test_baseline.py updates and compares baselines through it.",
    "app/content": "tests/app/test_review.py and tests/app/test_simulate.py name specs, manifests and snapshots.",
    "app/kueue_file": "tests/app/test_review.py and test_render.py render and compare Configurations through it.",
    "app/not_compared": "tests/app/test_review.py reads its notes about specs, manifests and snapshots.",
    "app/workload": "tests/cli/test_workload.py renders models in each form through it.",
    "app/observed": "tests/cli/test_adopt.py and tests/app/test_review.py read manifests and snapshots through it.",
    "app/drift": "tests/drift/test_drift.py compares clusters and writes patches through it.",
    "app/earlier_render": "tests/app/test_krm.py runs Renders one after the other.",
    "app/explain_name": "tests/cli/test_explain.py explains names through it.",
    "app/explain_object": "tests/cli/test_explain.py explains objects through it.",
    "app/init": "tests/cli/test_init.py writes starter specs through it.",
    "app/inputs": "tests/app/test_lint.py reads specs and manifests through it.",
    "app/judge": "tests/app/test_lint.py judges snapshots through it, and "
    "tests/lint/test_rule_pages.py manifests.",
    "drift/kept": "tests/lint/test_change_refused.py compares manifests with snapshots through it.",
    "app/simulation_input": "tests/app/test_simulate.py reads specs, manifests, traces and snapshots through it.",
    "app/simulation_notes": "tests/app/test_simulate.py reads the notes of specs, manifests, traces and snapshots.",
    "app/simulation_scene": "tests/app/test_simulate.py compares who runs under specs, manifests and snapshots.",
    "app/sides": "tests/app/test_review.py and tests/app/test_steps.py read specs, manifests and snapshots.",
    "app/sources": "tests/app/test_lint.py reads snapshots through it, and tests/app/test_connect.py clusters.",
    "app/test": "tests/cli/test_test.py runs and updates cases through it.",
    "cli/baseline": "tests/cli/test_lint.py updates baselines by it.",
    "cli/lint_inputs": "tests/cli/test_lint.py calls lint and baseline update with its options.",
    "cli/spec_arguments": "tests/cli/test_completion.py completes names of a spec through it.",
    "app/edited_text": "tests/app/test_fix.py and tests/app/test_patch.py change texts through it.",
    "client/oidc": "tests/servers/test_ways_in.py logs in at an issuer through it.",
    "client/tls": "tests/servers/test_ways_in.py connects through it, with good and bad certificates.",
    "core/errors": "It has only types; tests/cli/test_main.py shows the exit codes.",
    "core/names": "It has only names.",
    "core/rule": "It has types and their constructors; tests/lint/test_registry.py checks every rule.",
    "core/shipped": "tests/test_wheel.py finds the files of an installed wheel through it, and "
    "tests/render/test_examples.py those of a checkout.",
    "documents/parsed": "It has only types; tests/documents/test_fast_yaml.py shows when an outline is made.",
    "documents/rules": "It has only rules; tests/lint/test_finding_pages.py runs the examples of each.",
    "drift/rule_names": "It has only names.",
    "explain/admission": "tests/explain/test_values.py answers every field of the examples.",
    "explain/answer": "tests/cli/test_explain.py shows who borrows, and tests/explain/test_values.py all fields.",
    "explain/controllers": "tests/explain/test_values.py evaluates the steps to each value.",
    "explain/fields": "tests/explain/test_values.py finds the meaning of each field.",
    "explain/node_rooms": "tests/explain/test_scaling.py and test_rollouts.py compare the steps with numbers worked out by hand.",
    "explain/monitoring_fields": "tests/explain/test_values.py finds the meaning of each field.",
    "explain/node_autoscaler": "tests/explain/test_values.py answers each field, and evaluates the steps.",
    "explain/nvidia_fields": "tests/explain/test_values.py finds the meaning of each field.",
    "explain/file_fields": "tests/explain/test_values.py finds the meaning of each field.",
    "explain/meaning": "It has only types.",
    "explain/named": "tests/cli/test_explain.py explains teams, models and pools through it.",
    "explain/overview": "tests/cli/test_show.py shows its rows.",
    "explain/namespaces": "tests/explain/test_values.py evaluates the steps to each value.",
    "explain/queues": "tests/explain/test_values.py evaluates the steps to each value.",
    "explain/quotas": "tests/explain/test_values.py evaluates the steps to each value.",
    "explain/scaling_fields": "tests/explain/test_scaling.py finds the meaning of each field.",
    "explain/workload_fields": "tests/explain/test_values.py finds the meaning of each field.",
    "explain/step": "tests/explain/test_values.py evaluates the formula of each step.",
    "kubernetes/kueue": "It has only types; tests/lint/kueue/test_quotas.py reads objects as these.",
    "kubernetes/rules": "It has only rules; tests/lint/test_finding_pages.py runs the examples of each.",
    "kubernetes/scheduler_reasons": "tests/kubernetes/test_node_filters.py compares the words, and tests/servers with kube-scheduler.",
    "kubernetes/volcano": "It has only types; tests/lint/volcano/test_queues.py reads objects as these.",
    "lint/core/excess_words": "tests/lint/core/test_gang_pods.py and the examples of its two rules quote its words.",
    "lint/core/known_keys": "It has only names; tests/lint/test_rule_pages.py runs the rules that look for them.",
    "lint/kueue/job_quotas": "tests/lint/core/test_pod_demands.py shows flavors without enough quota.",
    "lint/kueue/configuration_types": "It has only a table; tests/lint/kueue/test_configuration_errors.py "
    "finds values that break it.",
    "lint/kueue/missing_cluster_queues": "tests/lint/test_batch_mutations.py removes ClusterQueues.",
    "lint/kueue/probable_quotas": "tests/lint/test_batch_mutations.py removes parts of quotas.",
    "lint/kueue/simulated": "tests/lint/kueue/test_never_started.py and test_stuck_jobs.py simulate through it.",
    "lint/run_rules": "It has only rules; tests/lint/test_finding_pages.py runs the examples of each.",
    "lint/schema_rules": "It has a table of rules; tests/lint/test_rule_pages.py runs the examples of each.",
    "patch/containers": "tests/app/test_patch.py shows who gets the GPUs, and what is refused.",
    "patch/gang_pods": "tests/app/test_patch.py shows which numbers of pods are written, and which are refused.",
    "patch/draft": "tests/app/test_patch.py shows what stays and what is refused.",
    "patch/leftovers": "tests/app/test_patch.py names placeholders and directives.",
    "patch/object_patch": "tests/app/test_patch.py patches objects of each kind.",
    "patch/obstacles": "tests/app/test_patch.py names each obstacle.",
    "patch/model_finder": "tests/app/test_patch.py finds models by label, name and option.",
    "plan/assignment": "tests/plan/test_placement.py compares the assignments of a model.",
    "plan/borrowing": "tests/plan/test_model_sums.py shows models above the guarantee of their team.",
    "plan/contributions": "tests/plan/test_model_sums.py shows each part of a sum in the messages.",
    "plan/decisions": "It has only types; tests/plan/test_kueue.py shows what is decided from them.",
    "plan/explanation": "tests/plan/test_placement.py and test_workloads.py show each text.",
    "plan/extras": "It has only names; tests/test_house.py::test_names_of_extras_are_written_in_one_place.",
    "plan/guarantees": "tests/plan/test_model_sums.py shows gangs, and which guarantees are proposed.",
    "plan/kind": "It has only types.",
    "plan/model_limits": "tests/plan/test_workloads.py shows models that alone exceed a limit.",
    "plan/node_room": "tests/plan/workload/test_scaling.py and test_rollout.py bound replicas by nodes.",
    "plan/monitoring/alerts": "tests/servers/test_monitoring.py makes each alert fire.",
    "plan/monitoring/dashboard": "tests/plan/monitoring/test_objects.py reads the queries of the dashboard.",
    "plan/monitoring/facts": "tests/servers/test_monitoring.py makes each alert fire.",
    "plan/monitoring/origin": "tests/explain/test_values.py finds the origin of each field.",
    "plan/monitoring/rule": "tests/servers/test_monitoring.py makes each alert fire.",
    "plan/monitoring/usage": "tests/servers/test_monitoring.py makes each alert fire.",
    "plan/single_models": "tests/plan/test_workloads.py shows models that alone exceed a limit.",
    "plan/resource_sum": "tests/plan/test_model_sums.py shows what exceeds at each place.",
    "plan/rules": "It has only rules; tests/spec/test_rules.py and tests/lint/test_finding_pages.py show each.",
    "lint/kueue/configuration_upgrade": "tests/app/test_upgrade.py upgrades Configurations.",
    "lint/kueue/version_upgrade": "tests/app/test_fix.py and test_upgrade.py upgrade objects.",
    "lint/kueue/waiting": "tests/lint/test_seen_rules.py shows which Workloads wait, and since when.",
    "render/manifest": "It has only a type.",
    "simulate/wanted_pools": "tests/simulate/test_recorder.py counts the jobs of pools through it.",
    "report/amount_words": "tests/report/test_quota_words.py and test_remedy_words.py compare sentences with its amounts.",
    "report/patches": "tests/cli/test_patch.py and tests/servers/test_kustomize.py read its output.",
    "report/show": "tests/cli/test_show.py reads its output.",
    "report/simulation_csv": "tests/report/test_simulation.py and tests/app/test_simulate.py read its output.",
    "report/simulation_json": "tests/report/test_simulation.py and tests/app/test_simulate.py read its output.",
    "plan/workload/clock_changes": "tests/plan/workload/test_peak.py compares its runs with all moments of twelve years.",
    "plan/workload/fields": "tests/patch/test_model_fields.py takes each field out of rendered workloads.",
    "plan/vanishing_nodes": "tests/servers/test_spot_fallback.py proves both warnings, and tests/lint/test_rule_pages.py runs their pages.",
    "plan/workload/origin": "tests/explain/test_values.py finds the origin of each field.",
    "report/field_answers": "tests/cli/test_explain.py reads its output.",
    "report/name_answers": "tests/cli/test_explain.py reads its output.",
    "report/review": "tests/app/test_review.py reads its output.",
    "report/manifest_changes": "tests/cli/test_upgrade.py and tests/cli/test_formats.py write its reports.",
    "review/kueue_settings": "tests/app/test_review.py changes settings of each kind.",
    "review/consequences": "tests/app/test_review.py compares specs.",
    "review/objects": "tests/app/test_review.py compares specs.",
    "review/review": "It has only a type.",
    "simulate/arrival": "It has only types; tests/simulate/test_timeline.py makes jobs of them.",
    "simulate/jobs/arrival_maker": "tests/simulate/test_scene_jobs.py makes jobs of objects.",
    "simulate/jobs/existing_pods": "tests/simulate/test_recorder.py and test_pod_quotas.py read pods of snapshots.",
    "simulate/jobs/object_jobs": "tests/simulate/test_scene_jobs.py and tests/simulate/volcano/test_over_time.py make jobs of objects.",
    "simulate/jobs/object_keys": "tests/simulate/test_scene_jobs.py has objects that others created.",
    "simulate/jobs/pod_jobs": "tests/simulate/volcano/test_over_time.py goes on with jobs of a snapshot.",
    "simulate/jobs/reserved_quota": "tests/simulate/test_assumptions.py and test_scene_jobs.py begin with Workloads that hold quota.",
    "simulate/jobs/unknown_parts": "tests/simulate/test_unmodelled.py names each.",
    "simulate/jobs/workload_jobs": "tests/simulate/test_scene_jobs.py reads Workloads.",
    "simulate/kueue/assignment": "tests/servers/test_kueue_scheduler.py compares flavors and messages with Kueue.",
    "simulate/kueue/entry": "It has only types.",
    "simulate/kueue/fair_preemption": "tests/servers/test_kueue_scheduler.py compares victims with Kueue.",
    "simulate/kueue/order": "tests/servers/test_kueue_scheduler.py compares whom each cycle admits with Kueue.",
    "simulate/kueue/queue": "tests/simulate/kueue/test_build.py and test_preemption.py make queues.",
    "simulate/kueue/state": "tests/simulate/kueue/test_build.py and test_preemption.py read and change it.",
    "simulate/kueue/victims": "tests/simulate/kueue/test_preemption.py shows who can be a victim.",
    "simulate/over_time/agenda": "tests/simulate/test_timeline.py shows when what happens.",
    "simulate/over_time/bindings": "tests/simulate/test_timeline.py and test_topologies_over_time.py bind pods.",
    "simulate/over_time/gang_runs": "tests/simulate/volcano/test_over_time.py runs jobs of Volcano.",
    "simulate/over_time/gated_pods": "tests/simulate/test_assumptions.py removes gates.",
    "simulate/over_time/job_pods": "tests/simulate/test_timeline.py creates pods, and begins with jobs that run.",
    "simulate/over_time/job_run": "tests/simulate/test_timeline.py and test_recorder.py read what became of jobs.",
    "simulate/over_time/kueue_runs": "tests/simulate/test_timeline.py and test_assumptions.py run Kueue over time.",
    "simulate/growing_pools": "tests/simulate/over_time/test_node_growth.py has pools of specs and of clusters.",
    "simulate/scene_pools": "tests/simulate/test_scene.py has pools.",
    "simulate/scene_schedulers": "tests/simulate/test_scene.py runs each scheduler of a scene.",
    "simulate/shared_nodes": "tests/app/test_simulate.py has jobs of Volcano in a pool of Kueue.",
    "simulate/over_time/livelocks": "tests/simulate/test_timeline.py has a livelock.",
    "simulate/over_time/node_queue": "tests/simulate/test_timeline.py places and evicts pods.",
    "simulate/over_time/observer": "It has only an interface.",
    "simulate/over_time/pod_creation": "tests/simulate/test_pod_quotas.py creates pods.",
    "simulate/over_time/starts": "tests/simulate/test_timeline.py starts jobs.",
    "simulate/traces/job": "It has only types; tests/simulate/traces/test_own_csv.py reads rows as these.",
    "simulate/why/causes": "It has only types; tests/simulate/why/test_quota_causes.py reads them.",
    "simulate/why/explanation": "It has only a type; tests/simulate/why/test_explainer.py reads explanations.",
    "simulate/why/fit_jobs": "tests/simulate/why/test_fit.py and test_pool_access.py submit jobs by it.",
    "simulate/why/job_names": "tests/simulate/why/test_explainer.py and tests/app/test_why.py name jobs and models.",
    "simulate/why/queue_field": "tests/simulate/why/test_gang_remedies.py names another queue for each kind.",
    "simulate/why/scene_nodes": "tests/simulate/test_instant.py and tests/simulate/why/test_node_room.py place pods by it.",
    "simulate/why/scene_situation": "tests/simulate/why/test_remedies.py and tests/simulate/test_instant.py make situations by it.",
    "simulate/kueue/workload": "tests/simulate/kueue/test_pending.py and test_build.py make workloads.",
    "simulate/volcano/actions": "tests/simulate/volcano/test_scheduler.py runs each, and "
    "tests/servers/test_volcano_sessions.py compares what they do with Volcano.",
    "simulate/volcano/capacity": "tests/simulate/volcano/test_scheduler.py shows its queues, and "
    "tests/servers/test_volcano_sessions.py compares trees of queues with Volcano.",
    "simulate/volcano/choices": "tests/servers/volcano_sessions.py makes choices by it.",
    "simulate/volcano/gang": "tests/servers/test_volcano_sessions.py compares gangs and victims with Volcano.",
    "simulate/volcano/job": "tests/simulate/volcano/test_scheduler.py makes jobs, and reads their messages.",
    "simulate/volcano/kubernetes_view": "tests/servers/test_volcano_sessions.py compares refusals and scores.",
    "simulate/volcano/overcommit": "tests/simulate/volcano/test_scheduler.py enqueues jobs by it.",
    "simulate/volcano/plugin": "It has only an interface.",
    "simulate/volcano/proportion": "tests/servers/test_volcano_sessions.py compares its queues with Volcano.",
    "simulate/volcano/queue_shares": "tests/servers/test_volcano_sessions.py compares what queues get.",
    "simulate/volcano/scores": "tests/servers/test_volcano_sessions.py compares the score of each node.",
    "simulate/volcano/session": "tests/servers/test_volcano_sessions.py compares sessions with Volcano.",
    "simulate/volcano/state": "tests/simulate/volcano/test_scheduler.py makes queues and nodes.",
    "spec/programs": "It has only types.",
    "spec/types": "It has only types; tests/plan/test_policy.py shows how one policy is laid over another.",
}
"""Modules without a test module of their name, and the tests that cover them.

A module without functions needs no tests.
"""


def modules():
    """Every module, except packages, and except rules, which their pages test."""
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).with_suffix("")
        if path.name != "__init__.py" and module.parent.name != "rules":
            yield module


def has_test(module):
    return (ROOT / "tests" / module.parent / f"test_{module.name}.py").is_file()


def test_each_module_has_a_test_module_of_its_name_or_a_reason():
    assert {str(module) for module in modules() if not has_test(module)} == WITHOUT.keys()


@pytest.mark.parametrize("module", WITHOUT)
def test_a_reason_names_tests_that_exist(module):
    named = re.findall(r"(tests/[a-z_/]+\.py)(?:::(\w+))?", WITHOUT[module])
    for path, name in named:
        assert not name or f"def {name}(" in (ROOT / path).read_text("utf-8")
        assert (ROOT / path).is_file()
    tree = ast.parse((PACKAGE / f"{module}.py").read_text("utf-8"))
    assert named or not any(isinstance(node, ast.FunctionDef) for node in tree.body)
