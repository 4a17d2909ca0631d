"""What policygen reports about a run: its inputs, waivers and baseline: one object for each finding."""

from policygen.core.rule import Family, Rule, Severity

BAD_CASE = Rule(
    "bad-case",
    Severity.ERROR,
    Family.RUN,
    "A folder is not a valid test case of `policygen test`",
    "Put a spec or manifests and a findings.txt into one folder.",
)
BAD_EXPECTATION = Rule(
    "bad-expectation",
    Severity.ERROR,
    Family.RUN,
    "A line of findings.txt is not a valid expected finding",
    "Write the line as FILE:LINE: SEVERITY: RULE: OBJECT FIELD.",
)
BASELINE_STALE = Rule(
    "baseline-stale",
    Severity.WARNING,
    Family.RUN,
    "The baseline lists a finding that no longer occurs",
    "Run `policygen baseline update` with the same inputs.",
)
CLUSTER_UNREADABLE = Rule(
    "cluster-unreadable",
    Severity.ERROR,
    Family.RUN,
    "An API server does not answer, or does not list its APIs",
    "Check that `kubectl --context CONTEXT version` reaches the cluster; `policygen rbac --preflight` lists missing rights.",
)
INPUT_TOO_LARGE = Rule(
    "input-too-large",
    Severity.WARNING,
    Family.RUN,
    "The input is too large for a rule, so the rule did not check all of it",
    "Check a part of the input, such as one namespace or team, or skip the rule.",
)
MANIFEST_NOT_PATCHED = Rule(
    "manifest-not-patched",
    Severity.ERROR,
    Family.RUN,
    "`policygen patch` cannot write the fields of a model into an object, so the object is unchanged",
    "Change or remove the named field, or write the label policygen.dev/model with the name of a model.",
)
NOT_READ = Rule(
    "not-read",
    Severity.WARNING,
    Family.RUN,
    "Some objects of a cluster could not be read, so the check is incomplete",
    "Grant the rights that `policygen rbac` prints, or run the command again if the server did not answer. When you take a snapshot, pass the spec to `policygen snapshot` too.",
)
NOTHING_TO_CHECK = Rule(
    "nothing-to-check",
    Severity.ERROR,
    Family.RUN,
    "The input contains nothing to check: no object, no spec document, or no rule that applies",
    "Check the path, and whether the command before a pipe failed; pass manifests with `--manifests PATH`.",
    aliases=("nothing-to-judge",),
)
SNAPSHOT_UNREADABLE = Rule(
    "snapshot-unreadable",
    Severity.ERROR,
    Family.RUN,
    "A file is not a snapshot of a cluster, or cannot be read",
    "Take the snapshot again with `policygen snapshot` of this version or an older one.",
)
UNKNOWN_RULE = Rule(
    "unknown-rule",
    Severity.ERROR,
    Family.REFUSED,
    "The name of a rule does not exist",
    "Correct the name; `policygen rules` lists all names.",
)
VERSIONS_DIFFER = Rule(
    "versions-differ",
    Severity.WARNING,
    Family.RUN,
    "The clusters of one run have different releases of Kubernetes, Kueue or Volcano",
    "Upgrade the older clusters, or lint them in a separate run.",
)
WAIVER_EXPIRED = Rule(
    "waiver-expired",
    Severity.WARNING,
    Family.RUN,
    "The expiry date of a waiver has passed",
    "Fix the finding that the waiver accepts, or renew `expires`.",
)
WAIVER_NOT_ALLOWED = Rule(
    "waiver-not-allowed",
    Severity.WARNING,
    Family.RUN,
    "An annotation waives a rule, but the spec does not allow annotations for this rule",
    "Add the rule to `spec.lint.annotations` of the Platform, or remove the annotation and write the waiver in the spec.",
)
WAIVER_UNREADABLE = Rule(
    "waiver-unreadable",
    Severity.WARNING,
    Family.RUN,
    "An annotation that waives a rule has no reason, or an invalid date",
    'Write "until YYYY-MM-DD: REASON", or only the reason.',
)
WAIVER_UNUSED = Rule(
    "waiver-unused",
    Severity.WARNING,
    Family.RUN,
    "No finding matches this waiver",
    "Remove the waiver, or correct its `rule` and `object`.",
)

RULES = tuple(rule for rule in vars().values() if isinstance(rule, Rule))
