"""What policygen reports about the documents of manifests: one object for each finding."""

from policygen.core.rule import Family, Rule, Severity

KINDS_NOT_JUDGED = Rule(
    "kinds-not-judged",
    Severity.INFO,
    Family.RUN,
    "Objects are of kinds that no rule judges",
    "Nothing need be done: the rules that look at every object have judged them.",
)
KUSTOMIZATION_NOT_BUILT = Rule(
    "kustomization-not-built",
    Severity.INFO,
    Family.RUN,
    "A folder is built by kustomize, and was given as it is",
    "Pipe what `kustomize build` prints into `policygen lint --manifests -`.",
)
NO_OBJECT = Rule(
    "no-object",
    Severity.INFO,
    Family.RUN,
    "Documents have no apiVersion and kind",
    "Give what is no manifest, such as the values of a chart, to no `--manifests`.",
)

RULES: tuple[Rule, ...] = (
    KINDS_NOT_JUDGED,
    KUSTOMIZATION_NOT_BUILT,
    NO_OBJECT,
)
