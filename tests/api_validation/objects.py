"""Objects for tests of refusals by API servers."""

import copy

from policygen.api_validation.refusals import refusals
from policygen.api_validation.schemas import index, object_meta, served

KUEUE = "kueue.x-k8s.io/v1beta2"

QUEUE = {
    "apiVersion": KUEUE,
    "kind": "ClusterQueue",
    "metadata": {"name": "nlp.a100"},
    "spec": {
        "cohortName": "a100",
        "resourceGroups": [
            {
                "coveredResources": ["nvidia.com/gpu"],
                "flavors": [
                    {
                        "name": "a100",
                        "resources": [
                            {"name": "nvidia.com/gpu", "nominalQuota": 8, "borrowingLimit": "8"}
                        ],
                    }
                ],
            }
        ],
    },
}

FLAVOR = ("spec", "resourceGroups", 0, "flavors", 0)
GPU = (*FLAVOR, "resources", 0)


def refusals_of(thing):
    return list(refusals(thing, served(thing["apiVersion"], thing["kind"])))


def changed(path, value, thing=QUEUE):
    """The object with this value there; `...` takes it away."""
    thing = copy.deepcopy(thing)
    holder = thing
    for step in path[:-1]:
        holder = holder[step]
    if value is ...:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return thing


def nodes(schema):
    yield schema
    for part in schema.get("properties", {}).values():
        yield from nodes(part)
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield from nodes(schema[key])


def every_node():
    yield from nodes(object_meta())
    for at, kinds in index().kinds.items():
        for kind in kinds:
            yield from nodes(served(at.removeprefix("core/"), kind).schema)
