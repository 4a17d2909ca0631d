"""Fixes as files: delete commands go into a separate script."""

import json
import subprocess

from policygen.core.finding import At
from policygen.drift.patches import Act, PatchStep
from policygen.drift.scripts import DELETE, MEND, RECREATE, files, safe
from policygen.kubernetes.object import Object


def thing(name):
    return Object(At(0), "v1", "ConfigMap", name, "a b", {})


STEPS = [
    PatchStep(Act.PATCH, thing("p"), patch=({"op": "remove", "path": "/x"},)),
    PatchStep(Act.CREATE, thing("c"), text="created"),
    PatchStep(Act.RECREATE, thing("r"), text="again"),
    PatchStep(Act.RECREATE, thing("h"), text="held", held=True),
    PatchStep(Act.DELETE, thing("$(d)")),
]


def test_each_step_has_its_file_and_each_act_its_script():
    made = files(STEPS, "east", ["kubectl"])
    assert sorted(made) == [
        DELETE,
        "manifests/2-configmap-a-b-c.yaml",
        "manifests/3-configmap-a-b-r.yaml",
        "manifests/4-configmap-a-b-h.yaml",
        MEND,
        "patches/1-configmap-a-b-p.json",
        RECREATE,
    ]
    assert json.loads(made["patches/1-configmap-a-b-p.json"]) == [{"op": "remove", "path": "/x"}]
    assert made["manifests/2-configmap-a-b-c.yaml"] == "created"
    assert "delete" not in made[MEND]
    assert made[RECREATE].count("finalizers") == 1
    assert set(files(STEPS[:1], "east", ["kubectl"])) == {MEND, "patches/1-configmap-a-b-p.json"}


def test_a_script_runs_all_commands_and_fails_if_one_does(tmp_path):
    path = tmp_path / "delete.sh"
    for command, code in (("echo", 0), ("false", 1)):
        path.write_text(files(STEPS, "a\nb", [command])[DELETE])
        done = subprocess.run(["sh", path], capture_output=True, text=True, check=False)
        assert done.returncode == code
    path.write_text(files(STEPS, "east", ["echo"])[DELETE])
    done = subprocess.run(["sh", path], capture_output=True, text=True, check=True)
    assert done.stdout == "delete configmaps $(d) -n a b\n"


def test_a_name_that_is_safe_in_a_path():
    assert safe("arn:aws/../x y") == "arn-aws-..-x-y"
    assert safe("../") == "cluster"
