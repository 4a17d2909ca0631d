"""A Volcano Job uses an unknown plugin, or uses the plugin mpi without the tasks that mpi needs."""

import re
from typing import Any

from policygen.core.quoting import quoted
from policygen.core.suggest import suggest
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import jobs

_SINCE = {"ray": (1, 13)}
"""The first release of plugins that not every release has."""
_PLUGINS = ("env", "hcclrank", "mpi", "pytorch", "ray", "ssh", "svc", "tensorflow")
_MPI_ROLES = ("master", "worker")
_FLAG = re.compile(r"--?(master|worker|port)(?:=(.*))?", re.DOTALL)

_PORT = re.compile(r"[+-]?(0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO]?[0-7_]*|[1-9][0-9_]*)", re.ASCII)
"""An integer of Go, of any base."""


def check(facts: Facts) -> Hits:
    """MPI needs a master and a worker task, under these names unless its arguments name others.

    Source: pkg/controllers/job/plugins/factory.go; jobs/validate/admit_job.go.
    """
    release = facts.target["volcano"].release
    known = [name for name in _PLUGINS if release >= _SINCE.get(name, release)]
    for spec in jobs.specs(facts.cluster):
        plugins = spec.under("plugins")
        for name, arguments in plugins.data.items():
            if name not in known:
                yield Hit(
                    RULE,
                    f'{spec.owner} has unknown plugin "{name}", which Volcano refuses; '
                    f"{suggest(name, known)}",
                    (plugins.at / name).on_key(),
                )
            elif name == "mpi" and jobs.names_known(spec):
                tasks = dict(jobs.tasks(spec))
                for role, task in _mpi_roles(arguments).items():
                    if task not in tasks:
                        yield Hit(
                            RULE,
                            f"{spec.owner} has plugin mpi but no task {quoted(task)}, which Volcano "
                            f"refuses; give a task this name, or set the argument --{role}= of plugin mpi to the name of an existing task",
                            (plugins.at / name).on_key(),
                        )


def _mpi_roles(arguments: Any) -> dict[str, str]:
    """The tasks that the plugin needs, by role; empty if they are unknown.

    Its arguments are flags of Go: flags before an unknown or invalid one take effect.
    """
    rest = [] if arguments is None else arguments
    if not isinstance(rest, list) or not all(isinstance(argument, str) for argument in rest):
        return {}
    roles = {role: role for role in _MPI_ROLES}
    words = iter(rest)
    for word in words:
        match = _FLAG.fullmatch(word)
        if match is None:
            break
        value = match[2] if match[2] is not None else next(words, None)
        if value is None or (match[1] == "port" and not _PORT.fullmatch(value)):
            break
        if match[1] in roles:
            roles[match[1]] = value
    return roles


RULE = ObjectRule(
    "job-plugin-unknown",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the name of a plugin of Volcano; for plugin mpi, add a master task and a worker task.",
    judges=("Job",),
    check=check,
)
