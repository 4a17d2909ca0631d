"""The CEL of the admission policies: the same for every spec, all values come from a ConfigMap.

Lines are short, so that they are printed as literal blocks. The API server evaluates a variable
only when a rule reads it, and once for all rules of a policy.
"""

from collections.abc import Sequence

from msgspec import Struct


class Variable(Struct, frozen=True):
    """A value that other expressions of a policy read as `variables.NAME`."""

    name: str
    expression: str


class Validation(Struct, frozen=True):
    """An expression that is true for an object that passes, and the message if it is not."""

    expression: str
    message: str = ""
    """A text; empty if an expression computes the message."""
    message_expression: str = ""


def cel(text: str) -> str:
    """An expression without the indentation and the empty lines around it in this file."""
    lines = text.strip("\n").split("\n")
    margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return "\n".join(line[margin:].rstrip() for line in lines).rstrip()


VARIABLES = (
    # The kinds have different fields, so the type check of the API server must not see one type.
    Variable("self", "dyn(object)"),
    Variable(
        "kind",
        cel(
            """
            request.kind.group == 'batch.volcano.sh'
              ? 'vcjob'
              : request.kind.kind
            """
        ),
    ),
    Variable(
        "head",
        cel(
            """
            variables.kind == 'CronJob'
              ? variables.self.spec.jobTemplate.?metadata.orValue({})
              : variables.self.metadata
            """
        ),
    ),
    Variable("labels", "variables.head.?labels.orValue({})"),
    Variable("annotations", "variables.head.?annotations.orValue({})"),
    Variable(
        "name",
        cel(
            """
            variables.self.metadata.?name.orValue(
              variables.self.metadata.?generateName.orValue(''))
            """
        ),
    ),
    Variable(
        "owners",
        cel(
            """
            variables.self.metadata.?ownerReferences.orValue([])
              .filter(o, o.?controller.orValue(false))
              .map(o, o.kind)
            """
        ),
    ),
    # A Job of a CronJob has the fields of a top-level object; others took them from their owner.
    Variable("owned", "variables.owners.exists(k, k != 'CronJob')"),
    Variable(
        "templates",
        cel(
            """
            variables.kind == 'Pod' ? [variables.self]
              : variables.kind == 'PodGroup' ? []
              : variables.kind == 'CronJob'
              ? [variables.self.spec.jobTemplate.spec.template]
              : variables.kind == 'vcjob'
              ? variables.self.spec.?tasks.orValue([])
                .map(t, t.?template.orValue({}))
              : variables.kind == 'JobSet'
              ? variables.self.spec.?replicatedJobs.orValue([])
                .map(j, j.template.spec.template)
              : variables.kind == 'LeaderWorkerSet'
              ? [variables.self.spec.leaderWorkerTemplate.workerTemplate]
                + (has(
                  variables.self.spec.leaderWorkerTemplate.leaderTemplate)
                  ? [variables.self.spec.leaderWorkerTemplate
                    .leaderTemplate] : [])
              : [variables.self.spec.template]
            """
        ),
    ),
    Variable("accelerators", "params.data.resources.split(' ')"),
    Variable(
        "accelerated",
        cel(
            """
            variables.templates.filter(t,
              (t.?spec.?containers.orValue([])
                + t.?spec.?initContainers.orValue([]))
              .exists(c, variables.accelerators.exists(r,
                r in c.?resources.?limits.orValue({})
                || r in c.?resources.?requests.orValue({}))))
            """
        ),
    ),
    Variable(
        "labelled",
        cel(
            """
            variables.labels[?'policygen.dev/model'].orValue(
              variables.self.metadata
                .?labels[?'policygen.dev/model'].orValue(
              variables.templates.size() == 0 ? ''
              : variables.templates[0].?metadata
                .?labels[?'policygen.dev/model'].orValue('')))
            """
        ),
    ),
    # An object that has the name of a model runs it, as `policygen simulate` decides.
    Variable(
        "model",
        cel(
            """
            variables.labelled != '' ? variables.labelled
              : 'model.' + variables.name in params.data
              ? variables.name : ''
            """
        ),
    ),
    # The pod templates on which the policy acts; all of an object that names its model.
    Variable(
        "pods",
        cel(
            """
            variables.accelerated.size() == 0
              && 'model.' + variables.labelled in params.data
              ? variables.templates : variables.accelerated
            """
        ),
    ),
    # Kueue labels the pods of the workloads that it admitted; Volcano annotates those of vcjobs.
    Variable(
        "localQueue",
        cel(
            """
            variables.labels[?'kueue.x-k8s.io/queue-name'].orValue(
              variables.labels[?'kueue.x-k8s.io/local-queue-name']
              .orValue(''))
            """
        ),
    ),
    Variable(
        "volcanoQueue",
        cel(
            """
            variables.kind in ['vcjob', 'PodGroup']
              ? variables.self.spec.?queue.orValue('default')
              : variables.pods.size() == 0 ? ''
              : variables.pods[0].?metadata
                .?annotations[?'scheduling.volcano.sh/queue-name']
                .orValue(variables.pods[0].?metadata
                  .?annotations[?'volcano.sh/queue-name']
                  .orValue(variables.annotations
                    [?'scheduling.volcano.sh/queue-name']
                    .orValue('')))
            """
        ),
    ),
    # The entry of the ConfigMap whose fields the object needs; '' if no entry is known.
    Variable(
        "entry",
        cel(
            """
            variables.kind == 'PodGroup'
              ? ('volcano.' + variables.volcanoQueue in params.data
                ? 'volcano.' + variables.volcanoQueue : '')
              : variables.pods.size() == 0 ? ''
              : 'model.' + variables.model in params.data
              ? 'model.' + variables.model
              : 'kueue.' + variables.localQueue in params.data
              ? 'kueue.' + variables.localQueue
              : 'volcano.' + variables.volcanoQueue in params.data
              ? 'volcano.' + variables.volcanoQueue
              : (params.data.map(k, k).filter(k,
                k.startsWith('pool.') && params.data[k].split('\\n')
                .filter(l, l.startsWith('nodes nodeSelector '))
                .all(l, variables.pods.exists(t, t.?spec
                  .?nodeSelector[?l.split(' ')[2]].orValue('')
                  == l.split(' ')[3]))) + [''])[0]
            """
        ),
    ),
    # How an object names its queue of Volcano. Volcano's controller writes it into pods of its Jobs.
    Variable(
        "form",
        cel(
            """
            variables.kind == 'vcjob' ? '_vcjob'
              : variables.owned && variables.pods.all(t, t.?metadata
                .?annotations[?'scheduling.k8s.io/group-name']
                .orValue('') != '') ? '' : '_pods'
            """
        ),
    ),
    # Lines `rule owner name value` of the entry that the object does not have.
    Variable(
        "missing",
        cel(
            """
            variables.entry == '' || variables.pods.size() == 0 ? []
            : (params.data[variables.entry] + (variables.entry
                + variables.form in params.data ? '\\n'
                + params.data[variables.entry + variables.form] : ''))
              .split('\\n').map(l, l.split(' '))
              .filter(f,
                f[1] == 'labels'
                ? !variables.owned
                  && variables.labels[?f[2]].orValue('') != f[3]
                : f[1].endsWith('.annotations')
                ? !variables.owned
                  && (f[1] != variables.kind + '.annotations'
                    || variables.annotations[?f[2]].orValue('') != f[3])
                : f[1] == 'vcjob.spec'
                ? !variables.owned
                  && (variables.kind != 'vcjob' || string(
                    variables.self.spec[?f[2]].orValue(dyn(''))) != f[3])
                : !variables.pods.all(t,
                  f[1] == 'annotations'
                  ? t.?metadata.?annotations[?f[2]].orValue('')
                    in f[3].split('|')
                  : f[1] == 'nodeSelector'
                  ? t.spec.?nodeSelector[?f[2]].orValue('') == f[3]
                  : f[1] == 'limits'
                  ? t.spec.containers.exists(c, string(c.?resources
                    .?limits[?f[2]].orValue(dyn(''))) == f[3])
                  : f[1] == 'tolerations'
                  ? t.spec.?tolerations.orValue([]).exists(o,
                    (o.?key.orValue('') == ''
                      || o.key == f[2])
                    && (o.?operator.orValue('') == 'Exists'
                      || o.?value.orValue('')
                        == f[3].split(':')[0])
                    && o.?effect.orValue('')
                      in ['', f[3].split(':')[1]])
                  : (f[2] == 'schedulerName'
                    ? (variables.kind == 'vcjob'
                      ? variables.self.spec.?schedulerName
                        .orValue('volcano')
                      : t.spec.?schedulerName
                        .orValue('default-scheduler'))
                    : t.spec[?f[2]].orValue('')) == f[3]))
            """
        ),
    ),
)
"""What all policies with parameters read. A policy computes only those that it uses."""


