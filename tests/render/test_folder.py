"""The output folder: all files are written or no file, and other files are kept."""

import fcntl
import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from policygen.core.errors import UsageError
from policygen.render.folder import INDEX, Changes
from policygen.render.output import check, write_file, write_folder
from tests.render.items import NEW, OLD, expected, files, manifest, refusal


def test_a_folder_gets_one_file_an_object(tmp_path):
    folder = tmp_path / "deep" / "out"
    objects = [
        manifest("a", kind="LocalQueue", namespace="team-a"),
        manifest("a", kind="ClusterQueue"),
        manifest("a", kind="Queue", api="x.dev/v1"),
        manifest("a", kind="Queue", api="scheduling.volcano.sh/v1beta1"),
        manifest("system:a", kind="ClusterRole", api="v1"),
    ]
    assert write_folder(objects, folder) == Changes(5, 0, 0)
    assert list(files(folder)) == [
        "clusterqueue.a.yaml",
        "clusterrole.system:a.yaml",
        "localqueue.team-a.a.yaml",
        "queue.scheduling.volcano.sh.a.yaml",
        "queue.x.dev.a.yaml",
    ]


def test_a_second_run_changes_only_what_changed(tmp_path):
    assert write_folder(OLD, tmp_path) == Changes(4, 0, 0)
    index = (tmp_path / INDEX).read_text()
    for path in tmp_path.iterdir():
        os.utime(path, (1, 1))
    assert write_folder(OLD, tmp_path) == Changes(0, 0, 4)
    assert {path.stat().st_mtime for path in tmp_path.iterdir()} == {1}
    assert write_folder(NEW, tmp_path) == Changes(3, 1, 1)
    assert files(tmp_path) == expected(NEW)
    assert (tmp_path / "queue.a.yaml").stat().st_mtime == 1
    write_folder(OLD, tmp_path)
    assert (tmp_path / INDEX).read_text() == index


def test_a_folder_of_another_spec_with_the_same_set_is_refused(tmp_path):
    write_folder(OLD, tmp_path)
    message = refusal(write_folder, [manifest("other")], tmp_path)
    assert "only files of teams that this spec does not have, such as queue.a.yaml" in message
    assert files(tmp_path) == expected(OLD)


def test_a_spec_whose_objects_all_have_other_names_replaces_its_files(tmp_path):
    head = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: "
    old, new, other = (
        manifest(name, head + f"{{name: {name}, namespace: {space}}}")
        for name, space in (("a100", "nlp"), ("h100", "nlp"), ("l4", "render"))
    )
    write_folder([old], tmp_path)
    refusal(write_folder, [other], tmp_path)
    assert write_folder([new], tmp_path) == Changes(1, 1, 0)
    assert files(tmp_path) == expected([new])


def test_what_others_put_there_stays(tmp_path):
    (tmp_path / "kustomization.yaml").write_text("mine")
    (tmp_path / "queue.mine.yaml").write_text("mine")
    (tmp_path / "sub").mkdir()
    write_folder(OLD, tmp_path)
    write_folder([], tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        INDEX,
        "kustomization.yaml",
        "queue.mine.yaml",
        "sub",
    ]


def test_permissions_of_a_replaced_file_are_kept(tmp_path):
    write_folder(OLD, tmp_path)
    (tmp_path / "queue.b.yaml").chmod(0o640)
    write_folder(NEW, tmp_path)
    assert (tmp_path / "queue.b.yaml").stat().st_mode & 0o777 == 0o640


