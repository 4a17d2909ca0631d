"""The name of an output decides whether it is a file or a folder."""


def test_one_file(run, spec, tmp_path):
    target = tmp_path / "manifests.YAML"
    assert run("render", spec, "-o", target)[0] == 0
    _, out, _ = run("render", spec)
    assert target.read_text() == out
    assert run("render", spec, "-o", target, "--check")[0] == 0
    target.write_text("# mine\n")
    assert run("render", spec, "-o", target, "--check")[0] == 1
    code, _, err = run("render", spec, "-o", target)
    assert code == 2
    assert "was not written by policygen" in err
    assert target.read_text() == "# mine\n"


def test_the_name_decides_whether_it_is_a_file_or_a_folder(run, spec, tmp_path):
    """The same rule holds for --check and for writing."""
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "file").write_text("")
    for name, said in (("folder.yaml", "is a folder"), ("file", "is a file")):
        for more in ((), ("--check",)):
            code, out, err = run("render", spec, "-o", tmp_path / name, *more)
            assert (code, out) == (2, "")
            assert f"{name} {said}" in err
