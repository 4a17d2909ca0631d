"""`policygen krm` as a function in a pipeline of resources."""

from collections import Counter
from datetime import date

import pytest
import yaml

from policygen.app.krm import run
from policygen.core.errors import SpecError, UsageError
from policygen.plan.extras import EXTRAS

TODAY = date(2026, 11, 23)
SPEC = [
    {
        "apiVersion": "policygen.dev/v1alpha1",
        "kind": "ResourcePool",
        "metadata": {
            "name": "a100",
            "annotations": {"config.kubernetes.io/local-config": "true"},
        },
        "spec": {
            "nodeSelector": {"pool": "a100"},
            "gpu": {"product": "NVIDIA-A100-SXM4-80GB", "perNode": 8},
            "capacity": {"nodes": 2, "nodeType": "a2-ultragpu-8g"},
        },
    },
    {
        "apiVersion": "policygen.dev/v1alpha1",
        "kind": "Team",
        "metadata": {
            "name": "nlp",
            "annotations": {"config.kubernetes.io/local-config": "true"},
        },
        "spec": {
            "namespaces": [{"name": "nlp"}],
            "quotas": [{"pool": "a100", "guarantee": 8}],
        },
    },
]
QUEUE = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "LocalQueue",
    "metadata": {
        "name": "yes",
        "namespace": "nlp",
        "annotations": {
            "config.kubernetes.io/path": "queues.yaml",
            "config.kubernetes.io/index": "1",
        },
    },
    "spec": {"clusterQueue": "nlp.a10"},
}


def listed(items, kind="Render", spec=None, **more):
    config = {
        "apiVersion": "krm.policygen.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": "it"},
        "spec": spec or {},
        **more,
    }
    data = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "items": items,
        "functionConfig": config,
    }
    return yaml.safe_dump(data).encode()


def test_the_spec_among_the_resources_is_rendered():
    outcome = run(listed([*SPEC, QUEUE]), today=TODAY)
    assert not outcome.failed
    made = yaml.safe_load(outcome.text)
    assert made["items"][:3] == [*SPEC, QUEUE]
    kinds = [it["kind"] for it in made["items"][3:]]
    assert "ClusterQueue" in kinds
    again = yaml.safe_load(run(listed(made["items"]), today=TODAY).text)
    assert again["items"] == made["items"], "a second run replaces what the first one rendered"


def test_a_render_selects_kinds_and_versions():
    spec = {"only": ["ClusterQueue"], "target": {"kueue": "0.14"}}
    made = yaml.safe_load(run(listed(SPEC, spec=spec), today=TODAY).text)
    assert [it["apiVersion"] for it in made["items"][2:]] == ["kueue.x-k8s.io/v1beta1"]


def test_two_renders_of_a_set_keep_the_objects_of_each_other():
    def items(resources, only):
        return yaml.safe_load(run(listed(resources, spec={"only": only}), today=TODAY).text)[
            "items"
        ]

    first = items(SPEC, ["ClusterQueue"])
    both = items(first, ["LocalQueue", "ResourceFlavor"])
    assert both[: len(first)] == first
    assert sorted(it["kind"] for it in both[len(first) :]) == ["LocalQueue", "ResourceFlavor"]
    again = items(both, ["ClusterQueue"])
    names = {(it["kind"], it["metadata"]["name"]) for it in both}
    assert {(it["kind"], it["metadata"]["name"]) for it in again} == names
    assert len(again) == len(both)
    everything = yaml.safe_load(run(listed(both), today=TODAY).text)["items"]
    assert everything == yaml.safe_load(run(listed(SPEC), today=TODAY).text)["items"]


def test_a_render_keeps_the_file_that_another_one_requests():
    volcano = [{**SPEC[0], "spec": {**SPEC[0]["spec"], "scheduler": "volcano"}}, SPEC[1]]
    files = {"with": ["volcano-config"], "only": ["ConfigMap"]}
    first = yaml.safe_load(run(listed(volcano, spec=files), today=TODAY).text)["items"]
    assert first[-1]["metadata"]["name"] == "volcano-scheduler-configmap"
    for spec in ({}, {"only": ["ConfigMap", "Queue"]}):
        both = yaml.safe_load(run(listed(first, spec=spec), today=TODAY).text)["items"]
        assert both[: len(first)] == first
        assert both[len(first) :]
    again = yaml.safe_load(run(listed(both, spec=files), today=TODAY).text)["items"]
    assert [it["kind"] for it in again].count("ConfigMap") == 1