def test_files_edited_by_hand_or_foreign_are_all_named_and_nothing_is_changed(tmp_path):
    write_folder(OLD, tmp_path)
    (tmp_path / "queue.b.yaml").write_text("edited")
    (tmp_path / "queue.gone.yaml").write_text("edited")
    (tmp_path / "queue.d.yaml").write_text("foreign")
    (tmp_path / "queue.a.yaml").unlink()
    (tmp_path / "queue.a.yaml").mkdir()
    before = sorted(path.name for path in tmp_path.iterdir())
    assert refusal(write_folder, NEW, tmp_path) == (
        f"nothing was written to {tmp_path}: queue.a.yaml was edited after policygen wrote it, "
        "queue.b.yaml was edited after policygen wrote it, queue.d.yaml was not written by "
        "policygen, queue.gone.yaml was edited after policygen wrote it; move these files away, "
        "or render into another folder"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert (tmp_path / "queue.b.yaml").read_text() == "edited"
    assert (tmp_path / "queue.c.yaml").read_text() == OLD[2].text


def test_an_equal_file_that_policygen_did_not_write_is_not_taken_over(tmp_path):
    (tmp_path / "queue.a.yaml").write_text(OLD[0].text)
    assert "queue.a.yaml was not written by policygen" in refusal(write_folder, OLD, tmp_path)


def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path):
    target = tmp_path / "target"
    target.write_text(OLD[0].text)
    folder = tmp_path / "out"
    write_folder(OLD, folder)
    (folder / "queue.a.yaml").unlink()
    (folder / "queue.a.yaml").symlink_to(target)
    assert "queue.a.yaml was edited" in refusal(write_folder, NEW, folder)
    assert target.read_text() == OLD[0].text


def test_files_that_someone_removed_or_a_power_cut_emptied_are_written_again(tmp_path):
    write_folder(OLD, tmp_path)
    (tmp_path / "queue.b.yaml").write_text("")
    (tmp_path / "queue.c.yaml").unlink()
    (tmp_path / "queue.gone.yaml").unlink()
    assert write_folder(NEW, tmp_path) == Changes(3, 0, 1)
    assert files(tmp_path) == expected(NEW)


@pytest.mark.parametrize(
    "index",
    ["", "{", "[]", "{}", '{"version": 2, "files": {}}', '{"version": 1, "files": {"../x": []}}'],
)
def test_an_index_that_cannot_be_trusted_is_refused(tmp_path, index):
    write_folder(OLD, tmp_path)
    (tmp_path / INDEX).write_text(index)
    for function in (write_folder, check):
        assert f"{tmp_path / INDEX} is damaged" in refusal(function, NEW, tmp_path)
    assert files(tmp_path) == expected(OLD)


def test_names_that_cannot_be_files_are_refused(tmp_path):
    folder = tmp_path / "out"
    assert "the name of Queue '../../x' cannot be a file name" in refusal(
        write_folder, [manifest("../../x")], folder
    )
    assert "both be written to queue.a.yaml" in refusal(write_folder, [OLD[0], OLD[0]], folder)
    assert "cannot be written: File name too long" in refusal(
        write_folder, [manifest("x" * 300)], folder
    )
    assert not folder.exists()


class BrokenError(Exception):
    pass


