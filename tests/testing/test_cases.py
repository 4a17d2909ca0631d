"""Which folders are test cases."""

import pytest

from policygen.testing.cases import SHEET, find


@pytest.fixture
def folder(tmp_path):
    """A folder with these files."""

    def make(*names):
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
        return str(tmp_path)

    return make


def names(found):
    return [case.name for case in found.cases]


def test_a_folder_with_findings_is_a_case(folder):
    root = folder(
        f"b/{SHEET}", "b/q.yaml", f"a/deep/{SHEET}", f".git/{SHEET}", "spec.yaml", "note.md"
    )
    found = find(root)
    assert names(found) == ["a/deep", "b"]
    assert found.specs == [f"{root}/spec.yaml"]
    assert found.faults == []
    assert found.cases[1].sheet.is_file()


def test_the_folder_itself_may_be_the_case(folder):
    root = folder(SHEET, "q.yaml")
    assert names(find(root)) == [root.rpartition("/")[2]]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (["a/q.yaml", f"b/{SHEET}"], f"{SHEET} is missing next to q.yaml"),
        ([f"a/{SHEET}", f"a/b/{SHEET}"], "a case cannot be inside another case"),
        ([], "contains no cases"),
        (["q.yaml"], f"{SHEET} is missing next to q.yaml"),
    ],
)
def test_a_path_that_is_not_a_case(folder, files, words):
    (fault,) = find(folder(*files)).faults
    assert words in fault.message


def test_a_path_that_is_not_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    for name, words in (("gone", "does not exist"), ("file", "is not a folder")):
        (fault,) = find(str(tmp_path / name)).faults
        assert words in fault.message


def test_new_cases_need_no_findings_yet(folder):
    root = folder("a/q.yaml", "spec.yaml")
    assert names(find(root, new=True)) == ["a"]
    alone = find(folder("only/q.yaml") + "/only", new=True)
    assert names(alone) == ["only"]
