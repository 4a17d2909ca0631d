"""For a real server, `lint --fix` and `upgrade` do not change the meaning of an object."""

import json
from datetime import date

from policygen.app import fix
from policygen.app.requests import LintRequest
from policygen.app.upgrade import upgrade
from policygen.core import versions

OLD = """\
# every kind of Kueue that has both versions, with all that changed its name
apiVersion: kueue.x-k8s.io/v1beta1
kind: Topology
metadata: {name: fix-racks}
spec:
  levels:
  - nodeLabel: kubernetes.io/hostname
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: fix-a100}
spec:
  nodeLabels: {pool: a100}   # theirs
  topologyName: fix-racks
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Cohort
metadata: {name: fix-all}
spec:
  fairSharing: {weight: 500m}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: WorkloadPriorityClass
metadata: {name: fix-high}
value: 1000
description: first
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ProvisioningRequestConfig
metadata: {name: fix-buys}
spec:
  provisioningClassName: check-capacity.autoscaling.x-k8s.io
  managedResources: [nvidia.com/gpu]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: AdmissionCheck
metadata: {name: fix-scale-up}
spec:
  controllerName: example.com/nobody
  retryDelayMinutes: 15   # nobody waits
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: MultiKueueCluster
metadata: {name: fix-far}
spec:
  kubeConfig:
    # a Secret
    location: far
    locationType: Secret
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: MultiKueueConfig
metadata: {name: fix-far}
spec:
  clusters: [fix-far]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: fix-vision}
spec:
  cohort: fix-all
  admissionChecks:
  - fix-scale-up   # before anything
  flavorFungibility:
    whenCanBorrow: Borrow
    whenCanPreempt: Preempt
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: fix-a100
      resources:
      - {name: cpu, nominalQuota: 4000m}
      - {name: memory, nominalQuota: "1024Mi", lendingLimit: 0.5Gi}
      - {name: nvidia.com/gpu, nominalQuota: 7500m, borrowingLimit: "8"}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: fix-a100, namespace: default}
spec:
  clusterQueue: fix-vision
status:
  flavorUsage: []   # of a dump
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata: {name: fix-train, namespace: default}
spec:
  priorityClassName: fix-high   # of Kueue
  priorityClassSource: kueue.x-k8s.io/workloadpriorityclass
  priority: 1000
  podSets:
  - name: main
    count: 1
    template:
      metadata: {labels: {app: train}}
      spec:
        containers: [{name: main, image: train, resources: {requests: {cpu: 100m}}}]
        restartPolicy: Never
"""
KINDS = {
    "Topology": "racks",
    "ResourceFlavor": "a100",
    "Cohort": "all",
    "WorkloadPriorityClass": "high",
    "ProvisioningRequestConfig": "buys",
    "AdmissionCheck": "scale-up",
    "MultiKueueCluster": "far",
    "MultiKueueConfig": "far",
    "ClusterQueue": "vision",
    "LocalQueue": "a100",
    "Workload": "train",
}
"""And the name of each, without its prefix."""
CANONICAL = {"4000m": "'4'", '"1024Mi"': "1Gi", "0.5Gi": "512Mi", "7500m": "'8'"}


def text(thing):
    """An object as text, whatever the order of its fields."""
    return json.dumps(thing, sort_keys=True)


def stored(cluster, prefix):
    """What the server holds of each kind, without who and when."""
    found = {}
    for kind, name in KINDS.items():
        namespace = "default" if kind in ("LocalQueue", "Workload") else None
        thing = cluster.get("kueue.x-k8s.io/v1beta2", kind, f"{prefix}-{name}", namespace)
        found[kind] = {key: it for key, it in thing.items() if key not in {"metadata", "status"}}
    return found


def test_a_fixed_object_is_stored_as_the_one_before(cluster, tmp_path):
    file = tmp_path / "old.yaml"
    file.write_text(OLD)
    settings = LintRequest(manifests=(str(file),), partial=True)
    fixed = fix.fix(settings, today=date(2026, 11, 21))
    assert fixed.left == ()
    assert fixed.done == {
        "kueue-version-outdated": len(KINDS),
        "quota-fractional": 1,
        "quota-not-canonical": 3,
    }
    ((_, new),) = fixed.texts
    assert cluster.apply(OLD).refused == []
    before = stored(cluster, "fix")
    before["ClusterQueue"]["spec"]["resourceGroups"][0]["flavors"][0]["resources"][2][
        "nominalQuota"
    ] = "8"  # which is what Kueue counts 7500m as
    assert cluster.apply(new.replace("fix-", "new-")).refused == []
    fresh = stored(cluster, "new")
    assert {kind: text(it).replace("new-", "fix-") for kind, it in fresh.items()} == {
        kind: text(it) for kind, it in before.items()
    }
    outcome = cluster.apply_twice(new)
    assert (outcome.refused, outcome.changed, outcome.warnings) == ([], [], [])
    assert stored(cluster, "fix") == before


def test_an_upgraded_object_is_what_the_server_converts_it_to(cluster, tmp_path):
    """Amounts are canonical here: the others change at each apply, which only `lint --fix` avoids."""
    old = OLD
    for amount, canonical in CANONICAL.items():
        assert amount in old
        old = old.replace(amount, canonical)
    file = tmp_path / "old.yaml"
    file.write_text(old)
    made = upgrade(
        (str(file),), {"kueue": versions.parse("kueue", "0.19")}, today=date(2026, 11, 24)
    )
    assert (made.by_hand, made.fixed.left) == ((), ())
    ((_, new),) = made.fixed.texts
    assert "v1beta1" not in new
    assert cluster.apply(old).refused == []
    before = stored(cluster, "fix")
    outcome = cluster.apply_twice(new)
    assert (outcome.refused, outcome.changed, outcome.warnings) == ([], [], [])
    assert stored(cluster, "fix") == before
    assert cluster.apply(new.replace("fix-", "new-")).refused == []
    fresh = {kind: text(it).replace("new-", "fix-") for kind, it in stored(cluster, "new").items()}
    assert fresh == {kind: text(it) for kind, it in before.items()}