def test_a_render_keeps_what_only_another_one_requests():
    pool, team = SPEC
    own = {**pool["spec"], "nodeSelector": {"pool": "cut"}, "scheduler": "volcano"}
    own["gpu"] = {**own["gpu"], "sharing": "mig", "mig": {"instances": {"1g.10gb": 112}}}
    model = {"team": "nlp", "resources": {"gpus": 1}}
    spec = [
        *SPEC,
        {**pool, "metadata": {"name": "cut"}, "spec": own},
        {**pool, "kind": "Platform", "spec": {"kubeScheduler": {"image": "i"}}},
        {**team, "kind": "Model", "metadata": {"name": "m"}, "spec": model},
    ]

    def after(resources, *extras):
        made = run(listed(resources, spec={"with": extras}), today=TODAY)
        assert not made.failed, made.findings
        return yaml.safe_load(made.text)["items"]

    def names(resources):
        metas = [(it["kind"], it["metadata"]) for it in resources]
        return sorted((kind, it.get("namespace", ""), it["name"]) for kind, it in metas)

    extras = sorted({*EXTRAS} - {"kueue-config"})  # which needs a base file
    full = after(spec, *extras)
    kinds = Counter(it["kind"] for it in full)
    assert (kinds["ConfigMap"], kinds["Deployment"]) == (6, 2)
    for extra in ([], *([it] for it in extras)):
        assert names(after(full, *extra)) == names(full), extra


def named(kind, name):
    """SPEC with other names of the pool, the team and the set."""
    pool, team = SPEC
    platform = [{**pool, "kind": kind, "metadata": {"name": name}, "spec": {}}] if kind else []
    quota = {"pool": f"{name}-pool", "guarantee": 8}
    return [
        {
            **pool,
            "metadata": {"name": f"{name}-pool"},
            "spec": {**pool["spec"], "nodeSelector": {"pool": name}},
        },
        {
            **team,
            "metadata": {"name": f"{name}-team"},
            "spec": {"namespaces": [{"name": f"{name}-space"}], "quotas": [quota]},
        },
        *platform,
    ]


def test_a_render_does_not_remove_the_objects_of_another_spec_with_its_set_name():
    first = [*yaml.safe_load(run(listed(SPEC), today=TODAY).text)["items"]][len(SPEC) :]
    both = [*first, *named("", "vision")]
    done = run(listed(both), today=TODAY)
    made = yaml.safe_load(done.text)
    assert (done.failed, made["items"]) == (True, both)
    reported = [it for it in made["results"] if it["severity"] == "error"]
    assert {it["tags"]["rule"] for it in reported} == {"object-of-another-spec"}
    queue = next(it for it in reported if it["resourceRef"]["kind"] == "ClusterQueue")
    assert queue["resourceRef"]["name"] == "nlp.a100"
    assert "write another metadata.name in the Platform of one of the two" in queue["message"]
    other = run(listed([*first, *named("Platform", "vision")]), today=TODAY)
    assert not other.failed, other.findings
    assert all(it in yaml.safe_load(other.text)["items"] for it in first)


def test_a_render_removes_what_its_spec_no_longer_has():
    """A team is gone, but another one shares its pool."""
    team = SPEC[1]
    more = {
        **team,
        "metadata": {"name": "vision"},
        "spec": {**team["spec"], "namespaces": [{"name": "v"}]},
    }
    first = yaml.safe_load(run(listed([*SPEC, more]), today=TODAY).text)["items"]
    rest = [it for it in first if it != more]
    done = run(listed(rest), today=TODAY)
    assert not done.failed, done.findings
    assert "vision" not in done.text


def test_results_have_only_what_is_known(tmp_path):
    outcome = run(listed([{"kind": "x"}], "Lint"), today=TODAY)
    results = yaml.safe_load(outcome.text)["results"]
    assert results
    refs = [it.get("resourceRef", {}) for it in results]
    assert [it for it in refs if None in it.values()] == []
    (tmp_path / "empty.yaml").write_text("")
    outcome = run(listed([], "Lint", {"paths": [str(tmp_path / "empty.yaml")]}), today=TODAY)
    results = yaml.safe_load(outcome.text).get("results", [])
    assert [it for it in results if it["tags"].get("line") == "0"] == []


def test_an_invalid_spec_fails_with_results_and_leaves_the_resources():
    broken = [SPEC[0], {**SPEC[1], "spec": {**SPEC[1]["spec"], "nmaespaces": []}}]
    outcome = run(listed(broken), today=TODAY)
    assert outcome.failed
    made = yaml.safe_load(outcome.text)
    assert made["items"] == broken
    (result,) = [it for it in made["results"] if it["severity"] == "error"]
    assert result["tags"]["rule"] == "unknown-field"


def test_a_render_names_the_resource_and_file_of_a_wrong_field():
    notes = {"config.kubernetes.io/path": "teams.yaml", "config.kubernetes.io/index": "2"}
    quotas = [{"pool": "h100", "guarantee": 8}]
    team = {
        **SPEC[1],
        "metadata": {"name": "nlp", "annotations": notes},
        "spec": {**SPEC[1]["spec"], "quotas": quotas},
    }
    made = yaml.safe_load(run(listed([SPEC[0], QUEUE, team]), today=TODAY).text)
    (result,) = [it for it in made["results"] if it["severity"] == "error"]
    assert result["resourceRef"]["kind"] == "Team"
    assert result["file"] == {"path": "teams.yaml", "index": 2}
    assert result["field"] == {"path": "spec.quotas[0].pool"}


