"""Names that refused documents may define cause no errors in other documents."""

from tests.spec.specs import POOL, errors, read, team


def test_what_was_not_read_may_hold_anything():
    text = team("a", more="  parent: elsewhere\n").replace("pool: p", "pool: there")
    assert errors(read(text)) == ["unknown-reference"] * 2
    assert errors(read(text, complete=False)) == []


def test_an_alias_bomb_may_still_be_somebodys_child():
    bomb = "\n".join(
        f"  {key}: &{key} [{', '.join([f'*{before}'] * 10)}]"
        for before, key in zip("abcd", "bcde", strict=True)
    )
    child = team("child", more=f"  parent: inner\n  a: &a [{', '.join('x' * 10)}]\n{bomb}\n")
    inner = team("inner").replace("[{name: inner}]", "[]")
    assert errors(read(POOL, inner)) == ["team-without-namespaces"]
    assert errors(read(POOL, inner, child)) == ["alias-bomb"]
