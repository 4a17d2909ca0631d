"""Specs of Volcano's pools, rendered with the scheduler's configuration, and edits of it."""

from textwrap import dedent

import yaml

from tests.servers.rendering import rendered


def pool(nodes=3, *, policy="", gpu="perNode: 8, memory: 80Gi", name="train", labels="pool: train"):
    """A Volcano pool whose nodes have 128 cores, 1 TiB and 8 cards."""
    return dedent(f"""
        apiVersion: policygen.dev/v1alpha1
        kind: ResourcePool
        metadata: {{name: {name}}}
        spec:
          nodeSelector: {{{labels}}}
          gpu: {{{gpu}}}
          capacity: {{nodes: {nodes}, nodeAllocatable: {{cpu: 128, memory: 1Ti}}}}
          scheduler: volcano
          schedulingPolicy: {{{policy}}}
        """)


def team(name, quota, *, parent=None, pool="train", namespaces=True):
    spec = {"quotas": [{"pool": pool, **quota}]}
    if parent:
        spec["parent"] = parent
    if namespaces:
        spec["namespaces"] = [{"name": name}]
    metadata = {"name": name}
    head = {"apiVersion": "policygen.dev/v1alpha1", "kind": "Team", "metadata": metadata}
    return yaml.safe_dump({**head, "spec": spec})


def volcano(*documents):
    return rendered("---\n".join(documents), "volcano-config")


def edited(config, name, edit):
    """The configuration after `edit` of one plugin's entry."""
    found = yaml.load(config, Loader=yaml.CSafeLoader)
    (plugin,) = (p for tier in found["tiers"] for p in tier["plugins"] if p["name"] == name)
    before = yaml.safe_dump(plugin)
    edit(plugin)
    assert yaml.safe_dump(plugin) != before
    return yaml.safe_dump(found, sort_keys=False)
