"""Models and pools for tests of their plan."""


def a100(name="p", memory="40GB", more="", gpu=""):
    return f"""
    apiVersion: policygen.dev/v1alpha1
    kind: ResourcePool
    metadata: {{name: {name}}}
    spec:
      nodeSelector: {{pool: {name}}}
      gpu: {{product: NVIDIA-A100-SXM4-{memory}, perNode: 8{gpu}}}
      capacity: {{totalGPUs: 64, nodeAllocatable: {{cpu: "96", memory: 1100Gi}}}}
{more}
    """


def model(more="", resources="gpuMemory: 13Gi"):
    return f"""
    apiVersion: policygen.dev/v1alpha1
    kind: Model
    metadata: {{name: m}}
    spec:
      team: a
      resources: {{{resources}}}
{more}
    """


def assigned(done):
    (found,) = done.plan.workloads.assignments
    return found.facts.name, found.size.resource, found.size.units
