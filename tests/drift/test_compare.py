"""Two states of an object are compared by type, and the patch of a difference removes it."""

import copy
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from policygen.documents.parse import mapping
from policygen.drift.compare import differences
from policygen.drift.patch_forms import operations
from tests.drift.jsonpatch import applied

ROOT = Path(__file__).parents[2]
RENDERED = [
    each
    for path in sorted((ROOT / "examples").glob("*/expected/manifests.yaml"))
    for each in yaml.load_all(path.read_bytes(), Loader=yaml.CSafeLoader)
]
OURS = ("spec", "data", "value", "rules", "roleRef", "subjects", "preemptionPolicy")


def queue(**spec):
    group = {
        "coveredResources": ["cpu", "memory"],
        "flavors": [
            {
                "name": name,
                "resources": [
                    {"name": "cpu", "nominalQuota": "1500m"},
                    {"name": "memory", "nominalQuota": "1Gi", "borrowingLimit": "0"},
                ],
            }
            for name in ("spot", "reserved")
        ],
    }
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "nlp", "labels": {"policygen.dev/set": "east"}},
        "spec": {"cohortName": "all", "resourceGroups": [group], **spec},
    }


def found(wanted, change):
    thing = copy.deepcopy(wanted)
    change(thing)
    return {it.path: (it.expected, it.found) for it in differences(wanted, thing, mapping)}


FLAVORS = ("spec", "resourceGroups", 0, "flavors")


def flavors(thing):
    return thing["spec"]["resourceGroups"][0]["flavors"]


def test_a_field_that_was_added_counts():
    told = found(queue(), lambda it: it["spec"].update(stopPolicy="Hold"))
    assert told == {("spec", "stopPolicy"): ("None", "Hold")}


@pytest.mark.parametrize(
    "value", [{"stopPolicy": "None"}, {"queueingStrategy": "BestEffortFIFO"}, {"preemption": {}}]
)
def test_a_default_is_as_good_as_nothing(value):
    assert found(queue(), lambda it: it["spec"].update(value)) == {}
    assert found(queue(**value), lambda it: [it["spec"].pop(key) for key in value]) == {}


def test_a_default_inside_a_default_is_compared_too():
    told = found(
        queue(), lambda it: it["spec"].update(preemption={"withinClusterQueue": "LowerPriority"})
    )
    assert told == {("spec", "preemption", "withinClusterQueue"): ("Never", "LowerPriority")}


def test_old_and_new_names_of_a_value_are_equal():
    """Kueue's v1beta1 has both, and its newer CRDs have the new one as default."""
    wanted = queue(flavorFungibility={"whenCanBorrow": "Borrow", "whenCanPreempt": "TryNextFlavor"})
    wanted["apiVersion"] = "kueue.x-k8s.io/v1beta1"
    path = ("spec", "flavorFungibility", "whenCanBorrow")

    def write(value):
        return lambda thing: thing["spec"]["flavorFungibility"].update(whenCanBorrow=value)

    assert found(wanted, write("MayStopSearch")) == {}
    assert found(wanted, write("TryNextFlavor")) == {path: ("Borrow", "TryNextFlavor")}


@pytest.mark.parametrize("text", ["1500m", "1.5", 1.5, "1500000u"])
def test_quantities_are_compared_by_value(text):
    assert found(queue(), lambda it: flavors(it)[0]["resources"][0].update(nominalQuota=text)) == {}


def test_a_limit_of_nothing_is_not_no_limit():
    told = found(queue(), lambda it: flavors(it)[0]["resources"][1].pop("borrowingLimit"))
    assert told == {(*FLAVORS, 0, "resources", 1, "borrowingLimit"): ("0", UNSET)}


def test_entries_of_a_list_are_matched_by_their_keys():
    extra = {"name": "new", "resources": []}
    told = found(queue(), lambda it: flavors(it).insert(0, extra))
    assert told == {(*FLAVORS, 0): (UNSET, extra)}

    def both(it):
        flavors(it).insert(0, extra)
        flavors(it)[2]["resources"][0]["nominalQuota"] = "2"

    assert set(found(queue(), both)) == {
        (*FLAVORS, 0),
        (*FLAVORS, 2, "resources", 0, "nominalQuota"),
    }


def test_the_order_of_flavors_counts():
    told = found(queue(), lambda it: flavors(it).reverse())
    assert set(told) == {FLAVORS}


