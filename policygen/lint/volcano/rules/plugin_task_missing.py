"""A plugin of a Volcano Job names a task that the Job does not have, so ranks do not find each other."""

import re
from collections.abc import Iterator, Mapping, Sequence

from policygen.core.quoting import quoted
from policygen.core.suggest import suggest
from policygen.lint.core.pod_templates import Part
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import jobs

_ROLES: Mapping[str, tuple[str, ...]] = {
    "hcclrank": ("master", "worker"),
    "pytorch": ("master", "worker"),
    "ray": ("head", "worker"),
    "tensorflow": ("ps", "worker", "chief", "evaluator"),
}
"""The arguments of each plugin that name tasks. Their defaults are the same words."""
_NEEDED = {"pytorch": "master", "ray": "head"}
"""Arguments whose default must be a task too."""
_EFFECTS = {
    ("pytorch", "master"): "so its pods do not have MASTER_ADDR, RANK and WORLD_SIZE",
    ("pytorch", "worker"): "so its workers do not have RANK",
    ("ray", "head"): "so Volcano creates no pods",
}
_FLAG = re.compile(r"--?([a-z]+)(?:=(.*))?", re.DOTALL)


def check(facts: Facts) -> Hits:
    """The plugin then adds nothing to the pods. The webhook checks only the tasks of plugin mpi.

    Without an argument, only the master of pytorch and the head of ray must exist.
    Source: pkg/controllers/job/plugins/distributed-framework of Volcano 1.14.1, OnPodCreate.
    """
    for spec in jobs.specs(facts.cluster):
        plugins = spec.under("plugins")
        for plugin, roles in _ROLES.items() if plugins.data else ():
            if plugin in plugins.data and jobs.names_known(spec):
                yield from _missing(spec, plugins, plugin, roles)


def _missing(spec: Part, plugins: Part, plugin: str, roles: Sequence[str]) -> Hits:
    written = plugins.data[plugin]
    words = [] if written is None else written
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return
    tasks = [name for name, _ in jobs.tasks(spec)]
    if len({*tasks}) < len(tasks):
        return  # job-task-twice reports it, and one of them can be meant
    lowered = [it.lower() for it in tasks]  # invalid-value reports upper case
    named: dict[str, tuple[int | None, str]] = {role: (i, task) for i, role, task in _named(words)}
    if role := _NEEDED.get(plugin):
        named.setdefault(role, (None, role))
    for role, (i, task) in named.items():
        if role not in roles or task in lowered or not tasks:
            continue
        effect = _EFFECTS.get((plugin, role), f"so the plugin knows no {role}")
        at = plugins.at / plugin
        yield Hit(
            RULE,
            f"{spec.owner} has plugin {plugin} but no task {quoted(task)}, {effect}; set the argument --{role}= of plugin "
            f"{plugin} to the name of a task; {suggest(task, tasks)}",
            at.on_key() if i is None else at / i,
        )


def _named(words: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """The arguments with their values: the index of the argument, its name, and its value."""
    for i, (word, following) in enumerate(zip(words, [*words[1:], ""], strict=False)):
        if found := _FLAG.fullmatch(word):
            yield i, found[1], following if found[2] is None else found[2]


RULE = ObjectRule(
    "plugin-task-missing",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set the arguments of the plugin, such as --master= and --worker=, to names of tasks.",
    judges=("Job",),
    check=check,
    aliases=("pytorch-master-missing",),
)
