"""Documents of typed specs: every spec is read back equal, and defaults are left out."""

import json

import pytest
import yaml
from hypothesis import Phase, given, settings
from msgspec import Struct

from policygen.adopt.spec_data import documents
from policygen.adopt.write import write
from policygen.core.finding import At
from policygen.documents.files import Source
from policygen.spec.load import load
from tests.properties.test_plan import FEW
from tests.strategies import specs


def typed(text):
    loaded = load([Source("spec.yaml", text, None)])
    assert not loaded.refused, loaded.findings
    return loaded.spec


def placeless(value):
    """A typed spec without places in its text."""
    if isinstance(value, At):
        return None
    if isinstance(value, Struct):
        fields = {name: placeless(getattr(value, name)) for name in value.__struct_fields__}
        return {"": type(value).__name__, **fields}
    if isinstance(value, tuple):
        return tuple(placeless(it) for it in value)
    return value


def drawn(text):
    return "\n---\n".join(json.dumps(it, ensure_ascii=False) for it in text)


@settings(FEW, max_examples=10, derandomize=True, phases=[Phase.generate])
@given(specs())
def test_a_drawn_spec_is_read_back_equal(documents_of_spec):
    spec = typed(drawn(documents_of_spec))
    text = write(documents(spec))
    again = typed(text)
    assert placeless(again) == placeless(spec)
    assert write(documents(again)) == text


FULL = """
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: prod}
spec:
  target: {kubernetes: '1.35', kueue: '0.17.2'}
  priorities: [{name: high, value: 100, preempts: false, description: 'Two: words'}]
  defaults: {containerDefaults: {cpu: 500m, memory: 1Gi}, scheduler: volcano}
  kueue: {namespace: kueue, configuration: kueue.yaml}
  volcano: {namespace: volcano, configMap: conf}
  kubeScheduler: {namespace: sched, image: 'registry.example/kube-scheduler:v1.36.3'}
  nvidia: {namespace: nvidia}
  clusterAutoscaler: {namespace: autoscaling}
  admission: {action: warn, defaults: true, rules: {gang: 'off'}}
  peakHours: {timeZone: Europe/Berlin, days: [Sat, Mon], start: '22:00', end: '06:30'}
  keda: {prometheus: 'http://prometheus:9090'}
  monitoring:
    namespace: prometheus
    ruleLabels: {release: stack}
    idleBelowPercent: 30
    idleFor: 2h
    guaranteeUnusedFor: 2d
    saturatedFor: 1h
    pendingFor: 3h
    fragmentedFor: 2h
    driftCheckedEvery: 2d
  lint:
    severities: {cohort-of-one: 'off'}
    bounds: {gang-pending-long: 2h}
    annotations: [cohort-of-one]
    waivers: [{rule: cohort-of-one, reason: why, object: Cohort *, field: '*', expires: '2027-01-31'}]
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: h100}
spec:
  nodeSelector: {a: b}
  taints: [{key: gpu, effect: NoSchedule}]
  tolerations: []
  gpu: {memory: 80Gi, perNode: 8}
  capacity: {nodes: 2, nodeAllocatable: {cpu: 1.5, memory: 2T}, systemReserved: {cpu: 0, memory: 0}}
  schedulingPolicy: {overcommitRatio: 1.25}
  provisioning: spot
  autoscaler: {nodeGroups: [a.*, "b: c"], provisioningClass: check-capacity.autoscaling.x-k8s.io}
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: l4}
spec:
  nodeSelector: {a: c}
  gpu: {product: NVIDIA-L4}
  capacity: {nodes: 2}
  autoscaler: {nodeClass: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}}
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: nlp}
spec:
  namespaces: [{name: nlp, create: true}]
  quotas: [{pool: h100, guarantee: 0, cpu: {guarantee: 0, limit: 1}, memory: {limit: 1Gi}}]
---
apiVersion: policygen.dev/v1alpha1
kind: Model
metadata: {name: tune}
spec:
  team: nlp
  workload: training
  family: llama
  size: 8b
  sizing: {training: lora, trainablePercent: 0.5, optimizerBytes: 0, sharding: full, activationMemory: 4Gi}
  schedule: {cron: "0 22 * * 1-5", timeZone: Europe/Berlin, hours: 8}
  checkpoint: {gracePeriodSeconds: 90, command: [save, "yes"]}
  container: {image: 'trainer:3', command: [python, "-m", train], args: [--epochs=3, "yes"], port: 80}
---
apiVersion: policygen.dev/v1alpha1
kind: Model
metadata: {name: serve}
spec:
  team: nlp
  replicas: 3
  resources: {gpus: 1}
  availability: {failureDomain: zone, minAvailable: 2}
"""


def test_every_setting_is_read_back_equal():
    spec = typed(FULL)
    assert placeless(typed(write(documents(spec)))) == placeless(spec)


def test_defaults_are_left_out():
    spec = typed("""
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: default}
spec: {target: {kueue: '0.19'}, kueue: {namespace: kueue-system}}
""")
    assert list(documents(spec)) == []


def test_fields_of_the_articles_are_refused():
    spec = typed("""
apiVersion: gpu.example.com/v1
kind: ResourcePool
metadata: {name: a100}
spec: {nodeSelector: {gpu.type: a100}, capacity: {totalGPUs: 8}}
""")
    with pytest.raises(ValueError, match="a100"):
        list(documents(spec))


def test_the_order_of_documents_is_stable():
    kinds = [it["kind"] for it in yaml.safe_load_all(write(documents(typed(FULL))))]
    assert kinds == ["Platform", "ResourcePool", "ResourcePool", "Team", "Model", "Model"]
