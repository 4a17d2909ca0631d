"""Changes with which Volcano starts a gang."""

from policygen.report import cause_words, remedy_words
from policygen.simulate.why.causes import CauseKind
from tests.simulate.why.gangs import QUEUES, configuration, vcjob, vcqueue
from tests.simulate.why.waiting import GPU, explain, node, thing

CAPACITY = configuration("capacity")
VOLCANO_GROUPS = "scheduling.volcano.sh/v1beta1"
TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}


def fields(found):
    """Field, value before and value after of the changes of objects, by remedy."""
    return [
        [(it.path[-1], it.before, it.after) for it in one.changes if hasattr(it, "path")]
        for one in found
    ]


def kinds(found):
    return {type(it).__name__ for one in found for it in one.changes}


def test_another_queue_a_higher_limit_or_fewer_pods():
    found = fields(explain("nlp/a", *QUEUES, CAPACITY, vcjob("a", 4)).remedies)
    assert [("queue", "small", "large")] in found
    assert [(GPU, "2", "4")] in found
    assert [("replicas", 4, 2), ("minAvailable", 4, 2)] in found


def test_a_missing_queue_of_each_kind_of_object():
    """A job names it in its spec, pods in an annotation, and pods of a PodGroup in that."""
    annotation = "scheduling.volcano.sh/queue-name"
    limits = {GPU: "1"}
    template = {
        "schedulerName": "volcano",
        "restartPolicy": "Never",
        "containers": [{"name": "c", "resources": {"requests": limits, "limits": limits}}],
    }
    pods = {"metadata": {"annotations": {annotation: "smal"}}, "spec": template}
    job = thing("Job", "a", {"template": pods}, "nlp", "batch/v1")
    outside = thing("Job", "a", {"template": {"spec": template}}, "nlp", "batch/v1")
    outside["metadata"]["annotations"] = {annotation: "smal"}
    group = thing("PodGroup", "a", {"queue": "smal", "minMember": 1}, "nlp", VOLCANO_GROUPS)
    member = thing("Pod", "b", template, "nlp", "v1")
    member["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": "a"}
    for things, field, where in (
        ((vcjob("a", 1, "smal"),), "queue", "Job nlp/a"),
        ((job,), annotation, "the pods of Job nlp/a"),
        ((outside,), annotation, "Job nlp/a"),
        ((group, member), "queue", "PodGroup nlp/a"),
    ):
        found = explain("nlp/a", *reversed(QUEUES), CAPACITY, *things)
        assert found.cause.kind is CauseKind.VOLCANO_QUEUE_MISSING
        assert found.cause.names == ("small",)
        assert fields(found.remedies) == [[(field, "smal", "small")], [(field, "smal", "large")]]
        assert f"of {where} to small" in remedy_words.remedy(found.remedies[0].changes)


def test_a_missing_queue_without_nodes():
    """No change can be tried, so the reason names the queue and the field."""
    found = explain("nlp/a", *QUEUES[:2], CAPACITY, vcjob("a", 1, "smal"))
    assert (found.cause.kind, found.tried) == (CauseKind.VOLCANO_QUEUE_MISSING, 0)
    assert list(cause_words.reasons(found)) == [
        "Queue smal does not exist. Did you mean Queue small?",
        "The spec.queue of Job nlp/a names it. Write small there.",
    ]


def test_no_queue_that_only_others_use():
    things = *QUEUES, CAPACITY, vcjob("b", 1, "large", namespace="cv"), vcjob("a", 4)
    assert [("queue", "small", "large")] not in fields(explain("nlp/a", *things).remedies)


def test_a_toleration():
    things = vcqueue("small", 99), node("x", taints=[TAINT]), CAPACITY, vcjob("a", 1)
    assert "TolerationAdded" in kinds(explain("nlp/a", *things).remedies)


def test_pods_that_a_node_can_hold():
    found = explain("nlp/a", vcqueue("small", 99), node("x"), CAPACITY, vcjob("a", 1, gpus=9))
    (first, *_) = found.remedies
    assert [(it.before, it.after) for it in first.changes] == [(9, 8)]


def test_as_many_pods_as_must_start_together():
    found = explain("nlp/a", *QUEUES, CAPACITY, vcjob("a", 1, least=2)).remedies
    assert fields(found) == [[("minAvailable", 2, 1)], [("replicas", 1, 2)]]


def test_a_queue_that_is_opened():
    things = vcqueue("small", 8, state="Closed"), node("x"), CAPACITY, vcjob("a", 1)
    assert fields(explain("nlp/a", *things).remedies) == [[("state", "Closed", "Open")]]


def test_a_priority_that_makes_another_job_leave():
    high = {**thing("PriorityClass", "high", None, version="scheduling.k8s.io/v1"), "value": 9}
    things = vcqueue("small", 99), node("x"), CAPACITY, high, vcjob("0", 1, gpus=6)
    (first, *_) = [
        it
        for it in explain("nlp/a", *things, vcjob("a", 1, gpus=8)).remedies
        if fields([it])[0][:1] == [("priorityClassName", None, "high")]
    ]
    assert {*first.cost.preempted, *first.cost.delayed} == {"nlp/0"}


def test_who_must_end_without_a_change():
    things = vcqueue("small", 99), node("x"), CAPACITY, vcjob("0", 1, gpus=6), vcjob("1", 1, gpus=1)
    assert explain("nlp/a", *things, vcjob("a", 1, gpus=4)).ends == ("nlp/0",)


def test_what_starts_it_when_others_have_ended():
    """Queue small has a limit of 2, and all GPUs are used."""
    things = *QUEUES, CAPACITY, vcjob("0", 1, "large", gpus=8), vcjob("a", 1, gpus=4)
    found = explain("nlp/a", *things)
    assert [("queue", "small", "large")] in fields(found.later)


def test_a_gang_that_starts_only_until_it_is_evicted_again():
    """Without the plugin capacity in the first tier, nothing protects what a queue deserves."""
    tiers = [
        [
            {"name": "priority"},
            {"name": "gang", "enableReclaimable": False},
            {"name": "conformance"},
        ],
        [{"name": "predicates"}, {"name": "capacity"}],
    ]
    conf = {**configuration("capacity"), "tiers": [{"plugins": it} for it in tiers]}
    amounts = {"deserved": {GPU: "8"}}
    queues = vcqueue("small", 8, **amounts), vcqueue("large", 8, **amounts)
    found = explain(
        "nlp/a", *queues, node("x"), conf, vcjob("0", 1, "large", gpus=8), vcjob("a", 1, gpus=8)
    )
    assert (found.cause.kind, found.cause.names) == (CauseKind.LIVELOCK, ("nlp/0",))


def test_a_change_that_does_not_help_is_tried_once():
    # Both nodes are full of jobs of a queue that deserves them, so fewer pods and another queue do not help.
    nodes = [node("x"), node("y")]
    others = [vcjob(f"0{i}", 1, "large", gpus=8) for i in range(2)]
    found = explain(
        "nlp/a",
        vcqueue("small", 99),
        vcqueue("large", 99),
        *nodes,
        CAPACITY,
        *others,
        vcjob("a", 2, gpus=8),
    )
    assert not found.remedies
    # The queue large, one pod instead of two, fewer GPUs, and a higher limit: each once.
    assert found.tried == 4
