"""Small scenes in which workloads wait, for tests with hand-computed causes and remedies."""

import json

import yaml

from policygen.core.versions import DEFAULT
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_settings import first
from policygen.simulate.input_faults import ARRIVES_AFTER
from policygen.simulate.scene import Scene
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.scene_pools import cluster_nodes
from policygen.simulate.why.explainer import Explainer
from policygen.simulate.why.scene_situation import asked_workload, situation
from tests.objects import objects

GPU = "nvidia.com/gpu"
KUEUE = "kueue.x-k8s.io/v1beta2"


def thing(kind, name, spec, namespace="", version=KUEUE, **labels):
    metadata = {"name": name, "labels": labels}
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {**metadata, **({"namespace": namespace} if namespace else {})},
        "spec": spec,
    }


def queue(name, nominal=8, cohort="", flavors=("f",), limits=None, **spec):
    """A ClusterQueue with this quota of GPUs in each flavor."""
    quota = {"name": GPU, "nominalQuota": str(nominal), **(limits or {})}
    each = [{"name": it, "resources": [quota]} for it in flavors]
    groups = [{"coveredResources": [GPU], "flavors": each}]
    own = {"namespaceSelector": {}, "resourceGroups": groups, **spec}
    return thing("ClusterQueue", name, {**own, "cohortName": cohort} if cohort else own)


def flavor(name="f", **spec):
    return thing("ResourceFlavor", name, spec)


def local(name="q", to="q", namespace="n", **spec):
    return thing("LocalQueue", name, {"clusterQueue": to, **spec}, namespace)


def priority(name, value):
    return {**thing("WorkloadPriorityClass", name, None), "value": value}


def job(name, gpus=1, pods=1, to="q", *, namespace="n", rank="", resource=GPU, after="", **spec):
    labels = {"kueue.x-k8s.io/queue-name": to} if to else {}
    if rank:
        labels["kueue.x-k8s.io/priority-class"] = rank
    amounts = {resource: str(gpus)}
    resources = {"requests": amounts, "limits": amounts}
    containers = [{"name": "c", "image": "example.com/c:1", "resources": resources}]
    template = {"spec": {"containers": containers, "restartPolicy": "Never", **spec}}
    own = {"parallelism": pods, "completions": pods, "template": template}
    it = thing("Job", name, own, namespace, "batch/v1", **labels)
    if after:
        it["metadata"]["annotations"] = {ARRIVES_AFTER: after}
    return it


def job_set(name, to="q", **pod_sets):
    """A JobSet with these numbers of pods and of GPUs of each pod, by name."""
    jobs = []
    for part, (pods, gpus) in pod_sets.items():
        spec = job(name, gpus, pods)["spec"]
        jobs.append({"name": part, "template": {"spec": spec}})
    labels = {"kueue.x-k8s.io/queue-name": to} if to else {}
    version = "jobset.x-k8s.io/v1alpha2"
    return thing("JobSet", name, {"replicatedJobs": jobs}, "n", version, **labels)


def node(name, gpus=8, **spec):
    it = thing("Node", name, spec, version="v1")
    return {**it, "status": {"allocatable": {GPU: str(gpus), "pods": "110"}}}


PLAIN = (flavor(), queue("q"), local())
SHARED = (flavor(), queue("q", cohort="c"), queue("r", cohort="c"), local(), local("r", "r"))


def text(*things):
    """Manifests. They are JSON, because a namespace `n` is a boolean in YAML."""
    return "\n---\n".join(map(json.dumps, things))


def scene(*things):
    """The scene of manifests. It has their namespaces, as in the app."""
    named = {it["metadata"]["namespace"] for it in things if "namespace" in it["metadata"]}
    named -= {it["metadata"]["name"] for it in things if it["kind"] == "Namespace"}
    made = (thing("Namespace", it, None, version="v1") for it in sorted(named))
    cluster = Cluster(objects(yaml.safe_dump_all([*things, *made])))
    return Scene(cluster, first(cluster, DEFAULT["kueue"]), cluster_nodes(cluster))


def explainer(*things):
    made = scene(*things)
    return Explainer(made, arrivals(made))


def explain(name, *things):
    it = explainer(*things)
    (found,) = it.named(name)
    return it.explain(found)


def asked(name, *things):
    """The situation of a scene, and one workload of it."""
    made = scene(*things)
    them = arrivals(made)
    (one,) = (it for it in them if it.name == f"n/{name}")
    return situation(made, them), asked_workload(one, one.workload, made)