def test_an_entry_that_went_away_has_its_place():
    told = found(queue(), lambda it: flavors(it).pop(1))
    assert set(told) == {(*FLAVORS, 1)}


def test_of_metadata_only_what_we_render_counts():
    def change(it):
        it["metadata"]["labels"]["theirs"] = "yes"
        it["metadata"] |= {"annotations": {"a": "b"}, "finalizers": ["c"], "uid": "d"}
        it["status"] = {"pendingWorkloads": 3}

    assert found(queue(), change) == {}
    path = ("metadata", "labels", "policygen.dev/set")
    told = found(queue(), lambda it: it["metadata"]["labels"].update({path[-1]: "west"}))
    assert told == {path: ("east", "west")}
    assert found(queue(), lambda it: it["metadata"].pop("labels")) == {path: ("east", UNSET)}


def test_files_inside_a_config_map_are_compared_and_not_their_text():
    text = "actions: a, b\ntiers:\n- plugins:\n  - name: gang\n"
    wanted = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": {"a.conf": text}}

    def write(text):
        return lambda it: it["data"].update({"a.conf": text})

    assert (
        found(wanted, write('# mine\ntiers: [{plugins: [{name: "gang"}]}]\nactions: a, b\n')) == {}
    )
    place = ("data", "a.conf")
    told = found(wanted, write(text.replace("a, b", "a")))
    assert told == {(*place, "actions"): ("a, b", "a")}
    assert set(found(wanted, write("{"))) == {place}


@pytest.mark.parametrize(
    "one, other, told",
    [
        ("timeout: 30m", "timeout: 1800s", {}),
        ("timeout: 30m", "timeout: 30s", {("timeout",)}),
        ("actions: allocate, preempt", "actions: allocate,preempt", {}),
        ("actions: allocate, preempt", "actions: preempt, allocate", {("actions",)}),
        ("integrations: {frameworks: [a, b]}", "integrations: {frameworks: [b, a]}", {}),
        ("strategies: [a, b]", "strategies: [b, a]", {("strategies",)}),
        ("tiers: [{plugins: [{name: a}, {name: b}]}]", "tiers: [{plugins: [{name: b}, {name: a}]}]",
         {("tiers", 0, "plugins")}),
        ("profiles: [{schedulerName: a, w: 1}, {schedulerName: b}]",
         "profiles: [{schedulerName: b}, {schedulerName: a, w: 1}]", {}),
        ("profiles: [{schedulerName: a, w: 1}, {schedulerName: b}]",
         "profiles: [{schedulerName: b}, {schedulerName: a, w: 2}]", {("profiles", 1, "w")}),
        ("weight: 10", "weight: '10'", {("weight",)}),
    ],
)  # fmt: skip
def test_values_with_equal_meaning_are_not_a_difference(one, other, told):
    wanted = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": {"a.conf": one}}
    there = found(wanted, lambda it: it["data"].update({"a.conf": other}))
    assert {path[2:] for path in there} == set(told)


@pytest.mark.parametrize("side", ["added", "removed"])
def test_an_empty_entry_of_a_free_mapping_is_reported(side):
    """A label without a value also selects: with one more of them, a selector matches no namespace."""

    def check(kind, way, key, empty):
        less = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {}}
        if kind == "ConfigMap":
            less["apiVersion"] = "v1"
        more = copy.deepcopy(less)
        for thing in (less, more):
            holder = thing
            for step in way:
                holder = holder.setdefault(step, {})
            holder["other"] = "x"
        holder[key] = empty
        wanted, there = (less, more) if side == "added" else (more, less)
        values = (UNSET, empty) if side == "added" else (empty, UNSET)
        told = list(differences(wanted, there, mapping))
        assert [(it.path, it.expected, it.found) for it in told] == [((*way, key), *values)]
        assert (
            list(differences(wanted, applied(there, operations(wanted, there, told)), mapping))
            == []
        )

    check("ResourceFlavor", ("spec", "nodeLabels"), "node-role.kubernetes.io/gpu", "")
    check("ClusterQueue", ("spec", "namespaceSelector", "matchLabels"), "nobody", "")
    check("ConfigMap", ("data",), "a.conf", "")


