"""`policygen why` names the cause of each waiting workload on real servers, and its remedies let it start."""

import json
import os
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from random import Random

import msgspec
import pytest

from policygen.core.versions import DEFAULT
from policygen.kubernetes.cluster import Cluster as Objects
from policygen.kubernetes.kueue_settings import first
from policygen.lint.registry import RULES
from policygen.report import cause_words, remedy_words
from policygen.simulate.kueue.amounts import shown
from policygen.simulate.scene import Scene
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.scene_pools import cluster_nodes
from policygen.simulate.why import changes
from policygen.simulate.why.explainer import Explainer
from tests.servers.cluster import KUEUE, holds
from tests.servers.seen import look
from tests.servers.why_cases import KUEUE_CASES, NODE_CASES
from tests.servers.workloads import GPU, KUEUE_PRIORITY, KUEUE_QUEUE

REMEDIES = int(os.environ.get("POLICYGEN_WHY_REMEDIES", "0"))
"""So many remedies of each case are applied; by default one of each third case, so that the test is short."""
SEED = os.environ.get("POLICYGEN_WHY_SEED")
"""With it, GPUs and quotas of each case are multiplied by a drawn number."""
THIRD = 3
AT_LEAST = Fraction(95, 100)
VERSIONS = dict.fromkeys(("Namespace", "Node", "LimitRange", "ResourceQuota"), "v1") | {
    "Job": "batch/v1"
}


def multiplied(data, factor):
    """Objects with this many times the GPUs and the quotas of GPUs."""
    if isinstance(data, list | tuple):
        return [multiplied(it, factor) for it in data]
    if not isinstance(data, dict):
        return data
    of_quota = data.get("name") == GPU
    return {
        key: str(int(it) * factor)
        if key == GPU or (of_quota and key != "name")
        else multiplied(it, factor)
        for key, it in data.items()
    }


def drawn(cases):
    """The cases with other amounts, by SEED; their sentences have other numbers."""
    if SEED is None:
        return cases
    random = Random(f"{SEED}")
    found = []
    for it in cases:
        factor = random.randint(1, 6)
        parts = {
            name: multiplied(getattr(it, name), factor) for name in ("objects", "target", "holders")
        }
        found.append(replace(it, **parts, words=""))
    return found


def explained(cluster, cases):
    """What policygen explains of each target, by namespace."""
    seen = look(cluster, [it.name for it in RULES])
    objects = Objects(seen.objects, seen.seen, seen.pods)
    scene = Scene(objects, first(objects, DEFAULT["kueue"]), cluster_nodes(objects))
    explainer = Explainer(scene, arrivals(scene))
    found = {}
    for prefix in cases:
        name = f"{prefix}/target"
        several = [it for it in explainer.arrivals if it.name.startswith(name)]
        several = several or [
            it for it in explainer.arrivals if it.name.startswith(f"{prefix}/pod-target")
        ]
        assert several, f"{prefix}: {cases[prefix].name} is not known"
        found[prefix] = explainer.explain(several[0])
    return found


def set_up(cluster, cases):
    """Create the objects of copies, then what holds quota, then the targets; wait until these wait."""
    every = [(case, case.of(prefix, it)) for prefix, case in cases.items() for it in case.objects]
    for prefix in cases:
        labels = [
            it for _, it in every if it["kind"] == "Namespace" and it["metadata"]["name"] == prefix
        ]
        cluster.namespace(prefix, labels[0]["metadata"]["labels"] if labels else None)
    cluster.create(*(it for _, it in every if it["kind"] != "Namespace"))
    for prefix, case in cases.items():
        for kind, name, subresource, patch in case.of(prefix, case.patches):
            cluster.patch(KUEUE, kind, name, patch, subresource=subresource)
    holders = [case.of(prefix, it) for prefix, case in cases.items() for it in case.holders]
    late = [it for it in holders if it["metadata"]["name"] == "head"]
    now = [it for it in holders if it not in late]
    cluster.create(*now)
    cluster.becomes("holders", lambda: named(now) <= started(cluster), True)  # noqa: FBT003 - expected
    cluster.create(*late)
    targets = {prefix: case.of(prefix, case.target) for prefix, case in cases.items()}
    cluster.create(*targets.values())
    waiting = {prefix for prefix, case in cases.items() if case.managed}
    cluster.becomes("targets that do not wait", lambda: waiting - pending(cluster), set())
    return targets


