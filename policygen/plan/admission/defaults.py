"""The CEL of the policy that adds missing fields to new objects, with the variables of the rules.

It adds only what the object does not have, so a wrong value stays and is refused. Only kinds with one
pod template are changed.
"""

from collections.abc import Sequence

from policygen.plan.admission.expressions import VARIABLES, Variable, cel, listed

# A default that the API server writes before policies see the object counts as missing.
_ABSENT = """
variables.owned ? [] : variables.missing.filter(f,
  f[0] in {rules}
  && (f[0] != 'queue'
    || variables.localQueue == '' && variables.volcanoQueue == '')
  && (f[1] == 'labels' ? !(f[2] in variables.labels)
    : f[1] == variables.kind + '.annotations'
    ? !(f[2] in variables.annotations)
    : f[1] == 'annotations'
    ? !f[3].contains('|') && !(f[2] in variables.pod
      .?metadata.?annotations.orValue({{}}))
    : f[1] == 'nodeSelector'
    ? !(f[2] in variables.pod.spec.?nodeSelector.orValue({{}}))
    : f[1] == 'spec'
    ? variables.pod.spec[?f[2]].orValue('')
      in ['', 'default-scheduler']
    : f[1] == 'tolerations'))
"""
_PLACES = (
    Variable(
        "top",
        cel(
            """
            variables.kind == 'CronJob'
              ? '/spec/jobTemplate/metadata' : '/metadata'
            """
        ),
    ),
    Variable(
        "base",
        cel(
            """
            variables.kind == 'Pod' ? ''
              : variables.kind == 'CronJob'
              ? '/spec/jobTemplate/spec/template'
              : '/spec/template'
            """
        ),
    ),
    Variable("pod", "variables.templates[0]"),
)
MUTATION = cel(
    """
    (variables.kind == 'CronJob'
      && !has(variables.self.spec.jobTemplate.metadata)
      ? [JSONPatch{op: 'add', path: variables.top, value: {}}] : [])
    + (variables.absent.exists(f, f[1] == 'labels')
      && !has(variables.head.labels)
      ? [JSONPatch{op: 'add', path: variables.top + '/labels',
        value: {}}] : [])
    + (variables.absent.exists(f, f[1].endsWith('.annotations'))
      && !has(variables.head.annotations)
      ? [JSONPatch{op: 'add', path: variables.top + '/annotations',
        value: {}}] : [])
    + (variables.absent.exists(f, f[1] == 'annotations')
      && !has(variables.pod.metadata)
      ? [JSONPatch{op: 'add', path: variables.base + '/metadata',
        value: {}}] : [])
    + (variables.absent.exists(f, f[1] == 'annotations')
      && !has(variables.pod.metadata.annotations)
      ? [JSONPatch{op: 'add', path: variables.base
        + '/metadata/annotations', value: {}}] : [])
    + (variables.absent.exists(f, f[1] == 'nodeSelector')
      && !has(variables.pod.spec.nodeSelector)
      ? [JSONPatch{op: 'add', path: variables.base
        + '/spec/nodeSelector', value: {}}] : [])
    + (variables.absent.exists(f, f[1] == 'tolerations')
      && !has(variables.pod.spec.tolerations)
      ? [JSONPatch{op: 'add', path: variables.base
        + '/spec/tolerations', value: []}] : [])
    + ((variables.kind == 'Pod' && variables.absent.exists(f,
      f[2] == 'priorityClassName')
      ? ['priority', 'preemptionPolicy'] : [])
      .filter(k, k in variables.pod.spec)
      .map(k, JSONPatch{op: 'remove', path: '/spec/' + k}))
    + variables.absent.map(f, f[1] == 'tolerations'
      ? JSONPatch{op: 'add',
        path: variables.base + '/spec/tolerations/-',
        value: f[3].startsWith(':')
        ? {'key': f[2], 'operator': 'Exists',
          'effect': f[3].split(':')[1]}
        : {'key': f[2], 'operator': 'Equal',
          'value': f[3].split(':')[0],
          'effect': f[3].split(':')[1]}}
      : JSONPatch{op: 'add', path: (f[1] == 'labels'
        ? variables.top + '/labels/'
        : f[1].endsWith('.annotations')
        ? variables.top + '/annotations/'
        : f[1] == 'annotations'
        ? variables.base + '/metadata/annotations/'
        : f[1] == 'nodeSelector'
        ? variables.base + '/spec/nodeSelector/'
        : variables.base + '/spec/')
        + jsonpatch.escapeKey(f[2]), value: f[3]})
    """
)
"""The patches of an object: containers that it does not have, then fields.

The API server computes the priority of a pod before policies run, and refuses one that does not agree
with the class. Without both fields it computes them again (measured with 1.36.3).
"""


def variables(rules: Sequence[str]) -> tuple[Variable, ...]:
    """The variables of a policy that adds the fields of some rules."""
    absent = Variable("absent", cel(_ABSENT.format(rules=listed(rules))))
    return (*VARIABLES, *_PLACES, absent)