def test_a_render_keeps_a_resource_with_an_invalid_label():
    labels = {"app.kubernetes.io/managed-by": "policygen", "policygen.dev/set": ["default"]}
    odd = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "odd", "labels": labels}}
    made = yaml.safe_load(run(listed([*SPEC, odd]), today=TODAY).text)
    assert odd in made["items"]


def test_lint_names_resource_file_and_field():
    outcome = run(listed([*SPEC, QUEUE], "Lint", {"partial": False}), today=TODAY)
    assert outcome.failed
    made = yaml.safe_load(outcome.text)
    assert made["items"] == [*SPEC, QUEUE]
    (result,) = [it for it in made["results"] if it["severity"] == "error"]
    assert result["resourceRef"] == {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "name": "yes",
        "namespace": "nlp",
    }
    assert result["file"] == {"path": "queues.yaml", "index": 1}
    assert result["field"] == {"path": "spec.clusterQueue"}


def test_lint_with_a_spec_knows_its_objects(tmp_path):
    spec = tmp_path / "spec.yaml"
    plain = [{**it, "metadata": {"name": it["metadata"]["name"]}} for it in SPEC]
    spec.write_text(yaml.safe_dump_all(plain))
    good = {**QUEUE, "spec": {"clusterQueue": "nlp.a100"}}
    settings = {"paths": [str(spec)]}
    assert not run(listed([good], "Lint", settings), today=TODAY).failed
    assert run(listed([good], "Lint", {**settings, "failOn": "info"}), today=TODAY).failed


@pytest.mark.parametrize(
    "given, words",
    [
        (b"", "standard input is empty; krm reads one ResourceList"),
        (b"a: 1\n", "standard input is without apiVersion and kind; krm reads"),
        (b"kind: Pod\napiVersion: v1\n", "standard input is v1 Pod"),
        (b"kind: Pod\napiVersion:\n", "standard input is Pod without apiVersion; krm reads one"),
        (listed([]).replace(b"/v1\n", b"/v2\n"), "is config.kubernetes.io/v2 ResourceList; krm"),
        (listed(SPEC) + b"---\n" + listed(SPEC), "standard input has 2 documents; krm reads one"),
        (
            listed([]).replace(b"/v1alpha1", b"/v1beta1"),
            "is krm.policygen.dev/v1beta1 Render; write",
        ),
        (listed({}), "items of the ResourceList must be a list"),
        (listed(""), "items of the ResourceList must be a list"),
        (listed([], "Rendr"), "krm.policygen.dev/v1alpha1 Rendr; write"),
        (listed([5, *SPEC]), 'items[0] of the ResourceList is not an object, but "5"'),
        (listed({"a": 1}), "items of the ResourceList must be a list"),
        (listed([], spec={"path": ["a"]}), 'spec.path is unknown; did you mean "paths"?'),
        (
            listed([], spec={"paths": "spec/"}),
            'Render it: spec.paths: "spec/" is text; write a list, even if it has only one entry: [spec/]',
        ),
        (
            listed([], spec={"target": {"kueue": 0.19}}),
            'Render it: spec.target.kueue: 0.19 is a number; write "0.19" in quotes',
        ),
        (
            listed([], spec={"only": [True]}),
            'spec.only[0]: true is a boolean; write "true" in quotes',
        ),
        (listed([], spec={"cluster": 5}), 'spec.cluster: 5 is a number; write "5" in quotes'),
        (listed([], "Lint", {"partial": "yes"}), '"yes" is text; write true without quotes'),
        (
            listed([], "Lint", {"target": []}),
            "spec.target: a list is not allowed here; write a map",
        ),
        (listed([], spec=["a"]), "Render it: spec: a list is not allowed here; write a mapping"),
        (listed([]), "the Render has no spec"),
        (listed(SPEC, spec={"target": {"kueue": "9"}}), "kueue '9' is not a valid version"),
        (listed(SPEC, spec={"with": ["a"]}), 'Render: spec.with: "a" is unknown'),
        (listed([], "Lint", {"failOn": "often"}), 'spec.failOn: "often" is unknown'),
    ],
)
def test_wrong_input_is_refused(given, words):
    with pytest.raises(UsageError) as error:
        run(given, today=TODAY)
    assert words in str(error.value)


@pytest.mark.parametrize("version", ["v1beta1", "v1alpha1"])
def test_lists_of_earlier_versions_are_read(version):
    given = listed(SPEC)
    earlier = given.replace(
        b"config.kubernetes.io/v1\n", f"config.kubernetes.io/{version}\n".encode()
    )
    assert earlier != given
    assert run(earlier, today=TODAY) == run(given, today=TODAY)


def test_input_that_is_not_yaml_is_refused():
    with pytest.raises(SpecError):
        run(b"a: [\n", today=TODAY)
