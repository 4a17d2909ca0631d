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


def quotas(name, *pools, more=""):
    """A team with quotas: `quotas("a", "pool: p, guarantee: 8")`."""
    listed = ", ".join(f"{{{it}}}" for it in pools)
    return f"""
    apiVersion: policygen.dev/v1alpha1
    kind: Team
    metadata: {{name: {name}}}
    spec: {{namespaces: [{{name: {name}-ns}}], quotas: [{listed}]{more}}}
    """


def models(team, **sizes):
    """Models of a team: `models("a", chat="resources: {gpus: 1}, replicas: 4")`."""
    return "---\n".join(
        "apiVersion: policygen.dev/v1alpha1\nkind: Model\n"
        f"metadata: {{name: {name}}}\nspec: {{team: {team}, {fields}}}\n"
        for name, fields in sizes.items()
    )


def where(done):
    """The pools and the criterion of each model; no pools if it fits none."""
    return {
        it.model.name: (
            *(facts.name for facts in it.chosen.pools),
            it.criterion.value,
        )
        if it.chosen
        else ()
        for it in done.plan.workloads.placements
    }


def messages(done, rule):
    return [it.message for it in done.findings if it.rule.name == rule]
