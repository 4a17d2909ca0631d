"""What only a cluster that was seen shows: whom rules speak of, and when they are silent."""

import pytest
import yaml

from policygen import versions
from policygen.cluster.seen import GroupKind
from policygen.cluster.view import Cluster
from policygen.finding import Verdict
from policygen.lint.catalog import RULES
from policygen.lint.conditions import long, moment
from policygen.lint.engine import run
from policygen.lint.kinds import every, wanted
from policygen.lint.page import page
from policygen.lint.rule import Facts, Need
from policygen.plan.compile import compile_plan
from policygen.spec import forms
from policygen.spec.files import Source
from policygen.spec.load import load
from tests.cluster.looks import snapshot

BY_NAME = {rule.name: rule for rule in RULES}


def bad(rule):
    """The documents of the rule's bad example."""
    (example,) = (each for each in page(rule).examples if not each.good)
    return list(yaml.safe_load_all(example.text))


def of(documents, kind):
    return next(each for each in documents if each["kind"] == kind)


def said(rule, documents, spec=""):
    """What a rule says of a cluster; the spec's documents among these are its spec."""
    ours = [each for each in documents if each["apiVersion"] == forms.OWN]
    text = "---\n".join([spec, *(yaml.safe_dump(each) for each in ours)])
    loaded = load([Source("spec.yaml", text, None)])
    look = snapshot(yaml.safe_dump_all(each for each in documents if each not in ours))
    cluster = Cluster(look.objects, look.seen, look.pods)
    plan = compile_plan(loaded.sound)
    facts = Facts(cluster, versions.DEFAULT, frozenset(Need), loaded.spec, plan)
    (outcome,) = run([BY_NAME[rule]], facts)
    assert outcome.verdict != "crashed", outcome.reason
    return [hit.message for hit in outcome.hits]


def without(documents, kind):
    return [each for each in documents if each["kind"] != kind]


def test_what_is_missing_beside_an_inactive_queue_is_told_there():
    documents = bad("cluster-queue-not-active")
    assert len(said("cluster-queue-not-active", documents)) == 1
    assert said("cluster-queue-not-active", without(documents, "ResourceFlavor")) == []


@pytest.mark.parametrize("reason", ["Stopped", "AdmissionCheckNotFound", "Ready"])
def test_causes_that_stand_in_objects_are_other_rules(reason):
    documents = bad("cluster-queue-not-active")
    (condition,) = of(documents, "ClusterQueue")["status"]["conditions"]
    condition["reason"] = reason
    assert said("cluster-queue-not-active", documents) == []


@pytest.mark.parametrize("rule", ["workload-pending-long", "gang-pending-long"])
def test_a_spec_sets_how_long_a_rule_waits(rule):
    platform = (
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: a}\n"
        f"spec: {{lint: {{bounds: {{{rule}: 100h}}}}}}\n"
    )
    assert len(said(rule, bad(rule))) == 1
    assert said(rule, bad(rule), platform) == []
    assert len(said(rule, bad(rule), platform.replace("100h", "1h30m"))) == 1


def test_a_workload_that_somebody_deactivated_waits_for_that_somebody():
    documents = bad("workload-pending-long")
    of(documents, "Workload")["spec"]["active"] = False
    assert said("workload-pending-long", documents) == []
    assert said("workload-deactivated", documents) == []


def test_a_workload_waits_since_it_was_evicted():
    documents = bad("workload-pending-long")
    of(documents, "Workload")["status"]["conditions"].append(
        {"type": "Evicted", "status": "True", "lastTransitionTime": "2026-11-21T02:00:00Z"}
    )
    assert said("workload-pending-long", documents) == []


def copies(pod, count, **more):
    """So many pods of one Job."""
    made = []
    for number in range(count):
        each = yaml.safe_load(yaml.safe_dump(pod))
        each["metadata"] |= {"name": f"train-{number}", **more}
        each["metadata"]["ownerReferences"] = [
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": "train",
                "uid": "1",
                "controller": True,
            }
        ]
        made.append(each)
    return made


JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "train", "namespace": "vision"},
}


def with_job(rule, count=3, job=JOB):
    documents = bad(rule)
    return [*without(documents, "Pod"), *copies(of(documents, "Pod"), count), job]


def test_pods_of_one_maker_are_told_once_and_what_they_leave_of_guarantees():
    (message,) = said("pod-bypasses-queue", with_job("pod-bypasses-queue"))
    assert message.startswith("3 pods of Job vision/train hold 12 nvidia.com/gpu of pool")
    assert "they leave 0 of the 8 nvidia.com/gpu that are guaranteed" in message


def test_a_maker_with_a_queue_or_one_that_is_not_known_is_not_told():
    labelled = JOB | {
        "metadata": JOB["metadata"] | {"labels": {"kueue.x-k8s.io/queue-name": "a100"}}
    }
    assert said("pod-bypasses-queue", with_job("pod-bypasses-queue", job=labelled)) == []
    unknown = [each for each in with_job("pod-bypasses-queue") if each["kind"] != "Job"]
    assert said("pod-bypasses-queue", unknown) == []