@pytest.mark.parametrize("fails_at", range(1, 7))
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), BrokenError()])
def test_a_run_that_fails_at_any_rename_is_finished_by_the_next(
    tmp_path, monkeypatch, fails_at, error
):
    """Five renames: the journal, three files, the index."""
    write_folder(OLD, tmp_path)
    (tmp_path / "mine.yaml").write_text("mine")
    real, calls = os.replace, []

    def failing(*arguments, **options):
        calls.append(arguments)
        if len(calls) == fails_at:
            raise error
        return real(*arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", failing)
        if fails_at < 6:
            with pytest.raises((UsageError, BrokenError)) as raised:
                write_folder(NEW, tmp_path)
            assert isinstance(error, BrokenError) or "No space left on device" in str(raised.value)
        else:
            write_folder(NEW, tmp_path)
            assert len(calls) == 5

    old, new = expected(OLD), expected(NEW)
    seen = files(tmp_path)
    assert seen.pop("mine.yaml") == "mine"
    for name, content in seen.items():
        assert content in (old.get(name), new.get(name)), name
    if fails_at == 1:
        assert seen == old

    write_folder(NEW, tmp_path)
    assert files(tmp_path) == {**new, "mine.yaml": "mine"}
    (tmp_path / "queue.b.yaml").write_text("edited")
    assert "queue.b.yaml was edited" in refusal(write_folder, OLD, tmp_path)


KILLED = """
import os, pickle, sys
from pathlib import Path
from policygen.render import output
manifests, names = pickle.load(sys.stdin.buffer)
real, left = os.replace, int(sys.argv[2])
def killing(*arguments):
    global left
    left -= 1
    if not left:
        os._exit(9)
    return real(*arguments)
os.replace = killing
output._named = lambda _: names
output.write_folder(manifests, Path(sys.argv[1]))
"""


@pytest.mark.parametrize("killed_at", [1, 3, 5])
def test_a_run_that_was_killed_is_finished_by_the_next(tmp_path, killed_at):
    write_folder(OLD, tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, tmp_path, str(killed_at)],
        input=pickle.dumps(([], expected(NEW))),
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 9
    assert (tmp_path / ".policygen.staging").is_dir()
    write_folder(NEW, tmp_path)
    assert files(tmp_path) == expected(NEW)


def test_an_interrupted_first_run_can_render_something_else_next(tmp_path, monkeypatch):
    def failing(source, target):
        if Path(target).name == "queue.c.yaml":
            raise OSError(5, "Input/output error")
        return real(source, target)

    real = os.replace
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", failing)
        assert "2 of 4 files must still be written" in refusal(write_folder, OLD, tmp_path)
    assert sorted(files(tmp_path)) == ["queue.a.yaml", "queue.b.yaml"]
    write_folder([manifest("other")], tmp_path)
    assert sorted(files(tmp_path)) == ["queue.other.yaml"]


def test_a_full_disk_changes_nothing(tmp_path):
    write_folder(OLD, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    big = [manifest(name, "x: " + "y" * 9000) for name in "abc"]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6000, hard))
    try:
        said = refusal(write_folder, big, tmp_path)
        single = refusal(write_file, big, tmp_path / "all.yaml")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert said == f"{tmp_path} cannot be written: File too large"
    assert single == f"{tmp_path}/all.yaml cannot be written: File too large"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.fixture
def read_only():
    """A folder that this process may read and not write, even where tests run as root."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_folder(OLD, folder)
        folder.chmod(0o555)
        if os.geteuid() == 0:
            os.seteuid(65534)
            yield folder
            os.seteuid(0)
        else:
            yield folder
        folder.chmod(0o755)


def test_a_folder_that_cannot_be_written_is_one_clear_line(read_only):
    assert (
        refusal(write_folder, NEW, read_only) == f"{read_only} cannot be written: Permission denied"
    )
    assert "cannot be written: Permission denied" in refusal(write_folder, NEW, read_only / "new")
    assert "cannot be written: Permission denied" in refusal(write_file, NEW, read_only / "x.yaml")
    assert files(read_only) == expected(OLD)


def test_two_runs_at_once_do_not_mix(tmp_path):
    write_folder(OLD, tmp_path)
    with (tmp_path / ".policygen.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert refusal(write_folder, NEW, tmp_path) == (
            f"another policygen is writing to {tmp_path}; wait until it has finished, then run the command again"
        )
    assert files(tmp_path) == {**expected(OLD), ".policygen.lock": ""}
    write_folder(NEW, tmp_path)  # a lock file without a lock is what a killed run leaves
    assert files(tmp_path) == expected(NEW)


def test_the_index_describes_itself(tmp_path):
    write_folder(OLD, tmp_path)
    index = json.loads((tmp_path / INDEX).read_text())
    assert sorted(index) == ["about", "files", "version"]
    assert {len(digests) for digests in index["files"].values()} == {1}


def test_kubectl_and_argo_cd_do_not_read_the_index_as_a_manifest(tmp_path):
    """They read files that end in .yaml, .yml or .json."""
    write_folder(OLD, tmp_path)
    assert Path(INDEX).suffix == ".index"
    (tmp_path / INDEX).rename(tmp_path / ".policygen.json")
    assert write_folder(OLD, tmp_path) == Changes(0, 0, 4)
    assert sorted(it.name for it in tmp_path.iterdir() if it.name.startswith(".")) == [INDEX]
    (tmp_path / INDEX).rename(tmp_path / ".policygen.json")
    assert write_folder(NEW, tmp_path) == Changes(3, 1, 1)
    assert files(tmp_path) == expected(NEW)
