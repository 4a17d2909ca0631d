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
    (folder / "common" / "deep").mkdir(parents=True)
    (folder / "common" / "deep" / "quota.yaml").write_text("quota: 1\n")
    (folder / "common" / "pools.yaml").symlink_to("../platform/spec/pools.yaml")
    (spec / "shared").symlink_to("../../common")
    (spec / "text").symlink_to("notes.txt")
    (spec / "text.yaml").symlink_to("text")
    (spec / "gone").symlink_to("nowhere")
    (spec / "loop").symlink_to("loop")
    (spec / "teams" / "above").symlink_to("..")
    (spec / "platform").mkdir()  # the name of a folder above
    (spec / "platform" / "copy.yaml").write_text(POOL)
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


@pytest.mark.parametrize(
    ("folder", "path", "top"),
    [
        (".", "platform/spec", "platform/spec"),
        (".", "/platform/spec/", "platform/spec"),
        (".", "./current", "current"),
        ("platform", "current", "current"),
        ("platform", "platform/spec", "platform/spec"),
        ("platform", "./spec", "platform/spec"),
        ("platform/spec/teams", "..", "platform/spec"),
        ("platform/spec/teams", "../../../current/", "current"),
        ("platform/spec", ".", "platform/spec"),
        (".", ".", "."),
        ("platform", "..", "."),
    ],
)
def test_a_folder_of_a_revision_is_read_as_one_on_disk(
    repository, tmp_path, monkeypatch, folder, path, top
):
    """By name, without hidden and other files, through links, and each file once."""
    git(tmp_path, "clone", "-q", "-b", "v1", repository, "disk")
    monkeypatch.chdir(tmp_path / "disk")
    expected, missed = read(top)
    monkeypatch.chdir(repository / folder)
    start = f"git:v1:{path}".rstrip("/")
    found, refused = read(f"git:v1:{path}")
    assert list(found.items()) == [
        (f"{start}{name.removeprefix(top)}", text) for name, text in expected.items()
    ]
    assert refused.keys() == {f"{start}{name.removeprefix(top)}" for name in missed}
    assert {"quota: 1\n", "team: nlp\n", "no spec\n", POOL} == set(found.values())


@pytest.mark.usefixtures("inside")
def test_what_cannot_be_read_of_a_folder_is_refused():
    start = "git:main:platform/spec"
    _, refused = read(start)
    assert refused == {
        f"{start}/latin.yaml": refused[f"{start}/latin.yaml"],
        f"{start}/lost.yaml": "this symbolic link points to a file that does not exist in this revision",
        f"{start}/loop": "this symbolic link points to itself; remove the link",
        f"{start}/out.yaml": "this symbolic link points out of the repository",
        f"{start}/teams/above": (
            "this symbolic link points to a folder that contains the link; remove the link"
        ),
    }
    assert "UTF-8" in refused[f"{start}/latin.yaml"]


@pytest.mark.usefixtures("inside")
def test_a_file_of_two_arguments_is_read_once():
    name = "git:main:common/deep"
    file = f"{name}/quota.yaml"
    assert read(file, name, "git:v1:current/shared/deep/quota.yaml") == ({file: "quota: 1\n"}, {})


def test_submodules_are_refused(tmp_path, monkeypatch):
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "a.yaml").write_text("a: 1\n")
    (tmp_path / "link").symlink_to("module/spec")
    entry = f"160000,{'1' * 40},module"
    git(tmp_path, "add", ".")
    git(tmp_path, "update-index", "--add", "--cacheinfo", entry)
    git(tmp_path, "commit", "-qm", "first")
    monkeypatch.chdir(tmp_path)
    words = (
        "a submodule is another repository, so its files are not read; name a folder without it, or a "
        "folder on disk"
    )
    found = (
        {"git:main:./a.yaml": "a: 1\n"},
        {f"git:main:./{it}": words for it in ("link", "module")},
    )
    assert read("git:main:./") == found
    assert refusal("git:main:module/spec") == words


def test_a_hidden_folder_begins_at_the_top(repository, monkeypatch):
    """As for `git show`, a path begins at the current folder only with `./` or `../`."""
    monkeypatch.chdir(repository / "platform" / "spec")
    assert refusal("git:main:.hidden").endswith("so write for example ./.hidden")
    name = "git:main:./.hidden/no.yaml"
    assert read(name) == ({name: "hidden: true\n"}, {})


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
        ("git:HEAD~5:platform", 'git knows no revision "HEAD~5"; HEAD has only 1 commit'),
        ("git:HAED~0:platform", 'git knows no revision "HAED~0"; did you mean "HEAD~0"?'),
        ("git:mian~2:platform", 'git knows no revision "mian~2"; did you mean "main~2"?'),
        ("git:mian^:platform", 'git knows no revision "mian^"; did you mean "main^"?'),
        ("git:main@{9}:platform", 'git knows no revision "main@{9}"'),
        (
            "git:heads/mian:platform",
            'git knows no revision "heads/mian"; did you mean "heads/main"?',
        ),
        (
            "git:refs/heads/mian:platform",
            'git knows no revision "refs/heads/mian"; did you mean "refs/heads/main"?',
        ),
        (
            "git:origin/relaese~0:platform",
            'git knows no revision "origin/relaese~0"; did you mean "origin/release~0"?',
        ),
        (
            "git:heads/release:platform",
            'git knows no revision "heads/release"; did you mean "origin/release"?',
        ),
        ("git:tags/v11:platform", 'git knows no revision "tags/v11"; did you mean "tags/v1"?'),
        ("git:heads/v1:platform", 'git knows no revision "heads/v1"; did you mean "v1"?'),
        (
            "git:main:platfrm",
            '"platfrm" does not exist in revision "main"; did you mean "platform"?',
        ),
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
        'git knows no revision "HEAD~1"; the clone is shallow; run `git fetch --unshallow`'
    )
    git(repository, "branch", "old", "HEAD")
    assert refusal("git:heads/mian:platform") == (
        'git knows no revision "heads/mian"; did you mean "heads/main"? If not: the clone is shallow; '
        "run `git fetch --depth 1 origin mian:mian`"
    )
    for name, command in (
        ("origin/old", "git fetch --depth 1 origin old:refs/remotes/origin/old"),
        ("old~0", "git fetch --unshallow origin old:old"),
    ):
        assert refusal(f"git:{name}:platform") == (
            f'git knows no revision "{name}"; the clone is shallow; run `{command}`'
        )
        git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", name)
        git(tmp_path / name, *command.split()[1:])
        monkeypatch.chdir(tmp_path / name)
        assert read(f"git:{name}:platform")[0]
        monkeypatch.chdir(tmp_path / "clone")
    assert refusal("git:old:platform") == (
        'git knows no revision "old"; the clone is shallow; run `git fetch --depth 1 origin old:old`'
    )
    git(tmp_path / "clone", "fetch", "-q", "--depth", "1", "origin", "old:old")
    assert read("git:old:platform")
    git(tmp_path / "clone", "fetch", "-q", "origin", "old:refs/remotes/origin/else")
    assert (
        refusal("git:else:platform") == 'git knows no revision "else"; did you mean "origin/else"?'
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
    assert found == ("", b"", "too large", "")


@pytest.mark.usefixtures("inside")
def test_a_file_on_disk_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "git:main:x.yaml").write_text("a: 1\n")
    assert read("git:main:x.yaml") == ({"git:main:x.yaml": "a: 1\n"}, {})
