"""What changes with a number of a spec names the place of this number among its steps."""

import copy
from pathlib import Path

import pytest
import yaml

from policygen.app import explain_object
from policygen.app.requests import RenderRequest
from policygen.core.errors import PolicygenError
from policygen.core.finding import at_path, dotted
from policygen.explain import answer
from policygen.explain.values import Values

ROOT = Path(__file__).parents[2]
KINDS = ("ClusterQueue", "Cohort", "Queue", "ResourceQuota")


def numbers(data, path=()):
    """The paths and values of all whole numbers."""
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from numbers(value, (*path, key))
    elif isinstance(data, int) and not isinstance(data, bool):
        yield path, data


def opened(documents, folder):
    file = folder / "spec.yaml"
    file.write_text("---\n".join(map(yaml.safe_dump, documents)))
    return explain_object.opened(RenderRequest((str(file),), {}))


def fields(found):
    """The values of all fields of queues, by object and path."""
    return {
        (index, path): at_path(found.data[index], path)
        for index, it in enumerate(found.objects)
        if it.object.kind in KINDS
        for path, _ in answer.leaves(found.data[index])
    }


@pytest.mark.parametrize("example", ["kueue-team-tree", "serving-slices", "volcano-training"])
def test_a_field_that_changes_with_a_number_has_its_place(example, tmp_path):
    files = sorted((ROOT / "examples" / example).glob("*.yaml"))
    documents = [it for file in files for it in yaml.safe_load_all(file.read_text()) if it]
    found = opened(documents, tmp_path)
    before, values = fields(found), Values(found.compiled.decisions)
    names = [it.object.identity for it in found.objects]
    changes = 0
    for number, document in enumerate(documents):
        for path, value in numbers(document):
            other = copy.deepcopy(documents)
            at_path(other[number], path[:-1])[path[-1]] = value - 1
            try:
                made = opened(other, tmp_path)
            except PolicygenError:
                continue  # the spec would be invalid
            if [it.object.identity for it in made.objects] != names:
                continue
            after = fields(made)
            for index, field in (it for it in before if before[it] != after.get(it)):
                steps = values.steps(found.objects[index].item, found.data[index], field)
                places = {(it.at.document, it.at.path) for it in steps if it.at}
                what = found.objects[index].object, dotted(field), dotted(path)
                assert (number, path) in places, what
                changes += 1
    assert changes > 40


def test_the_weight_of_a_packing_profile_names_the_nodes_of_each_pool_that_packs(tmp_path):
    """The largest node decides, and a change of any pool can make its nodes the largest."""
    file = ROOT / "examples" / "three-schedulers" / "policy.yaml"
    documents = [it for it in yaml.safe_load_all(file.read_text()) if it]
    found = opened(documents, tmp_path)
    values = Values(found.compiled.decisions)
    (steps,) = (
        values.steps(found.objects[index].item, data, path)
        for index, data in found.data.items()
        for path, value in answer.leaves(data)
        if path[-1] == "weight" and "resources" in path and value == 19
        if found.objects[index].object.name == "mixed-kube-scheduler"
    )
    places = [documents[it.at.document]["metadata"]["name"] for it in steps if it.at]
    assert places == ["batch-a100", "serving-l4"]
    assert all(it.at.path[-1] == "perNode" for it in steps if it.at)
    assert [it.formula for it in steps[2:]] == [
        "max(8, 4)",
        "ceil(101 × 2 / (floor(100 / 8) - 1))",
    ]
