"""Signs that a pod works only together with a fixed number of other pods, as ranks of a training job do."""

import re
from collections.abc import Collection

from policygen.core.finding import at_path
from policygen.kubernetes.controllers import COMMAND_LINE
from policygen.kubernetes.untyped import mappings, texts
from policygen.kubernetes.workloads import PodTemplate, Workload

_VARIABLES = (
    "MASTER_ADDR",
    "MASTER_PORT",
    "NNODES",
    "NODE_RANK",
    "NUM_NODES",
    "PET_NNODES",
    "PET_NODE_RANK",
    "WORLD_SIZE",
)
"""Environment variables by which launchers find the other ranks. RANK alone can also be the number of an independent part."""
_ALONE = ("1", "localhost", "127.0.0.1")
"""Values of these variables and options in a pod that needs no other."""
_PLUGINS = frozenset({"pytorch", "tensorflow", "mpi"})
"""Plugins of Volcano Jobs that write such variables. Others, such as ssh and svc, are also in jobs whose pods are
independent: see example/hierarchical-jobs of Volcano."""
_OPTION = re.compile(
    r"--(nnodes|num[-_]machines|master[-_]addr|(?:node|machine)[-_]rank|main[-_]process[-_]ip)(?:=|\s+)(\S+)"
)
"""Options of torchrun, accelerate and similar launchers, with their values."""
_HOSTS = re.compile(r"/etc/volcano/\S*\.host\b|\bVC_\w+_HOSTS\b")
"""The hosts of the other pods, which the plugin svc writes."""
_BY_SSH = re.compile(r"\b(?:mpirun|mpiexec|horovodrun)\b")
"""Launchers that start processes in other pods, if these have the plugin ssh."""


def is_rank(workload: Workload, template: PodTemplate, plugins: Collection[str] = ()) -> bool:
    """Whether a pod has such a sign. A range such as NNODES=1:4 means elastic ranks.

    `plugins`: those of a Volcano Job.
    """
    found = [
        (str(variable["name"]), str(variable.get("value", "")))
        for container in template.spec.containers
        for variable in container.env
        if variable.get("name") in _VARIABLES
    ]
    path = (*template.at.path[len(workload.at.path) :], "spec")
    spec = at_path(workload.object.data, path)
    command = " ".join(
        word
        for container in mappings(spec if isinstance(spec, dict) else {}, "containers")
        for field in COMMAND_LINE
        for word in texts(container, field)
    )
    found += _OPTION.findall(command)
    # A written rank does not show how many there are.
    values = [
        it.strip("'\"")
        for name, it in found
        if not (name.lower().endswith("rank") and it.isdigit())
    ]
    if any(":" in value or value in _ALONE for value in values):
        return False
    return bool(
        values
        or not _PLUGINS.isdisjoint(plugins)
        or _HOSTS.search(command)
        or ("ssh" in plugins and _BY_SSH.search(command))
    )