def named(things):
    return {(it["metadata"]["namespace"], it["metadata"]["name"]) for it in things}


def started(cluster):
    """Namespace and owner of admitted Workloads, and of Jobs without Kueue whose pods all have a node."""
    found = set()
    for it in cluster.objects(KUEUE, "Workload"):
        if holds(it, "Admitted"):
            found |= {(it["metadata"]["namespace"], owner) for owner in owners(it)}
    bound = {}
    for it in cluster.pods():
        for owner in owners(it):
            key = it["metadata"]["namespace"], owner
            bound[key] = bound.get(key, 0) + bool(it["spec"].get("nodeName"))
    for it in cluster.objects("batch/v1", "Job"):
        key = it["metadata"]["namespace"], it["metadata"]["name"]
        own = KUEUE_QUEUE not in it["metadata"].get("labels", {})
        if own and bound.get(key, 0) == it["spec"]["parallelism"]:
            found.add(key)
    return found


def owners(thing):
    return [it["name"] for it in thing["metadata"].get("ownerReferences", [])] or [
        thing["metadata"]["name"]
    ]


def pending(cluster):
    """Namespaces with a target that a scheduler has decided not to start."""
    found = set()
    for it in cluster.objects(KUEUE, "Workload"):
        conditions = {
            one["type"]: one["status"] for one in it.get("status", {}).get("conditions", [])
        }
        checks = it.get("status", {}).get("admissionChecks")
        checked = checks and "Admitted" not in conditions
        waits = checked or conditions.get("QuotaReserved") == "False"
        if waits and any("target" in owner for owner in owners(it)):
            found.add(it["metadata"]["namespace"])
    for it in cluster.pods():
        why = [one for one in it["status"].get("conditions", []) if one["type"] == "PodScheduled"]
        nobody = it["spec"].get("schedulerName") == "nobody"
        if nobody or (why and why[0]["status"] == "False" and why[0]["reason"] == "Unschedulable"):
            found.add(it["metadata"]["namespace"])
    return found


def apply(cluster, target, remedy):
    """Make the changes of a remedy."""
    own = [it for it in remedy if not isinstance(it, changes.PolicyChange)]
    for it in remedy:
        if isinstance(it, changes.ObjectAdded):
            cluster.create(it.data)
        elif isinstance(it, changes.FieldChange):
            update(cluster, it)
    if own:
        metadata = target["metadata"]
        cluster.delete(
            target["apiVersion"], target["kind"], metadata["name"], metadata["namespace"]
        )
        cluster.create(changed(cluster, target, own))


def update(cluster, it):
    version = VERSIONS.get(it.kind, KUEUE)
    path = cluster.client.resource(version, it.kind).path(it.namespace or None, it.name)
    for _ in range(20):
        thing = changes.with_value(cluster.client.get(path).body, it.path, it.after)
        answer = cluster.client.request("PUT", path, thing)
        if answer.ok:
            return
    raise AssertionError(answer.message)


def changed(cluster, target, own):
    """The object with other requests, as its owner would write it."""
    thing = json.loads(json.dumps(target))
    thing["metadata"]["name"] = "target-new"
    for it in own:
        change_labels(cluster, thing["metadata"], it)
        change_pods(thing["spec"], it)
    return thing


def change_labels(cluster, metadata, it):
    match it:
        case changes.QueueChange(after=after):
            metadata["labels"][KUEUE_QUEUE] = after
        case changes.PriorityChange(after=after, class_name=name):
            if not name:
                name = f"{metadata['namespace']}-{after}"
                own = {"metadata": {"name": name}, "value": after, "description": "d"}
                cluster.create({"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", **own})
            metadata["labels"][KUEUE_PRIORITY] = name
        case changes.FewestPodsChange(after=after):
            own = {"kueue.x-k8s.io/job-min-parallelism": str(after)}
            metadata["annotations"] = {**metadata.get("annotations", {}), **own}


