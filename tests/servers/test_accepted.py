"""Real servers accept every object that is rendered, and a second apply changes nothing."""

import time
from collections import Counter
from itertools import chain

import pytest
import yaml

from tests.servers import kueue, volcano_keys
from tests.servers.apply import lines
from tests.servers.draws import (
    APPLIED,
    ENOUGH,
    EXAMPLES,
    configurations,
    drawn,
    example,
    shown,
    telling,
    together,
)
from tests.servers.trials import kube_schedulers, volcano_schedulers


@pytest.fixture(scope="session")
def examples(built):
    """Every example with every extra, by name."""
    base = built["kueue"].asset(kueue.CONFIGURATION)
    return {name: example(name, base) for name in EXAMPLES}


def judged(outcome):
    """The outcome without what Kueue 0.19 does to the word `Borrow` of older versions.

    It is stored as `MayStopSearch`, so each apply of v1beta1 is a new generation of the same.
    """
    rewritten = ["metadata.generation", "managedFields of policygen"]
    outcome.changed = [
        (document, found)
        for document, found in outcome.changed
        if not (
            document.group == "kueue.x-k8s.io"
            and document.thing["apiVersion"].endswith("/v1beta1")
            and "whenCanBorrow: Borrow" in document.text
            and [each.partition(":")[0] for each in found] == rewritten
        )
    ]
    outcome.warnings = [
        (document, warning)
        for document, warning in outcome.warnings
        if not warning.startswith("This version is deprecated")
    ]
    return outcome


def is_clean(outcome):
    assert judged(outcome).clean, "\n".join(lines(outcome))
    assert outcome.warnings == [], "\n".join(lines(outcome))


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_with_every_extra(cluster, examples, name):
    outcome = cluster.apply_twice(examples[name].text)
    is_clean(outcome)
    assert outcome.accepted == len(examples[name].objects)


@pytest.mark.parametrize("number", range(APPLIED))
def test_drawn_specs(cluster, number):
    sets = telling()[number]
    documents, again = together(sets)
    began = time.monotonic()
    is_clean(cluster.apply_twice(documents))
    for document in again:
        is_clean(cluster.apply_twice([document]))
    print(
        f"{len(documents) + len(again)} objects of {len(sets)} specs: "
        f"{time.monotonic() - began:.1f} s, {cluster.retries} retries of Volcano's queues"
    )


def test_drawn_specs_are_many_and_of_every_kind():
    sets = [each for round_ in drawn() for each in round_]
    assert len(sets) == 200
    assert len({each.text for each in sets}) == 200
    applied = list(chain(*telling()))
    assert len(applied) > 25
    assert all(telling())
    seen = Counter(chain(*map(shown, applied)))
    for path, times in Counter(chain(*map(shown, sets))).items():
        assert seen[path] >= min(times, ENOUGH)
    kinds = {f"{thing['apiVersion']} {thing['kind']}" for each in applied for thing in each.objects}
    assert kinds >= {
        "kueue.x-k8s.io/v1beta1 ClusterQueue",
        "kueue.x-k8s.io/v1beta2 ClusterQueue",
        "scheduling.volcano.sh/v1beta1 Queue",
        "scheduling.volcano.sh/v1beta1 PodGroup",
        "v1 ResourceQuota",
    }


def test_each_scheduler_configuration_starts_a_kube_scheduler(bench, examples):
    files = configurations([*examples.values(), *chain(*telling())]).kube_scheduler
    assert len(files) > 20
    assert kube_schedulers(bench, files) == {}


def test_a_kube_scheduler_refuses_a_field_it_does_not_know(bench, examples):
    """The control of the test above."""
    fields = yaml.safe_load(examples["three-schedulers"].scheduler_config)
    fields["profiles"][0]["percentageOfNodes"] = 100
    wrong = yaml.safe_dump(fields)
    found = kube_schedulers(bench, [wrong])
    assert "strict decoding error: unknown field" in " ".join(found[wrong])


def test_each_volcano_configuration_loads_without_an_error_line(bench, examples):
    files = configurations([*examples.values(), *chain(*telling())]).volcano
    assert len(files) > 5
    assert volcano_schedulers(bench, files) == {}


def test_volcano_logs_when_it_loads_something_else(bench):
    """The control of the test above: a plugin that it does not have."""
    wrong = "actions: allocate\ntiers:\n  - plugins:\n      - name: gang\n      - name: packing\n"
    assert list(volcano_schedulers(bench, [wrong])) == [wrong]


def test_volcano_knows_every_key_that_is_written(examples):
    files = configurations([*examples.values(), *chain(*telling())], alike=False).volcano
    assert {text: found for text in files if (found := volcano_keys.problems(text))} == {}


@pytest.mark.parametrize(
    "wrong, said",
    [
        ("actons: allocate", "actons"),
        ("actions: allocate, preemt", "actions: ' preemt'"),
        ("tiers: [{plugin: []}]", "tiers.plugin"),
        ("tiers: [{plugins: [{name: binpak}]}]", "plugin 'binpak'"),
        ("tiers: [{plugins: [{name: gang, enablePreemptible: false}]}]", "gang.enablePreemptible"),
        (
            "tiers: [{plugins: [{name: binpack, arguments: {binpack.wieght: 1}}]}]",
            "binpack.arguments.binpack.wieght",
        ),
        (
            "tiers: [{plugins: [{name: binpack, arguments: {binpack.resources.a.b/c: 1}}]}]",
            "binpack.arguments.binpack.resources.a.b/c: not in binpack.resources",
        ),
        (
            "tiers: [{plugins: [{name: nodegroup, arguments: {strict: 'no'}}]}]",
            "nodegroup.arguments.strict: 'no'",
        ),
        ("tiers: [{plugins: [{name: gang}]}, {plugins: [{name: gang}]}]", "gang: twice"),
    ],
)
def test_the_strict_reader_reports_what_volcano_does_not(wrong, said):
    assert said in volcano_keys.problems(
        f"actions: allocate\n{wrong}" if "act" not in wrong else wrong
    )
