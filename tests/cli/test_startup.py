"""Commands import only what they need, since imports take half the time of a small lint."""

import json
import subprocess
import sys

import pytest

NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}
CLUSTERS = ["policygen.client.live", "policygen.client.snapshot_file", "policygen.drift.drift"]
SPECS = [
    "policygen.spec.load",
    "policygen.plan.pool",
    "policygen.plan.kubernetes",
    "policygen.plan.compile",
    "jinja2",
]
HEAVY = [
    "kubernetes",
    "urllib3",
    "http.client",
    "email",
    "ssl",
    "hashlib",
    "jsonschema_rs",
    "junitparser",
    "prometheus_client",
    "wcwidth",
    "tempfile",
]


def imported(arguments):
    """The modules that a command has imported."""
    code = (
        "import sys\nfrom policygen.cli import main\nsys.argv[0] = 'policygen'\ntry:\n    main.main()\n"
        "except SystemExit as stop:\n    print(*sys.modules, sep='\\n')\n    raise"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines())


@pytest.mark.parametrize("name, not_needed", [("in.json", ["yaml"]), ("in.yaml", [])])
def test_a_lint_of_manifests_imports_neither_clusters_nor_specs(tmp_path, name, not_needed):
    file = tmp_path / name
    file.write_text(json.dumps(NAMESPACE), "utf-8")
    loaded = imported(["lint", "--manifests", str(file)])
    assert "policygen.lint.registry" in loaded
    assert loaded.isdisjoint([*CLUSTERS, *SPECS, *HEAVY, *not_needed])


def test_the_version_imports_no_rule():
    loaded = imported(["--version"])
    assert loaded.isdisjoint(
        [*CLUSTERS, *SPECS, *HEAVY, "yaml", "msgspec", "policygen.lint.registry"]
    )


@pytest.mark.parametrize("module", ["policygen.cli.main", "click", "policygen.app.render"])
def test_a_ctrl_c_while_it_is_imported_is_quiet(module):
    """Imports take nearly all of a short run. Modules that Python itself imports are not counted."""
    code = (
        "import os, signal, sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {module!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from policygen.__main__ import main\n"
        "sys.argv[1:] = ['schema']\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "")