def change_pods(spec, it):
    pods = spec["template"]["spec"]
    match it:
        case changes.PodsChange(after=after):
            spec |= {"parallelism": after, "completions": after}
        case changes.RequestChange(resource=resource, after=after):
            for part in pods["containers"][0]["resources"].values():
                part.pop(resource)
                part.update({resource: shown(resource, after)} if after else {})
        case changes.TolerationAdded(toleration=one):
            written = {key: value for key, value in msgspec.to_builtins(one).items() if value}
            pods.setdefault("tolerations", []).append(written)
        case changes.SelectorChange(key=key, after=after):
            pods["nodeSelector"].pop(key)
            pods["nodeSelector"] |= {key: after} if after is not None else {}
        case changes.AffinityRemoved():
            pods["affinity"].pop("nodeAffinity")
        case changes.ConstraintRemoved(field="topologySpreadConstraints"):
            for one in pods["topologySpreadConstraints"]:
                one["whenUnsatisfiable"] = "ScheduleAnyway"
        case changes.ConstraintRemoved(field=field):
            pods["affinity"].pop(field)


def copied(remedy, old, new):
    """The changes of a remedy for another copy of a case."""
    return [
        msgspec.convert(json.loads(json.dumps(msgspec.to_builtins(it)).replace(old, new)), type(it))
        for it in remedy.changes
    ]


def prefixes(cases, letter):
    return {f"{letter}{i:02d}x": case for i, case in enumerate(cases)}


def named_well(found, cases):
    """Every cause is one that is right, and its sentences name the numbers."""
    wrong = []
    for prefix, case in cases.items():
        it = found[prefix]
        text = " ".join(cause_words.reasons(it))
        if it.cause.kind.value not in case.kinds or case.of(prefix, case.words) not in text:
            wrong.append((case.name, it.cause.kind.value, text))
    return wrong


def _leaves(remedy):
    """Whether the pods would use nodes of other copies, which may be full by then."""
    return any(isinstance(it, changes.SelectorChange) and it.key == "copy" for it in remedy.changes)


def remedies_work(cluster, found, cases, letter):
    """Apply the first remedies of each case to a copy of it: those that do not start the target."""
    copies, remedies = {}, {}
    for number, (prefix, case) in enumerate(cases.items()):
        own = [it for it in found[prefix].remedies if not _leaves(it)]
        for i, it in enumerate(own[: REMEDIES or number % THIRD == 0]):
            name = f"{letter}{prefix[1:3]}n{i}"
            copies[name] = case
            remedies[name] = copied(it, prefix, name)
    targets = set_up(cluster, copies)
    for name, remedy in remedies.items():
        apply(cluster, targets[name], remedy)

    def left():
        runs = {namespace for namespace, owner in started(cluster) if "target" in owner}
        return sorted(set(copies) - runs)

    with suppress(AssertionError):  # those that are left are reported below
        cluster.until("all remedies", lambda: not left(), 120)
    failed = [(copies[it].name, remedy_words.remedy(remedies[it])) for it in left()]
    return len(copies), failed


@pytest.mark.parametrize("cases, letter", [(KUEUE_CASES, "k"), (NODE_CASES, "n")])
def test_each_cause_is_named_and_its_remedies_let_the_workload_start(cluster, cases, letter):
    cases = prefixes(drawn(cases), letter)
    set_up(cluster, cases)
    found = {}

    def wrong():
        found.update(explained(cluster, cases))
        return named_well(found, cases)

    # Controllers may not have tried yet what they will be refused.
    cluster.becomes("causes that are not named", wrong, [])
    count, failed = remedies_work(cluster, found, cases, letter.upper().lower() + "z")
    print(f"{count - len(failed)} of {count} remedies started the workload; not: {failed}")
    assert Fraction(count - len(failed), count) >= AT_LEAST, failed
