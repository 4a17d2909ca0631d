"""Loads documents of all forms into one spec, and checks the valid part if another is refused."""

import pytest

from policygen.app.requests import parse_targets
from policygen.core.errors import UsageError
from policygen.core.rule import Severity
from policygen.core.versions import Version
from tests.counting import growth
from tests.spec.specs import PLATFORM, POOL, errors, read, team

QUEUES = """
apiVersion: v1
kind: ConfigMap
metadata: {name: gpu-scheduler-config}
data:
  scheduler-config.yaml: |
    queues: [{name: a, priority: 1}, {name: b}]
"""


def test_everything_is_sorted_by_name_in_any_order_of_files():
    texts = [team("b"), POOL, team("a"), PLATFORM, QUEUES.replace("name: b", "name: c")]
    texts[-1] = texts[-1].replace("name: a", "name: d")
    one, other = read(*texts), read(*reversed(texts))
    for loaded in (one, other):
        assert errors(loaded) == []
        assert [it.name for it in loaded.spec.teams] == ["a", "b", "c", "d"]
        assert loaded.spec.platform.name == "set"
        assert loaded.sound is loaded.spec


def test_documents_of_others_are_counted():
    text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n---\n"
    assert read(text * 2, POOL).foreign == 2


def test_target_of_the_command_line_wins_and_the_rest_stays():
    target = read(PLATFORM, target=parse_targets({"kubernetes": "1.34"})).spec.platform.target
    assert (target.kubernetes, target.kueue) == (Version(1, 34), Version(0, 15))
    assert read(
        POOL, target=parse_targets({"kueue": "0.16.2"})
    ).spec.platform.target.kueue == Version(0, 16, 2)


def test_unsupported_target_of_the_command_line_is_a_fault_of_the_caller():
    with pytest.raises(UsageError, match=r"--target: kueue 0\.12 is not supported"):
        parse_targets({"kueue": "0.12"})


def model(fields):
    return (
        "apiVersion: policygen.dev/v1alpha1\nkind: Model\nmetadata: {name: m}\n"
        f"spec: {{team: a, {fields}}}\n"
    )


NIGHTLY = 'schedule: {cron: "0 1 * * *", timeZone: Europe/Berln, hours: 1}'


@pytest.mark.parametrize(
    "fields, expected",
    [
        (
            "imag: b, autoscaling: {minReplicas: 3, maxReplicas: 2}",
            {"unknown-field", "replicas-reversed"},
        ),
        ("imag: b, autoscaling: {minReplicas: 3, maxReplica: 2}", {"unknown-field"}),
        (f"imag: b, workload: batch, {NIGHTLY}", {"unknown-field", "time-zone-unknown"}),
        (f"worklod: batch, {NIGHTLY}", {"unknown-field", "time-zone-unknown"}),
        (f"workload: bach, {NIGHTLY}", {"unsupported-value", "time-zone-unknown"}),
        (f"workload: serving, {NIGHTLY}", {"invalid-value", "time-zone-unknown"}),
    ],
)
def test_the_values_of_a_refused_model_are_checked_too(fields, expected):
    found = read(POOL, team("a"), model(fields)).findings
    assert {it.rule.name for it in found} == expected


@pytest.mark.parametrize(
    "old, new",
    [
        ("name: p", "name: p\x1b"),
        ("name: p", "name: \x1bp"),
        ("name: p", 'name: "\x1b"'),
        ("name: p}", "name: \x1b}"),
        ("name: p", "na\x1bme: p"),
        ("name: p", "na\x1bm: p"),
        ("nodes: 8", "nodes: 8\x85"),
        ("nodes: 8", "nodes: 8 \x85"),
        ("nodes: 8", "nodes:\x1b 8"),
        ("nodes: 8", "nodes: eight\x07"),
        ("spec:", "\ufeffspec:"),
        ("spec:\n", "spec: # \x1b\n"),
        ("gpu: {", "gpu: {\u2028"),
        ("\napiVersion", "\ufeff\ufeffapiVersion"),
    ],
)
def test_a_forbidden_character_is_one_error(old, new):
    pool = POOL.replace(old, new)
    assert pool != POOL
    assert errors(read(f"{pool}\n---\n{team('a', 'guarantee: 1')}")) == ["yaml-syntax"]


def test_a_forbidden_character_hides_no_other_error():
    text = POOL.replace("name: p", "name: p\x1b").replace("perNode: 8", "perNode: x")
    loaded = read(text, team("b").replace("pool: p", "pool: a-b"))
    assert errors(loaded) == ["yaml-syntax", "wrong-type"]
    assert [it.place.text for it in loaded.findings[1:]] == ["  gpu: {perNode: x}"]
    assert loaded.findings[1].place.column == 18


def test_texts_inside_the_configmap_have_lines_of_the_file():
    loaded = read(QUEUES.replace("priority: 1", "priorty: 1"), POOL)
    [finding] = [it for it in loaded.findings if it.severity == Severity.ERROR]
    assert (finding.place.file, finding.place.line, finding.place.column) == ("0.yaml", 6, 24)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---\n",
        "# nothing\n",
        "null\n",
        "{}\n",
        "[]\n",
        "x\n",
        "kind:\n",
        "apiVersion: policygen.dev/v1alpha1\n",
        "apiVersion: policygen.dev/v1alpha1\nkind: Team\n",
        "apiVersion: policygen.dev/v1alpha1\nkind: Team\nmetadata:\n",
        "apiVersion: policygen.dev/v1alpha1\nkind: Team\nmetadata: {name: {}}\nspec: []\n",
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: a}\nspec: 1\n",
        "apiVersion: policygen.dev/v1alpha1\nkind: Model\nmetadata: {name: a}\nspec: {gang: 1}\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gpu-scheduler-config}\n",
        QUEUES.replace("|", ""),
        QUEUES.replace("queues: [", "queues: [1, {name: }, null, {name: [1]}, "),
        QUEUES.replace("queues:", "- queues:"),
        QUEUES.replace("queues:", "&a queues: *a #"),
    ],
)
def test_no_text_makes_it_fail(text):
    loaded = read(text, POOL, team("a"))
    assert [it.name for it in loaded.spec.pools] == ["p"]


def test_the_work_of_many_teams_and_pools_grows_no_faster_than_they_do(planned_files):
    def teams(count):
        text = "---".join(team(f"t{number}", "guarantee: 1") for number in range(count))
        return planned_files({"0.yaml": POOL.replace("nodes: 8", "nodes: 800"), "1.yaml": text})

    def pools(count):
        text = "---".join(
            POOL.replace("name: p", f"name: p{number}").replace("pool: p", f"pool: p{number}")
            for number in range(count)
        )
        return planned_files({"0.yaml": text})

    for made, kind in ((teams, "LocalQueue"), (pools, "ResourceFlavor")):
        assert growth(lambda made=made: made(30), lambda made=made: made(300)) < 12
        assert len(made(300).of(kind)) == 300
