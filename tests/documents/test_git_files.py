"""Files of a git revision, in a real repository."""

import subprocess

import pytest

from policygen.documents import files, git_files

POOL = "apiVersion: policygen.dev/v1\nkind: Pool\n"


def git(folder, *arguments):
    author = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    command = ["git", *author, *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A repository whose branch main has other files than its folder."""
    folder = tmp_path_factory.mktemp("repository")
    git(folder, "init", "-q", "-b", "main")
    spec = folder / "platform" / "spec"
    (spec / "teams").mkdir(parents=True)
    (spec / ".hidden").mkdir()
    (spec / "pools.yaml").write_text(POOL)
    (spec / "teams" / "ä nlp.yml").write_text("team: nlp\n")
    (spec / "teams.yaml").symlink_to("teams/ä nlp.yml")
    (spec / "lost.yaml").symlink_to("../nowhere.yaml")
    (spec / "out.yaml").symlink_to("/etc/hostname.yaml")
    (spec / "folder.yaml").symlink_to("teams")
    (spec / "latin.yaml").write_bytes(b"name: \xe4\n")
    (spec / ".hidden" / "no.yaml").write_text("hidden: true\n")
    (spec / "notes.txt").write_text("no spec\n")
    (folder / "current").symlink_to("platform/spec")
    (folder / "empty").mkdir()
    (folder / "empty" / "notes.txt").write_text("no spec\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    git(folder, "tag", "v1")
    (spec / "pools.yaml").write_text("changed: true\n")
    git(folder, "update-ref", "refs/remotes/origin/release", "v1")
    return folder


@pytest.fixture
def inside(repository, monkeypatch):
    monkeypatch.chdir(repository)


def read(*arguments):
    sources, findings = files.read(arguments)
    return {it.name: it.text for it in sources}, {it.place.file: it.message for it in findings}


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize("revision", ["main", "HEAD", "v1", "main~0", "HEAD^{/first}"])
def test_a_file_of_a_revision(revision):
    name = f"git:{revision}:platform/spec/pools.yaml"
    assert read(name, name) == ({name: POOL}, {})


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize("path", ["platform/spec", "platform/spec/", "./current"])
def test_a_folder_of_a_revision(path):
    """As a folder on disk: by name, without hidden and other files, and through links."""
    name = f"git:main:{path}"
    start = name.rstrip("/")
    found, refused = read(name)
    assert list(found) == [
        f"{start}/pools.yaml",
        f"{start}/teams/ä nlp.yml",
        f"{start}/teams.yaml",
    ]
    assert found[f"{start}/pools.yaml"] == POOL
    assert found[f"{start}/teams.yaml"] == "team: nlp\n"
    assert refused == {
        f"{start}/folder.yaml": "this symbolic link points to a folder; name the folder itself",
        f"{start}/latin.yaml": refused[f"{start}/latin.yaml"],
        f"{start}/lost.yaml": "this symbolic link points to a file that does not exist in this revision",
        f"{start}/out.yaml": "this symbolic link points out of the repository",
    }
    assert "UTF-8" in refused[f"{start}/latin.yaml"]


def test_paths_begin_at_the_top_of_the_repository_or_with_a_dot(repository, monkeypatch):
    monkeypatch.chdir(repository / "platform")
    for name in ("git:main:platform/spec/pools.yaml", "git:main:./spec/pools.yaml"):
        assert read(name) == ({name: POOL}, {})


def refusal(argument):
    found, (message,) = read(argument)[0], read(argument)[1].values()
    assert not found
    return message


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("git:mian:platform", 'git knows no revision "mian"; did you mean "main"?'),
        ("git:release:platform", 'git knows no revision "release"; did you mean "origin/release"?'),
        ("git:-x:platform", 'git knows no revision "-x"'),
        ("git:main:platfrm", '"platfrm" does not exist in revision "main"'),
        ("git:main:platform/spec/pools.yaml/x", '"platform/spec/pools.yaml/x" does not exist'),
        ("git:main:../spec", "this path is outside the repository"),
        ("git:main", "write git:REVISION:PATH, such as git:main:platform/spec"),
        ("git::spec", "write git:REVISION:PATH, such as git:main:platform/spec"),
        ("git:main:empty", "this folder contains no .yaml, .yml or .json file"),
        ("git:main:platform/spec/lost.yaml", "this symbolic link points to a file that does not"),
    ],
)
def test_what_cannot_be_read(argument, message):
    assert refusal(argument).startswith(message)


def test_a_path_of_the_current_folder_needs_a_dot(repository, monkeypatch):
    monkeypatch.chdir(repository / "platform")
    assert refusal("git:main:spec").endswith(
        "; paths begin at the top of the repository, so write for example ./spec"
    )


def test_a_shallow_clone_names_what_to_fetch(repository, tmp_path, monkeypatch):
    (repository / "later.yaml").write_text("later: true\n")
    git(repository, "add", "later.yaml")
    git(repository, "commit", "-qm", "second")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", "clone")
    git(repository, "reset", "-q", "--soft", "HEAD~1")
    git(repository, "rm", "-q", "--cached", "later.yaml")
    monkeypatch.chdir(tmp_path / "clone")
    assert refusal("git:HEAD~1:platform") == (
        'git knows no revision "HEAD~1"; the clone is shallow; run `git fetch --unshallow`, or fetch the '
        "revision by its name"
    )


def test_outside_a_repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert refusal("git:main:spec") == (
        "the current folder is not in a git repository; change to the repository"
    )


@pytest.mark.usefixtures("inside")
def test_without_git(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert refusal("git:main:spec") == (
        "git is not installed; install git, or name a file or a folder"
    )


@pytest.mark.usefixtures("inside")
def test_a_large_file_is_not_read():
    (found,) = git_files.read("main:platform/spec/pools.yaml", (".yaml",), 10, "too large")
    assert found == ("", b"", "too large")


@pytest.mark.usefixtures("inside")
def test_a_file_on_disk_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "git:main:x.yaml").write_text("a: 1\n")
    assert read("git:main:x.yaml") == ({"git:main:x.yaml": "a: 1\n"}, {})
