"""Documents of all forms to one spec, and what is judged when a part is refused."""

import pytest

from policygen.app.requests import parse_targets
from policygen.core.errors import UsageError
from policygen.core.rule import Severity
from policygen.core.versions import Version
from policygen.documents.files import Source
from policygen.spec.load import load
from tests.counting import growth

POOL = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: p}
spec:
  nodeSelector: {pool: p}
  gpu: {perNode: 8}
  capacity: {nodes: 8, nodeAllocatable: {cpu: 96, memory: 768Gi}}
"""

PLATFORM = """
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: set}
spec: {target: {kueue: '0.15'}, priorities: [{name: high, value: 1}]}
"""

QUEUES = """
apiVersion: v1
kind: ConfigMap
metadata: {name: gpu-scheduler-config}
data:
  scheduler-config.yaml: |
    queues: [{name: a, priority: 1}, {name: b}]
"""


def team(name, quota="", more=""):
    return f"""
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {{name: {name}}}
spec:
  namespaces: [{{name: {name}}}]
  quotas: [{{pool: p{quota and ", "}{quota}}}]
{more}"""


def read(*texts, **options):
    sources = [
        Source(f"{number}.yaml", text.lstrip("\n"), None) for number, text in enumerate(texts)
    ]
    return load(sources, **options)


def errors(loaded):
    return [it.rule.name for it in loaded.findings if it.severity == Severity.ERROR]


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


def test_second_document_of_a_name_is_left_out_whatever_it_says():
    second = team("a", "guarantee: 5, limit: 4", "  parent: nobody\n")
    loaded = read(POOL, team("a", "guarantee: 3"), second)
    assert errors(loaded) == ["object-declared-twice", "unknown-reference"]
    [it] = loaded.spec.teams
    assert it.quotas[0].guarantee == (("", 3),)


def test_second_document_is_told_where_the_first_is():
    loaded = read(POOL, POOL)
    [finding] = [it for it in loaded.findings if it.rule.name == "object-declared-twice"]
    assert (finding.place.file, finding.place.line) == ("1.yaml", 3)
    assert 'ResourcePool "p" is already declared in 0.yaml:3' in finding.message


def test_a_refused_document_has_its_name_too():
    broken = POOL.replace("nodes: 8", "nodes: 0")
    for texts in ((broken, POOL), (POOL, broken)):
        found = errors(read(*texts))
        assert sorted(found) == ["object-declared-twice", "out-of-range"]


def test_names_in_messages_about_identities_are_short_and_printable():
    name = "x" * 5000
    loaded = read(
        POOL.replace("name: p", f"name: {name}"), POOL.replace("name: p", f"name: {name}")
    )
    assert loaded.findings
    assert all(len(it.message) < 300 and it.message.isprintable() for it in loaded.findings)


def test_what_was_not_read_may_hold_anything():
    text = team("a", more="  parent: elsewhere\n").replace("pool: p", "pool: there")
    assert errors(read(text)) == ["unknown-reference"] * 2
    assert errors(read(text, complete=False)) == []


def test_reading_in_part_leaves_no_false_errors_in_what_is_judged():
    """Of a refused spec only sums are judged further, and only those that are certain."""
    loaded = read(
        PLATFORM.replace("value: 1", "value: one"),
        POOL,
        POOL.replace("name: p", "name: q").replace("nodes: 8", "nodes: x"),
        team("a", "cpu: {guarantee: 1Zi}"),
        team("b", "guarantee: 1"),
        team("c", "guarantee: 1", "  parent: a\n"),
    )
    assert {"wrong-type", "invalid-value"} <= set(errors(loaded))
    assert [it.name for it in loaded.sound.pools] == ["p"]
    assert [it.name for it in loaded.sound.teams] == ["b", "c"]
    assert loaded.sound.models == ()
    # Its default scheduler may have been among what the Platform says.
    assert [it.scheduler for it in loaded.sound.pools] == ["kueue"]


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


def test_an_alias_bomb_may_still_be_somebodys_child():
    bomb = "\n".join(
        f"  {key}: &{key} [{', '.join([f'*{before}'] * 10)}]"
        for before, key in zip("abcd", "bcde", strict=True)
    )
    child = team("child", more=f"  parent: inner\n  a: &a [{', '.join('x' * 10)}]\n{bomb}\n")
    inner = team("inner").replace("[{name: inner}]", "[]")
    assert errors(read(POOL, inner)) == ["team-without-namespaces"]
    assert errors(read(POOL, inner, child)) == ["alias-bomb"]
