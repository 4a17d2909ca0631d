"""What policygen reports about the documents of manifests: one object for each finding."""

from policygen.core.rule import Family, Rule, Severity

FILES_NOT_IN_KUSTOMIZATION = Rule(
    "files-not-in-kustomization",
    Severity.WARNING,
    Family.RUN,
    "policygen skipped manifests in the folder of a kustomization that does not name them",
    "Add the files to `resources` of the kustomization, or pass each file to `lint --manifests`.",
)
KINDS_WITHOUT_SPECIAL_RULES = Rule(
    "kinds-without-special-rules",
    Severity.INFO,
    Family.RUN,
    "policygen has no special rules for the kinds of some objects",
    "No change is needed.",
    aliases=("kinds-not-judged",),
)
KUSTOMIZATION_NOT_BUILT = Rule(
    "kustomization-not-built",
    Severity.INFO,
    Family.RUN,
    "A folder of manifests contains a kustomization, which policygen does not build",
    "Pipe the output of `kustomize build` into `policygen lint --manifests -`.",
)
NO_OBJECT = Rule(
    "no-object",
    Severity.INFO,
    Family.RUN,
    "policygen skipped documents without apiVersion or kind",
    "Remove files that are not manifests, such as the values file of a Helm chart, from `--manifests`.",
)

RULES = tuple(rule for rule in vars().values() if isinstance(rule, Rule))
