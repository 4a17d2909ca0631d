"""Kinds and names are unique in a spec."""

from tests.spec.specs import POOL, errors, read, team


def test_second_document_of_a_name_is_skipped_with_any_content():
    second = team("a", "guarantee: 5, limit: 4", "  parent: nobody\n")
    loaded = read(POOL, team("a", "guarantee: 3"), second)
    assert errors(loaded) == ["object-declared-twice", "unknown-reference"]
    [it] = loaded.spec.teams
    assert it.quotas[0].guarantee == (("", 3),)


def test_second_document_is_reported_with_the_position_of_the_first():
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