# What an object breaks, by rule: a list of texts that continue "needs".
_PROBLEMS = {
    "queue": cel(
        """
        (variables.entry != '' || (variables.kind == 'PodGroup'
          ? variables.owned || has(variables.self.spec.minResources)
            && !variables.accelerators.exists(r,
              r in variables.self.spec.minResources)
          : variables.pods.size() == 0
            || variables.owned && (variables.kind != 'Pod'
              || 'kueue.x-k8s.io/podset' in variables.labels)
            || variables.pods.all(t, t.?metadata
              .?annotations[?'scheduling.k8s.io/group-name']
              .orValue('') != '')) ? [] :
          ['[queue] a queue of namespace ' + request.namespace + ': '
            + params.data.queues])
        """
    ),
    "priority": cel(
        """
        (!('priorityClasses' in params.data)
          || variables.entry.startsWith('model.')
          || variables.pods.all(t,
            t.spec.?priorityClassName.orValue('') == ''
            || t.spec.priorityClassName
              in params.data.priorityClasses.split(' '))
          && (variables.kind != 'vcjob' || variables.self.spec
            .?priorityClassName.orValue('')
            in [''] + params.data.priorityClasses.split(' '))
          && (variables.pods.size() == 0
            || !('kueue.x-k8s.io/priority-class' in variables.labels)
            || variables.labels['kueue.x-k8s.io/priority-class']
              in params.data.?workloadPriorityClasses.orValue('')
              .split(' ')) ? [] :
          ['[priority] one of the priority classes '
            + params.data.priorityClasses])
        """
    ),
    # The API server itself checks this in the pod templates of its own kinds.
    "resources": cel(
        """
        (request.kind.group in ['', 'apps', 'batch']
          || variables.accelerated.all(t, (t.spec.containers
          + t.spec.?initContainers.orValue([])).all(c,
          variables.accelerators.all(r,
            !(r in c.?resources.?requests.orValue({}))
            || string(c.resources.requests[r]) == string(
              c.resources.?limits[?r].orValue(dyn('')))))) ? [] :
          ['[resources] a limit equal to its request of GPUs'])
        """
    ),
    "nodes": cel(
        """
        (variables.tolerated.size() == 0
          || variables.owners.exists(k, k == 'DaemonSet') ? [] :
          ['[nodes] no toleration for taint '
            + variables.tolerated.join(', ')
            + ' of pools in which its team has no share'])
        """
    ),
}
PROTECTED = cel(
    """
    has(namespaceObject.metadata.deletionTimestamp)
      || authorizer.group('admissionregistration.k8s.io')
        .resource('validatingadmissionpolicies')
        .check('update').allowed()
    """
)
"""Who may change the ConfigMaps: a team that can edit ConfigMaps must not open its own door."""
PROTECTED_MESSAGE = (
    "only users who may update ValidatingAdmissionPolicies may change this ConfigMap; "
    "change the spec and run `policygen render --with admission`"
)
RULES = ("queue", "scheduler", "priority", "resources", "nodes", "gang")
"""The rules of the door, in the order of messages."""