def test_pods_elsewhere_and_ended_ones_hold_nothing_of_the_pool():
    documents = bad("pod-bypasses-queue")
    of(documents, "Pod")["spec"]["nodeName"] = "n2"
    assert said("pod-bypasses-queue", documents) == []
    of(documents, "Pod")["spec"]["nodeName"] = "n1"
    of(documents, "Pod")["status"]["phase"] = "Succeeded"
    assert said("pod-bypasses-queue", documents) == []


def test_a_pod_that_does_not_go_away_and_one_whose_job_has_ended():
    documents = bad("gpu-held-in-vain")
    pod = of(documents, "Pod")
    pod["status"] = {"phase": "Running"}
    assert said("gpu-held-in-vain", documents) == []
    pod["metadata"]["deletionTimestamp"] = "2026-11-20T12:00:00Z"
    (message,) = said("gpu-held-in-vain", documents)
    assert "holds 4 nvidia.com/gpu of node n1 in vain: deleted 15h ago" in message
    pods = copies(pod, 2, deletionTimestamp=None)
    others = [*without(documents, "Pod"), *pods]
    (message,) = said("gpu-held-in-vain", [*others, job_ended_at("2026-11-21T01:00:00Z")])
    assert "2 pods of Job vision/train hold 8" in message
    assert "its Job has ended" in message
    # Pods are listed first, and a Job may end before it is listed itself.
    assert said("gpu-held-in-vain", [*others, job_ended_at("2026-11-21T03:00:04Z")]) == []


def job_ended_at(time, **other):
    ended = {"type": "Complete", "status": "True", "lastTransitionTime": time}
    return JOB | {"status": {"conditions": [ended]}} | other


def test_another_job_of_that_name_says_nothing_of_a_pod():
    documents = bad("gpu-held-in-vain")
    pod = of(documents, "Pod")
    pod["status"] = {"phase": "Running"}
    others = [*without(documents, "Pod"), *copies(pod, 2)]
    of_volcano = job_ended_at("2026-11-21T01:00:00Z", apiVersion="batch.volcano.sh/v1alpha1")
    assert said("gpu-held-in-vain", [*others, of_volcano]) == []
    anew = job_ended_at("2026-11-21T01:00:00Z", metadata=JOB["metadata"] | {"uid": "another"})
    assert said("gpu-held-in-vain", [*others, anew]) == []


def test_without_the_makers_of_pods_nobody_knows_which_pass_by_a_queue():
    documents = with_job("pod-bypasses-queue")
    look = snapshot(yaml.safe_dump_all(documents), read=every() - {GroupKind("batch", "Job")})
    rule = BY_NAME["pod-bypasses-queue"]
    assert GroupKind("batch", "Job") in wanted([rule])
    facts = Facts(Cluster(look.objects, look.seen, look.pods), versions.DEFAULT, frozenset(Need))
    (outcome,) = run([rule], facts)
    assert outcome.verdict == Verdict.NOT_EVALUATED
    assert "Job.batch was not read" in outcome.reason


def test_a_quota_of_nothing_and_one_of_cpu_are_not_told_as_used_up():
    documents = bad("quota-used-up")
    quota = of(documents, "ResourceQuota")
    quota["spec"]["hard"] = quota["status"]["hard"] = {"requests.nvidia.com/gpu": "0", "cpu": "4"}
    quota["status"]["used"] = {"requests.nvidia.com/gpu": "0", "cpu": "4"}
    assert said("quota-used-up", documents) == []


@pytest.mark.parametrize(
    "earlier, words",
    [
        ("2026-11-21T02:59:00Z", "60s"),
        ("2026-11-21T01:30:00Z", "90m"),
        ("2026-11-20T01:00:00Z", "26h"),
        ("2026-11-18T01:00:00.5Z", "3d"),
    ],
)
def test_ages_are_told_in_the_largest_unit_that_says_enough(earlier, words):
    assert long(moment("2026-11-21T03:00:00Z") - moment(earlier)) == words


@pytest.mark.parametrize("rule", [rule.name for rule in RULES if rule.stands])
def test_what_servers_refuse_is_told_where_it_stands_on_one_all_the_same(rule):
    example = next(each for each in page(rule).examples if not each.good)
    assert len(said(rule, list(yaml.safe_load_all(example.text)))) >= 1


@pytest.mark.parametrize("rule", ["check-flavor-refused", "two-default-priorities"])
def test_what_stands_on_a_server_is_not_called_refused(rule):
    example = next(each for each in page(rule).examples if not each.good)
    assert not any("refused" in it for it in said(rule, list(yaml.safe_load_all(example.text))))


def test_what_volcano_made_or_what_has_ended_is_sent_nowhere():
    group = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "a", "namespace": "b"},
        "spec": {"queue": "gone"},
    }
    assert len(said("gang-without-queue", [group])) == 1
    assert said("gang-without-queue", [group | {"status": {"phase": "Completed"}}]) == []
    owner = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "a"}
    group["metadata"]["ownerReferences"] = [owner | {"uid": "1", "controller": True}]
    assert said("gang-without-queue", [group]) == []
