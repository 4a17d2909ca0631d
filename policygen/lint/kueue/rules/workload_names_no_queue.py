"""A workload requests GPUs in a namespace that has queues, but names no queue."""

from policygen.core.finding import At
from policygen.core.names import LOCAL_QUEUE
from policygen.core.quoting import listed
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.kueue_jobs import BY_POD, FRAMEWORKS
from policygen.kubernetes.kueue_settings import Settings
from policygen.kubernetes.namespaces import selects
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mapping
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.core.webhook_objects import webhook_object
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.coverage import request_in
from policygen.lint.kueue.job_quotas import has_enough
from policygen.lint.kueue.queueless import accelerator, queueless
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue neither counts it nor adds node labels and tolerations of a flavor to its pods.

    With manageJobsWithoutQueueName, Kueue suspends it instead, and no queue admits it.
    Source: pkg/controller/jobframework/reconciler.go; shown on Kueue 0.19.2.
    """
    cluster, rules = facts.cluster, settings(facts)
    for found in facts.derive(queueless):
        workload, resource = found.workload, found.resource
        harm = "Kueue does not count this request"
        if _is_suspended(cluster, workload, rules):
            harm = "Kueue suspends it forever, because manageJobsWithoutQueueName is set"
        elif mapping(webhook_object(workload).data, "spec").get("suspend") is True:
            harm = "it stays suspended, because Kueue resumes only workloads with a queue"
        yield Hit(
            RULE,
            f"{workload} requests {resource} but names no queue, so {harm}; "
            f"{_advice(facts, workload, rules)}",
            _place(workload),
        )


def _is_suspended(cluster: Cluster, workload: Workload, rules: Settings) -> bool:
    """Whether Kueue manages the workload although it names no queue."""
    manages = rules.entry is not None and rules.entry.fields.manage_jobs_without_queue_name
    framework = FRAMEWORKS.get((workload.object.group, workload.kind))
    known = selects(cluster, rules.managed, workload.namespace)
    return bool(manages and known and framework in rules.frameworks)


def _advice(facts: Facts, workload: Workload, rules: Settings) -> str:
    namespace, cluster = workload.namespace, facts.cluster
    queues = {
        it.name: queue
        for it in cluster.local_queues.by_namespace.get(namespace, ())
        if (queue := cluster.cluster_queues.get(it.fields.cluster_queue))
        and accelerator(cluster, workload, [queue], rules)
    }
    names = sorted(queues, key=lambda it: (not _has_room(facts, workload, queues[it], rules), it))
    label = f"set label {LOCAL_QUEUE}"
    if _is_by_pod(workload) or workload.kind == "CronJob":
        inside = "template" if _is_by_pod(workload) else "jobTemplate"
        label = f"in spec.{inside}.metadata.labels, {label}"
    if not names:
        return f"create a LocalQueue in namespace {namespace}, and {label} to its name"
    if len(names) == 1:
        return f"{label}: {names[0]}"
    return f"{label} to a LocalQueue of its namespace, such as {listed(names[:2])}"


def _has_room(
    facts: Facts, workload: Workload, queue: Entry[ClusterQueueView], rules: Settings
) -> bool:
    """Whether each template of a workload can have enough quota of a flavor of a queue."""
    requests = [request_in(facts.cluster, rules, workload, it, queue) for it in workload.templates]
    return all(
        any(has_enough(facts, it, group, flavor.name) for flavor in group.flavors)
        for it in requests
        for group in it.groups
    )


def _place(workload: Workload) -> At:
    """The place of the missing label."""
    at = workload.templates[0].at if _is_by_pod(workload) else webhook_object(workload).at
    return at.to("metadata", "labels", LOCAL_QUEUE)


def _is_by_pod(workload: Workload) -> bool:
    """Whether Kueue reads only the labels of the pods."""
    return (workload.object.group, workload.kind) in BY_POD


RULE = ObjectRule(
    "workload-names-no-queue",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set the queue-name label to a LocalQueue of the workload's namespace.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=(
        "LocalQueue",
        "ClusterQueue",
        "Cohort",
        "LimitRange",
        "RuntimeClass",
        "ResourceFlavor",
        "Namespace",
        "Configuration",
    ),
)