_TOLERATED = Variable(
    "tolerated",
    cel(
        """
        !('otherTaints' in params.data) ? []
          : params.data.otherTaints.split(' ').filter(x,
            variables.templates.exists(t,
              t.?spec.?tolerations.orValue([]).exists(o,
                (o.?key.orValue('') == ''
                  || x.startsWith(o.key + '=')
                  || x.startsWith(o.key + ':'))
                && (o.?operator.orValue('') == 'Exists'
                  || x.startsWith(o.?key.orValue('')
                    + (o.?value.orValue('') == ''
                      ? '' : '=' + o.value)
                    + ':'))
                && (o.?effect.orValue('') == ''
                  || x.endsWith(':' + o.effect)))))
        """
    ),
)
"""Taints of other teams' pools that a pod tolerates: `key=value:effect`."""

_MESSAGE = cel(
    """
    variables.kind + ' ' + variables.name + ' needs '
      + variables.problems.join(', ')
      + (variables.entry.startsWith('model.')
        ? '; run `policygen workload ' + variables.model
          + '` to print a workload with these fields'
          + (variables.missing.size() > 0
            ? ', or `policygen patch FILE --spec SPEC`'
              + ' to add those that are missing'
            : '')
        : '')
    """
)
VALIDATION = Validation("variables.problems.size() == 0", message_expression=_MESSAGE)
"""One validation for all rules of a policy, so the API server computes the fields once."""


def listed(rules: Sequence[str]) -> str:
    """Rules as a list of CEL."""
    named = ", ".join(f"'{rule}'" for rule in rules)
    return f"[\n{' ' * 10}{named}]"


def variables(rules: Sequence[str]) -> tuple[Variable, ...]:
    """The variables of a policy that checks some rules."""
    problems = cel(
        f"""
        variables.missing.filter(f, f[0] in {listed(rules)})
          .map(f, '[' + f[0] + '] ' + f[1] + ' ' + f[2] + ': ' + f[3])
        """
    )
    # An update that changes neither spec nor metadata, such as the removal of a finalizer, passes.
    same = cel(
        """
        request.operation == 'UPDATE'
          && (has(object.metadata.deletionTimestamp)
            || object.spec == oldObject.spec
              && object.metadata.?labels == oldObject.metadata.?labels
              && object.metadata.?annotations
                == oldObject.metadata.?annotations) ? [] :
        """
    )
    more = "".join(f"\n  + {_PROBLEMS[rule]}" for rule in rules if rule in _PROBLEMS)
    return (*VARIABLES, _TOLERATED, Variable("problems", f"{same}\n{problems}{more}"))
