"""What the fields of admission policies do, and where their values come from."""

from collections.abc import Mapping

from msgspec.structs import replace

from policygen.core.finding import At, Path
from policygen.explain.meaning import Field, FieldTable
from policygen.explain.step import Step, Steps, of_platform
from policygen.plan.decisions import Decisions
from policygen.plan.kind import Item

_SOURCE = "https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/"
_MATCHED = "the policy looks at pods, and at the objects that make pods"
_MUTATING = "https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/"
_SAME = "the expressions are the same for every spec; its values are in the ConfigMap"
_PARAM_KIND = Field(
    "The kind of the object with the parameters of the policy.",
    always="the parameters are in a ConfigMap of the namespace",
)
_VARIABLE = Field(
    "A value that other expressions of the policy read. The API server computes it only if it is "
    "needed.",
    always=_SAME,
)
_NAMESPACES = Field("The namespaces in which the policy is in force: those of the teams.")

TABLES: Mapping[str, FieldTable] = {
    "ConfigMap": FieldTable(
        _SOURCE,
        {
            "data.*": Field(
                "A parameter of the admission policies in this namespace: the fields that pods of a "
                "model, queue or pool need, or names that the policies know."
            ),
        },
    ),
    "ValidatingAdmissionPolicy": FieldTable(
        _SOURCE,
        {
            "spec.failurePolicy": Field(
                "What happens if an expression fails: Fail refuses the object, Ignore accepts it."
            ),
            "spec.paramKind.*": _PARAM_KIND,
            "spec.matchConstraints.*": Field(
                "The requests that the policy looks at: groups, versions and names of objects, and "
                "operations on them.",
                always=_MATCHED,
            ),
            "spec.variables[].*": _VARIABLE,
            "spec.validations[].*": Field(
                "An expression that must be true, or the message if it is false.", always=_SAME
            ),
        },
    ),
    "MutatingAdmissionPolicy": FieldTable(
        _MUTATING,
        {
            "spec.failurePolicy": Field(
                "What happens if an expression fails: Ignore leaves the object as it is.",
                always="the rules then refuse an object that lacks a field",
            ),
            "spec.reinvocationPolicy": Field(
                "Whether the policy runs again after other policies and webhooks.",
                always="they do not remove what the policy adds",
            ),
            "spec.paramKind.*": _PARAM_KIND,
            "spec.matchConstraints.*": Field(
                "The requests that the policy looks at: groups and versions of objects, and "
                "operations on them.",
                always="the policy changes only new objects with one pod template",
            ),
            "spec.variables[].*": _VARIABLE,
            "spec.mutations[].*": Field(
                "An expression that lists the changes of the object.", always=_SAME
            ),
        },
    ),
    "MutatingAdmissionPolicyBinding": FieldTable(
        _MUTATING,
        {
            "spec.policyName": Field("The policy that this binding puts into force."),
            "spec.paramRef.name": Field(
                "The ConfigMap with the parameters, which each namespace has."
            ),
            "spec.paramRef.parameterNotFoundAction": Field(
                "Whether objects are refused in a namespace without this ConfigMap.",
                always="the policy then adds nothing",
            ),
            "spec.matchResources.*": _NAMESPACES,
        },
    ),
    "ValidatingAdmissionPolicyBinding": FieldTable(
        _SOURCE,
        {
            "spec.policyName": Field("The policy that this binding puts into force."),
            "spec.paramRef.name": Field(
                "The ConfigMap with the parameters, which each namespace has."
            ),
            "spec.paramRef.parameterNotFoundAction": Field(
                "Whether objects are refused in a namespace without this ConfigMap."
            ),
            "spec.validationActions[]": Field(
                "Deny refuses an object that breaks a rule, Warn accepts it with a warning, Audit "
                "writes to the audit log."
            ),
            "spec.matchResources.*": _NAMESPACES,
        },
    ),
}


class AdmissionSteps:
    """Finds the steps to the fields of admission policies of one spec."""

    def __init__(self, decided: Decisions) -> None:
        self._decided = decided
        self._models = {model.name: model for model in decided.spec.models}
        self._teams = {it.name: team for team in decided.spec.teams for it in team.namespaces}

    def of_config_map(self, item: Item, path: Path) -> Steps:
        """The steps to a parameter: the model, team or pool that decides it."""
        if path[0] != "data":
            return self._identity(item, path)
        key = str(path[1])
        value = item.fields.data[key]
        prefix, _, name = key.partition(".")
        if prefix == "model":
            at = self._models[name.rpartition("_")[0] or name].at
            return [Step(key, value, at=at, note="the fields that the pods of this model need")]
        if key in ("priorityClasses", "workloadPriorityClasses"):
            platform = self._decided.platform
            step = of_platform(platform, key, value, "spec", "priorities")
            return [replace(step, note="the classes that the spec renders")]
        team = self._teams[item.meta.namespace or ""]
        return [Step(key, value, at=team.at, note="the pools of this team, and those of others")]

    def of_mutating(self, item: Item, path: Path) -> Steps:
        """The steps to a field of the policy that adds missing fields, or of its binding."""
        if path in (("spec", "failurePolicy"), ("spec", "paramRef", "parameterNotFoundAction")):
            return []
        return self.of_policy(item, path)

    def of_policy(self, item: Item, path: Path) -> Steps:
        """The steps to a field that depends on the spec: names, action and namespaces."""
        if path[:1] != ("spec",):
            return self._identity(item, path)
        platform = self._decided.platform
        match path[1:]:
            case ("policyName",):
                return self._named(item, "policyName")
            case ("paramRef", "name"):
                return self._named(item, "paramRef.name", item.fields.config_map)
            case ("matchResources", "namespaceSelector", "matchExpressions", _, "values", int(i)):
                name = item.fields.namespaces[i]
                return [Step("namespace", name, at=_place(self._teams[name].at, "namespaces"))]
            case ("failurePolicy",):
                value = item.fields.failure_policy
            case ("paramRef", "parameterNotFoundAction"):
                value = item.fields.without_config_map
            case ("validationActions", _):
                (value,) = item.fields.actions
            case _:
                return []
        action = of_platform(platform, "admission", platform.admission.action, "spec", "admission")
        return [action, Step(str(path[1]), value, note="follows the actions of the rules")]

    def _identity(self, item: Item, path: Path) -> Steps:
        if path == ("metadata", "name"):
            return self._named(item, "metadata.name")
        if path == ("metadata", "namespace") and item.meta.namespace:
            at = _place(self._teams[item.meta.namespace].at, "namespaces")
            return [Step("metadata.namespace", item.meta.namespace, at=at)]
        return []

    def _named(self, item: Item, field: str, value: str | None = None) -> Steps:
        platform = self._decided.platform
        set_ = of_platform(platform, "name of the Platform", platform.name, "metadata", "name")
        return [set_, Step(field, value or item.meta.name, note="<platform>-admission…")]


def _place(at: At, field: str) -> At:
    return at.to("spec", field)
