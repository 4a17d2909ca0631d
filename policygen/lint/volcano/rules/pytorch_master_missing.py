"""A Volcano Job uses the plugin pytorch without a master task, so its pods do not have MASTER_ADDR."""

import re

from policygen.core.quoting import quoted
from policygen.core.suggest import suggest
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import jobs

_MASTER = re.compile(r"--?master(?:=(.*))?", re.DOTALL)


def check(facts: Facts) -> Hits:
    """The plugin then adds nothing to the pods. The webhook checks only the tasks of plugin mpi.

    Source: pkg/controllers/job/plugins/distributed-framework/pytorch/pytorch.go, OnPodCreate, of Volcano 1.14.1.
    """
    for spec in jobs.specs(facts.cluster):
        plugins = spec.under("plugins")
        arguments = plugins.data.get("pytorch")
        if "pytorch" not in plugins.data or not jobs.names_known(spec):
            continue
        words = [] if arguments is None else arguments
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            continue
        master = "master"
        for word, following in zip(words, [*words[1:], ""], strict=False):
            if found := _MASTER.fullmatch(word):
                master = following if found[1] is None else found[1]
        tasks = [name for name, _ in jobs.tasks(spec)]
        if tasks and master not in tasks:
            yield Hit(
                RULE,
                f"{spec.owner} has plugin pytorch but no task {quoted(master)}, so its pods do not have MASTER_ADDR, RANK "
                f"and WORLD_SIZE; set the argument --master= of plugin pytorch to the name of a task; "
                f"{suggest(master, tasks)}",
                (plugins.at / "pytorch").on_key(),
            )


RULE = ObjectRule(
    "pytorch-master-missing",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set the argument --master= of plugin pytorch to the name of the task of the first rank.",
    judges=("Job",),
    check=check,
)
