"""The autoscaler of a pool, read from the checks of its queues."""

from tests.adopt.round_trip import adopted

CHECK = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ProvisioningRequestConfig
metadata: {name: atomic}
spec: {provisioningClassName: best-effort-atomic-scale-up.autoscaling.x-k8s.io}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: nodes}
spec:
  controllerName: kueue.x-k8s.io/provisioning-request
  parameters: {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: atomic}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: speech}
spec: {capability: {nvidia.com/gpu: 8}}
"""


def queue(flavor, strategy=""):
    return f"""---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {{name: {flavor}}}
spec: {{nodeLabels: {{gpu: {flavor}}}}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: of-{flavor}}}
spec:
  {strategy}
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors: [{{name: {flavor}, resources: [{{name: nvidia.com/gpu, nominalQuota: 8}}]}}]
"""


def test_only_pools_of_queues_with_the_check_request_nodes():
    strategy = "admissionChecksStrategy: {admissionChecks: [{name: nodes}]}"
    inferred = adopted(CHECK + queue("a100") + queue("h100", strategy), rendered=False)
    scaled = {it.name: bool(it.autoscaler) for it in inferred.spec.pools}
    assert scaled == {"a100": False, "h100": True, "volcano": False}
