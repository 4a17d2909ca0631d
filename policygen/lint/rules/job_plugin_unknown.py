"""A job of Volcano names a plugin that there is not, or that lacks its tasks."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint import volcano_jobs
from policygen.lint.rule import Claim, Facts, Family, Rule
from policygen.lint.volcano_jobs import names_known, task_name
from policygen.spec.nearest import suggest

_SINCE = {"ray": (1, 13)}
"""The first release of plugins that not every one has."""
_PLUGINS = ("env", "hcclrank", "mpi", "pytorch", "ray", "ssh", "svc", "tensorflow")
_MPI_ROLES = ("master", "worker")


def check(facts: Facts) -> Iterator[Claim]:
    """MPI needs a master and a worker, under those names unless its arguments say others.

    Source: pkg/controllers/job/plugins/factory.go; jobs/validate/admit_job.go.
    """
    release = facts.target["volcano"].release
    known = [name for name in _PLUGINS if release >= _SINCE.get(name, release)]
    for spec in volcano_jobs.specs(facts.cluster):
        plugins = spec.under("plugins")
        for name, arguments in plugins.data.items():
            if name not in known:
                yield Claim(
                    f'{spec.owner} has plugin "{name}", which Volcano does not have: it is refused; '
                    f"{suggest(name, known)}",
                    (plugins.at / name).on_key(),
                )
            elif name == "mpi" and not arguments and names_known(spec):
                tasks = {task_name(i, task) for i, task in enumerate(spec.items("tasks"))}
                for role in _MPI_ROLES:
                    if role not in tasks:
                        yield Claim(
                            f"{spec.owner} has plugin mpi and no task {role}, which is refused; name "
                            f"a task so, or write its name as argument --{role}=",
                            (plugins.at / name).on_key(),
                        )


RULE = Rule("job-plugin-unknown", Severity.ERROR, Family.INVALID, judges=("Job",), check=check)
