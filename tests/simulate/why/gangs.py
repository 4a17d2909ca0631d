"""Queues and jobs of Volcano for small scenes."""

from tests.simulate.why.waiting import GPU, node, thing


def vcjob(name, pods, queue="small", *, gpus=1, least=None, namespace="nlp", rank=""):
    amounts = {GPU: str(gpus)}
    containers = [{"name": "c", "resources": {"requests": amounts, "limits": amounts}}]
    template = {"spec": {"containers": containers, "restartPolicy": "Never"}}
    tasks = [{"name": "main", "replicas": pods, "template": template}]
    spec = {
        "schedulerName": "volcano",
        "queue": queue,
        "minAvailable": least or pods,
        "tasks": tasks,
    }
    if rank:
        spec["priorityClassName"] = rank
    return thing("Job", name, spec, namespace, "batch.volcano.sh/v1alpha1")


def vcqueue(name, gpus, *, state="", **spec):
    own = {"capability": {GPU: str(gpus)}, "weight": 1, **spec}
    found = thing("Queue", name, own, version="scheduling.volcano.sh/v1beta1")
    return {**found, "status": {"state": state}} if state else found


def configuration(plugin, actions="allocate, preempt, reclaim, backfill", **fields):
    """Volcano's configuration with one plugin for queues."""
    names = ("priority", "gang", "predicates", "nodeorder")
    plugins = [*({"name": it} for it in names), {"name": plugin, **fields}]
    return {
        "apiVersion": "v1",
        "kind": "volcano-scheduler.conf",
        "metadata": {"name": "c"},
        "actions": actions,
        "tiers": [{"plugins": plugins}],
    }


QUEUES = (vcqueue("small", 2), vcqueue("large", 8), node("x", 8))
