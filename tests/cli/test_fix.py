"""`policygen lint --fix` as a user calls it."""

import json
import subprocess
import sys
from functools import partial

import pytest
from click.testing import CliRunner

from policygen.cli.main import cli
from policygen.documents.edit import rewrite
from tests.app.test_fix import MERGED

QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta1   # to be renewed
kind: ClusterQueue
metadata: {name: a}
spec:
  namespaceSelector: {}
  cohort: b
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: a, namespace: b}
spec:
  hard:
    nvidia.com/gpu: "4"
"""
SAFE = QUEUE.replace("v1beta1 ", "v1beta2 ").replace("cohort:", "cohortName:")
UNSAFE = SAFE.replace("nvidia.com/gpu", "requests.nvidia.com/gpu")
DIFF = """\
--- a/queue.yaml
+++ b/queue.yaml
@@ -1,9 +1,9 @@
-apiVersion: kueue.x-k8s.io/v1beta1   # to be renewed
+apiVersion: kueue.x-k8s.io/v1beta2   # to be renewed
 kind: ClusterQueue
 metadata: {name: a}
 spec:
   namespaceSelector: {}
-  cohort: b
+  cohortName: b
 ---
 apiVersion: v1
 kind: ResourceQuota
"""


@pytest.fixture
def lint(tmp_path, policygen):
    (tmp_path / "queue.yaml").write_text(QUEUE)
    return partial(policygen, "lint", "--partial")


@pytest.fixture
def splices(monkeypatch):
    """The number of fixes in each call of `rewrite.splices`."""
    found, function = [], rewrite.splices

    def counting(document, fixes):
        found.append(len(fixes))
        return function(document, fixes)

    monkeypatch.setattr(rewrite, "splices", counting)
    return found


def test_lint_reports_how_many_findings_can_be_fixed(lint):
    done = lint("--manifests", "queue.yaml")
    assert done.stdout.splitlines()[-1].endswith("; 1 fixable (--fix), 1 more with --unsafe")
    done = lint("--manifests", "queue.yaml", "--rule", "gpu-quota-counts-nothing")
    assert done.stdout.splitlines()[-1].endswith("; 1 fixable (--fix --unsafe)")


def test_every_summary_has_the_number_of_fixes_and_they_are_planned_once(
    tmp_path, monkeypatch, splices
):
    (tmp_path / "queue.yaml").write_text(QUEUE)
    monkeypatch.chdir(tmp_path)
    formats = [word for it in ("text", "markdown", "html", "json") for word in ("-f", f"{it}={it}")]
    CliRunner().invoke(cli, ["lint", "--partial", "--manifests", "queue.yaml", *formats])
    for name in ("text", "markdown", "html"):
        assert "; 1 fixable (--fix), 1 more with --unsafe" in (tmp_path / name).read_text()
    findings = json.loads((tmp_path / "json").read_text())["findings"]
    assert sorted(str(it["fix"]) for it in findings if it["fix"]) == ["safe", "unsafe"]
    assert splices == [1, 1], "once for each of the two documents"


FRACTION = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: a}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: b
      resources:
      - name: nvidia.com/gpu
        nominalQuota: 4
        borrowingLimit: 0.5
"""
AMOUNTS = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: a, namespace: b}
spec:
  hard:
    nvidia.com/gpu: "4"
    limits.nvidia.com/gpu: "AMOUNT"
"""
TAINTS = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a}
spec:
  nodeLabels: {b: c}
  nodeTaints:
  - {key: d, value: e, effect: NoSchedule}
  - {key: d, value: e, effect: NoSchedule}
  - {key: d, value: e, effect: NoSchedule}
"""


