"""A job of Volcano names a plugin that there is not, or that lacks its tasks."""

import re
from collections.abc import Iterator
from typing import Any

from policygen.core.finding import Hit
from policygen.core.quoting import quoted
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano import jobs
from policygen.lint.volcano.jobs import names_known, task_name

_SINCE = {"ray": (1, 13)}
"""The first release of plugins that not every one has."""
_PLUGINS = ("env", "hcclrank", "mpi", "pytorch", "ray", "ssh", "svc", "tensorflow")
_MPI_ROLES = ("master", "worker")
_FLAG = re.compile(r"--?(master|worker|port)(?:=(.*))?", re.DOTALL)


def check(facts: Facts) -> Iterator[Hit]:
    """MPI needs a master and a worker, under those names unless its arguments say others.

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
                    f'{spec.owner} has plugin "{name}", which Volcano does not have: it is refused; '
                    f"{suggest(name, known)}",
                    (plugins.at / name).on_key(),
                )
            elif name == "mpi" and names_known(spec):
                tasks = {task_name(i, task) for i, task in enumerate(spec.items("tasks"))}
                for role, task in _mpi_roles(arguments).items():
                    if task not in tasks:
                        yield Hit(
                            RULE,
                            f"{spec.owner} has plugin mpi and no task {quoted(task)}, which is "
                            f"refused; name a task so, or write its name as argument --{role}=",
                            (plugins.at / name).on_key(),
                        )


def _mpi_roles(arguments: Any) -> dict[str, str]:
    """The tasks that the plugin looks for, by role; empty where that is not known.

    Its arguments are Go's flags: what is read before one that is unknown holds.
    """
    rest = [] if arguments is None else arguments
    if not isinstance(rest, list) or not all(isinstance(it, str) for it in rest):
        return {}
    roles = {role: role for role in _MPI_ROLES}
    words = iter(rest)
    for word in words:
        match = _FLAG.fullmatch(word)
        if match is None:
            break
        value = match[2] if match[2] is not None else next(words, None)
        if match[1] == "port":
            if value is None or not value.isdecimal():
                return {}
        elif value is None:
            break
        else:
            roles[match[1]] = value
    return roles


RULE = ObjectRule(
    "job-plugin-unknown", Severity.ERROR, Family.INVALID, __doc__, judges=("Job",), check=check
)
