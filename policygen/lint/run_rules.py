"""What policygen reports about a run: its inputs, waivers and baseline: one object for each finding."""

from policygen.core.rule import Family, Rule, Severity

BAD_CASE = Rule(
    "bad-case",
    Severity.ERROR,
    Family.RUN,
    "A folder of `policygen test` is no case that could be run",
)
BAD_EXPECTATION = Rule(
    "bad-expectation",
    Severity.ERROR,
    Family.RUN,
    "A line of a findings.txt is no finding",
)
BASELINE_STALE = Rule(
    "baseline-stale",
    Severity.WARNING,
    Family.RUN,
    "A baseline has a finding that is found no more",
    "Run `policygen baseline update` with the same inputs.",
)
CLUSTER_UNREADABLE = Rule(
    "cluster-unreadable",
    Severity.ERROR,
    Family.RUN,
    "An API server does not answer, or does not say what it serves",
    "See whether `kubectl --context CONTEXT version` reaches the cluster; `policygen rbac --preflight` says what the identity lacks.",
)
NOT_READ = Rule(
    "not-read",
    Severity.WARNING,
    Family.RUN,
    "Objects, or all of a kind, could not be read from a cluster",
    "Give the identity the rights that `policygen rbac` prints; `--preflight` says which it lacks. Where the server did not answer, run it again; of a snapshot, take it anew with the spec beside it.",
)
NOTHING_TO_JUDGE = Rule(
    "nothing-to-judge",
    Severity.ERROR,
    Family.RUN,
    "Manifests that were given hold no object, files given for a spec no document of one, or no rule that was asked for could be evaluated",
    "See whether the command before the pipe failed (`set -o pipefail`), and whether the path is right. Manifests are judged with `policygen lint --manifests PATH`.",
)
SNAPSHOT_UNREADABLE = Rule(
    "snapshot-unreadable",
    Severity.ERROR,
    Family.RUN,
    "A file is no snapshot of a cluster, or cannot be read",
    "Take the snapshot again with `policygen snapshot`, of this version or an older one.",
)
UNKNOWN_RULE = Rule(
    "unknown-rule",
    Severity.ERROR,
    Family.REFUSED,
    "A rule is named that there is not",
)
VERSIONS_DIFFER = Rule(
    "versions-differ",
    Severity.WARNING,
    Family.RUN,
    "Clusters of one run have different releases of Kubernetes, Kueue or Volcano",
    "Upgrade the clusters that are behind, or lint them in a run of their own.",
)
WAIVER_EXPIRED = Rule(
    "waiver-expired",
    Severity.WARNING,
    Family.RUN,
    "A waiver is past its date",
    "Mend what the waiver accepts, or renew `expires`.",
)
WAIVER_NOT_ALLOWED = Rule(
    "waiver-not-allowed",
    Severity.WARNING,
    Family.RUN,
    "An annotation waives a rule of which the spec does not allow it",
    "Write the rule into `spec.lint.annotations` of the Platform, if whoever may write such objects may accept its findings; else remove the annotation, and waive it in the spec.",
)
WAIVER_UNREADABLE = Rule(
    "waiver-unreadable",
    Severity.WARNING,
    Family.RUN,
    "An annotation that is to waive something gives no reason, or a date that is none",
    'Write "until YYYY-MM-DD: REASON", or the reason alone.',
)
WAIVER_UNUSED = Rule(
    "waiver-unused",
    Severity.WARNING,
    Family.RUN,
    "A waiver waives nothing",
    "Remove the waiver, or mend its `rule` and `object` if they name something else than was meant.",
)

RULES: tuple[Rule, ...] = (
    BAD_CASE,
    BAD_EXPECTATION,
    BASELINE_STALE,
    CLUSTER_UNREADABLE,
    NOT_READ,
    NOTHING_TO_JUDGE,
    SNAPSHOT_UNREADABLE,
    UNKNOWN_RULE,
    VERSIONS_DIFFER,
    WAIVER_EXPIRED,
    WAIVER_NOT_ALLOWED,
    WAIVER_UNREADABLE,
    WAIVER_UNUSED,
)