@pytest.mark.parametrize(
    "text, words, counted, fixed",
    [
        (
            FRACTION,
            ["--fix"],
            "; 1 fixable (--fix)",
            "1 finding can be fixed with --write in 1 file (quota-fractional 1)",
        ),
        (MERGED, ["--fix"], None, "nothing to fix"),
        (AMOUNTS.replace("AMOUNT", "8"), ["--fix", "--unsafe"], None, "nothing to fix"),
        (f"{FRACTION}---\na: [\n", ["--fix"], None, "nothing to fix"),
        (
            AMOUNTS.replace("AMOUNT", "4"),
            ["--fix", "--unsafe"],
            "; 2 fixable (--fix --unsafe)",
            "2 findings can be fixed with --write in 1 file (gpu-quota-counts-nothing 2)",
        ),
        (
            AMOUNTS.replace("AMOUNT", "4"),
            ["--fix"],
            "; 2 fixable (--fix --unsafe)",
            "nothing to fix; 2 findings can be fixed with --unsafe",
        ),
        (  # a third finding of the same rule about the same object, without a fix
            AMOUNTS.replace("AMOUNT", "4") + '    example.com/npu: "4"\n',
            ["--fix", "--unsafe"],
            "; 2 fixable (--fix --unsafe)",
            "2 findings can be fixed with --write in 1 file (gpu-quota-counts-nothing 2)",
        ),
        (
            TAINTS,
            ["--fix"],
            "; 2 fixable (--fix)",
            "2 findings can be fixed with --write in 1 file (flavor-taint-twice 2)",
        ),
    ],
)
def test_lint_counts_the_findings_that_fix_removes(lint, tmp_path, text, words, counted, fixed):
    (tmp_path / "it.yaml").write_text(text)
    summary = lint("--manifests", "it.yaml").stdout.splitlines()[-1]
    assert summary.endswith(counted) if counted else "fixable" not in summary
    done = lint(*words, "--manifests", "it.yaml")
    assert f"policygen: {fixed}" in done.stderr.splitlines()


def test_what_comes_from_a_pipe_cannot_be_written(policygen):
    done = policygen("lint", "--fix", "--manifests", "-", given=QUEUE)
    assert done.stderr == (
        "policygen: 1 finding can be fixed in 1 file (kueue-version-outdated 1); 1 more finding can be "
        "fixed with --unsafe; --write cannot change standard input, so pass the file by its path\n"
    )


def test_a_dry_run_shows_a_diff_and_writes_nothing(lint, tmp_path):
    done = lint("--fix", "--manifests", "queue.yaml")
    assert done.stdout == DIFF
    assert done.stderr == (
        "policygen: 1 finding can be fixed with --write in 1 file (kueue-version-outdated 1); "
        "1 more finding can be fixed with --unsafe\n"
    )
    assert done.returncode == 1, "gpu-quota-counts-nothing is an error, and is still there"
    assert (tmp_path / "queue.yaml").read_text() == QUEUE


def test_a_diff_has_only_the_changed_lines(lint, tmp_path):
    lines = [
        "apiVersion: v1",
        "kind: Pod",
        "metadata:",
        "  name: p",
        "  namespace: n",
        "spec:",
        "  containers:",
        "  - name: c",
        "    image: x",
        "    resources:",
        "      requests: {nvidia.com/gpu: 1}",
    ]
    (tmp_path / "pod.yaml").write_text("\n".join(lines) + "\n")
    _, _, _, *diff = lint("--fix", "--manifests", "pod.yaml").stdout.splitlines()
    assert [line for line in diff if line[0] in "+-"] == [
        "-  namespace: n",
        '+  namespace: "n"',
        "+      limits:",
        "+        nvidia.com/gpu: 1",
    ]


def test_the_diff_can_be_applied(lint, tmp_path):
    diff = lint("--fix", "--unsafe", "--manifests", "queue.yaml").stdout
    subprocess.run(["git", "apply", "-"], input=diff, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "queue.yaml").read_text() == UNSAFE


def test_the_diff_of_a_file_with_crlf_can_be_applied(tmp_path):
    file = tmp_path / "queue.yaml"
    file.write_bytes(QUEUE.replace("\n", "\r\n").encode())
    # As bytes: text would have its line breaks read as one.
    done = subprocess.run(
        [sys.executable, "-m", "policygen", "lint", "--partial", "--fix", "--manifests", file.name],
        capture_output=True,
        cwd=tmp_path,
        timeout=120,
        check=False,
    )
    subprocess.run(["git", "apply", "-"], input=done.stdout, cwd=tmp_path, check=True)
    assert file.read_bytes() == SAFE.replace("\n", "\r\n").encode()