@pytest.mark.parametrize("switch", ["fairSharing: {}", "frameworks: []", 'queue: ""'])
def test_an_empty_switch_in_a_file_is_reported(switch):
    def config_map(text):
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": {"a": text}}

    without, with_it = config_map("x: 1\n"), config_map(f"x: 1\n{switch}\n")
    name = switch.partition(":")[0]
    for wanted, there in ((without, with_it), (with_it, without)):
        assert [it.path for it in differences(wanted, there, mapping)] == [("data", "a", name)]
    assert list(differences(without, config_map("x: 1\nfairSharing: null\n"), mapping)) == []


def test_values_that_code_fills_in_are_not_a_difference():
    klass = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1}
    assert found(klass, lambda it: it.update(preemptionPolicy="PreemptLowerPriority")) == {}
    assert set(found(klass, lambda it: it.update(globalDefault=True))) == {("globalDefault",)}
    limits = {"type": "Container", "default": {"cpu": "1"}, "max": {"memory": "1Gi"}}
    ranges = {"apiVersion": "v1", "kind": "LimitRange", "spec": {"limits": [limits]}}

    def fill(it):
        everything = {"cpu": "1", "memory": "1Gi"}
        it["spec"]["limits"][0] |= {"default": everything, "defaultRequest": everything}

    assert found(ranges, fill) == {}
    bare = {**ranges, "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "1"}}]}}
    told = found(bare, lambda it: it["spec"]["limits"][0].pop("defaultRequest"))
    assert set(told) == {("spec", "limits", 0, "defaultRequest")}
    assert set(found(bare, lambda it: it["spec"].update(limits=None))) == {("spec", "limits")}


@pytest.mark.parametrize("thing", RENDERED, ids=lambda it: f"{it['kind']}-{it['metadata']['name']}")
def test_an_object_is_not_different_from_itself(thing):
    assert list(differences(thing, copy.deepcopy(thing), mapping)) == []


def places(value, path=()):
    if isinstance(value, dict):
        for key in value:
            yield (*path, key)
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield (*path, index)
            yield from places(each, (*path, index))


def at(thing, path):
    for step in path:
        thing = thing[step]
    return thing


def another(value):
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return f"{value}1" if value.isascii() and value[-1:].isdigit() else f"{value}-x"
        case list():
            return [*value, "x"]
        case _:
            return {**value, "x": "x"}


@pytest.mark.parametrize("name", ["another", None])
def test_the_patch_of_a_renamed_container_removes_its_other_fields(name):
    """Of such a container, a snapshot has no field that no rule reads, so it is written completely."""
    wanted = next(
        it
        for it in RENDERED
        if it["metadata"]["name"] == "mixed-kube-scheduler" and it["kind"] == "Deployment"
    )
    thing = copy.deepcopy(wanted)
    (container,) = thing["spec"]["template"]["spec"]["containers"]
    container |= {"name": name, "tty": True}
    if name is None:
        del container["name"]
    patch = operations(wanted, thing, list(differences(wanted, thing, mapping)))
    assert applied(thing, patch)["spec"]["template"] == wanted["spec"]["template"]
    if name:  # the other fields may not be in a snapshot
        place = "/spec/template/spec/containers/0"
        assert [it for it in patch if it["op"] == "test"] == [
            {"op": "test", "path": f"{place}/name", "value": name}
        ]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_every_change_is_reported_and_the_patch_undoes_it(data):
    wanted = data.draw(st.sampled_from(RENDERED))
    thing = copy.deepcopy(wanted)
    changed, replaced = [], 0
    for _ in range(data.draw(st.integers(1, 4))):
        ours = [path for path in places(thing) if path[0] in OURS and len(path) > 1]
        if not ours:
            return
        path = data.draw(st.sampled_from(ours))
        holder = at(thing, path[:-1])
        if data.draw(st.booleans()):
            holder[path[-1]] = another(holder[path[-1]])
            replaced += 1
        else:
            del holder[path[-1]]
        changed.append(path)
    told = list(differences(wanted, thing, mapping))
    assert len({it.path for it in told}) == len(told)
    if len(changed) == 1:
        (path,) = changed
        # A list of nameless entries that lost one shows it at its end.
        assert all(it.path[: len(path)] == path or len(it.path) <= len(path) for it in told)
        assert told or not replaced  # what was taken away may be a default
    mended = applied(thing, operations(wanted, thing, told))
    assert list(differences(wanted, mended, mapping)) == []