def test_a_byte_order_mark_is_kept_and_not_counted_as_a_column(tmp_path):
    file, marked = tmp_path / "queue.yaml", "\ufeff"
    file.write_bytes((marked + QUEUE).encode())

    def lint(*words):
        return subprocess.run(
            [sys.executable, "-m", "policygen", "lint", "--partial", *words, "--manifests", file],
            capture_output=True,
            cwd=tmp_path,
            timeout=120,
            check=False,
        ).stdout

    (first, *_) = [
        it for it in json.loads(lint("-f", "json"))["findings"] if "outdated" in it["rule"]
    ]
    assert (first["place"]["line"], first["place"]["column"]) == (1, 13)
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "queue.yaml"
    other.write_bytes(file.read_bytes())
    diff = lint("--fix").replace(bytes(tmp_path)[1:] + b"/", b"")
    subprocess.run(["git", "apply", "-"], input=diff, cwd=other.parent, check=True)
    lint("--fix", "--write")
    assert file.read_bytes() == other.read_bytes() == (marked + SAFE).encode()


def test_the_diff_names_an_absolute_path_as_git_does(lint, tmp_path):
    done = lint("--fix", "--manifests", str(tmp_path / "queue.yaml"))
    assert done.stdout.startswith(f"--- a{tmp_path}/queue.yaml\n+++ b{tmp_path}/queue.yaml\n")


def test_write_changes_the_file_and_reports_what_is_left(lint, tmp_path):
    done = lint("--fix", "--write", "--manifests", "queue.yaml")
    assert (tmp_path / "queue.yaml").read_text() == SAFE
    assert "gpu-quota-counts-nothing" in done.stdout
    assert "kueue-version-outdated" not in done.stdout
    assert done.stderr == (
        "policygen: fixed 1 finding in 1 file (kueue-version-outdated 1); 1 more finding can be fixed with --unsafe\n"
    )
    assert done.returncode == 1


def test_with_unsafe_nothing_is_left(lint, tmp_path):
    done = lint("--fix", "--write", "--unsafe", "--manifests", "queue.yaml")
    assert (tmp_path / "queue.yaml").read_text() == UNSAFE
    assert done.returncode == 0
    assert done.stderr.startswith("policygen: fixed 2 findings in 1 file ")
    again = lint("--fix", "--unsafe", "--fail-on", "info", "--manifests", "queue.yaml")
    assert (again.returncode, again.stdout) == (0, "")
    assert again.stderr == "policygen: nothing to fix\n"


def test_standard_input_gives_a_diff(lint):
    done = lint("--fix", "--manifests", "-", given=QUEUE)
    assert done.stdout == DIFF.replace("queue.yaml", "<stdin>")


def test_a_report_goes_into_a_file_beside_the_diff(lint, tmp_path):
    done = lint("--fix", "--manifests", "queue.yaml", "-f", "json=report.json")
    assert done.stdout == DIFF
    found = json.loads((tmp_path / "report.json").read_text())["findings"]
    assert {it["rule"] for it in found} == {"kueue-version-outdated", "gpu-quota-counts-nothing"}


def test_a_file_that_must_not_be_written_stays(lint, tmp_path):
    (tmp_path / "queue.yaml").chmod(0o444)
    done = lint("--fix", "--write", "--manifests", "queue.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "queue.yaml is read-only, so --write does not change the file" in done.stderr
    assert (tmp_path / "queue.yaml").read_text() == QUEUE


@pytest.mark.parametrize(
    "arguments", [("queue.yaml",), ("--manifests", "queue.yaml", "--snapshot", "queue.yaml")]
)
def test_only_manifests_can_be_fixed(lint, arguments):
    done = lint("--fix", *arguments)
    assert done.returncode == 2
    assert (
        "--fix changes only manifests; name them with --manifests PATH, and omit options that "
        "name a cluster"
    ) in done.stderr


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("--write",), "--write and --unsafe need --fix; add --fix"),
        (("--unsafe",), "--write and --unsafe need --fix; add --fix"),
        (("--fix", "-f", "sarif"), "--fix prints a diff to standard output"),
        (("--fix", "--write", "--manifests", "-"), "--write cannot change standard input"),
    ],
)
def test_options_that_do_not_go_together(lint, arguments, message):
    done = lint("--manifests", "queue.yaml", *arguments, given=QUEUE)
    assert done.returncode == 2
    assert message in done.stderr
