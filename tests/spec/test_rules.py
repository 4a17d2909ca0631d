"""Every error of a spec is reported once, at the exact text that is wrong.

A spec marks that text by « and »: the finding must be at this text, underline exactly it, and be
the only error.
"""

import re
from collections import Counter
from textwrap import dedent
from typing import NamedTuple

import pytest

from policygen.core.rule import Severity
from policygen.documents import rules as documents
from policygen.plan import rules as plan
from policygen.spec import rules as spec_rules


class Case(NamedTuple):
    """A spec with one error."""

    name: str
    text: str
    rule: str
    words: str
    """Parts of the message: the wrong value, and the remedy."""


def platform(spec, name="set"):
    return f"""
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata:
  name: {name}
spec:
{indented(spec)}"""


def pool(name="p", spec="", scheduler="kueue", selector="pool: p", size="totalGPUs: 64"):
    return f"""
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata:
  name: {name}
spec:
  nodeSelector:
    {selector}
  gpu:
    perNode: 8
    memory: 80Gi
  capacity:
    {size}
    nodeAllocatable:
      cpu: 96
      memory: 768Gi
  scheduler: {scheduler}
{indented(spec)}"""


def gpu(text, more="", size="totalGPUs: 64"):
    """A pool with another gpu section."""
    return f"""
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata:
  name: p
spec:
  nodeSelector:
    pool: p
{indented(text)}
  capacity:
    {size}
    nodeAllocatable:
      cpu: 96
      memory: 768Gi
{indented(more)}"""


def team(name="a", quota="pool: p", spec="", namespaces="[{name: a-ns}]"):
    return f"""
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata:
  name: {name}
spec:
  namespaces: {namespaces}
  quotas:
    - {{{quota}}}
{indented(spec)}"""


def model(spec, name="m", team="a"):
    return f"""
apiVersion: policygen.dev/v1alpha1
kind: Model
metadata:
  name: {name}
spec:
  team: {team}
{indented(spec)}"""


def queues(text, name="gpu-scheduler-config"):
    return f"""
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
data:
  scheduler-config.yaml: |
{indented(text, 4)}"""


def article_pool(spec="", name="p", selector="gpu.type: a100"):
    return f"""
apiVersion: gpu.example.com/v1
kind: ResourcePool
metadata:
  name: {name}
spec:
  nodeSelector:
    {selector}
  capacity:
    totalGPUs: 16
{indented(spec)}"""


def article_model(spec, name="m"):
    return f"""
apiVersion: inference.example.com/v1
kind: ModelServingSpec
metadata:
  name: {name}
spec:
{indented(spec)}"""


def indented(text, by=2):
    lines = dedent(text).strip("\n").splitlines()
    return "".join(f"{' ' * by}{line}\n" for line in lines if line.strip())


def joined(*documents):
    return "---".join(documents)


MIG = gpu("""
gpu:
  product: NVIDIA-A100-SXM4-40GB
  perNode: 8
  sharing: mig
  mig:
    instances:
      1g.5gb: 14
      3g.20gb: 8
""", size="nodes: 2")  # fmt: skip

LONG = "t" * 60

YAML = [
    Case(
        "a bracket that is never closed",
        joined(pool(), team(spec="maxPending: «[»1")),
        "yaml-syntax",
        "never closed",
    ),
    Case(
        "a key given twice",
        pool(spec="quotaBackstop: true\n«quotaBackstop»: false"),
        "duplicate-key",
        "quotaBackstop set twice line 17 remove one",
    ),
    Case(
        "an alias bomb",
        "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(
            f"{key}: &{key} [{', '.join([f'*{before}'] * 10)}]\n"
            for before, key in zip("abc", "bcd", strict=True)
        )
        + "e: [*d, *d, *d, *d, *d, *d, *d, «*d», *d, *d]\n"
        + pool(),
        "alias-bomb",
        "aliases replace the aliases by their values",
    ),
    Case(
        "a key that is no text",
        pool(selector="«8»: p"),
        "key-not-a-string",
        '"8" in quotes',
    ),
    Case(
        "a tag",
        pool(size="totalGPUs: «!!int» 64"),
        "yaml-tag",
        "without it",
    ),
    Case(
        "a merge of a number",
        pool(spec="schedulingPolicy:\n  <<: «1»"),
        "merge-not-a-mapping",
        "must be a mapping",
    ),
    Case(
        "an alias inside its anchor",
        pool(spec="schedulingPolicy: &here\n  binPack: «*here»"),
        "recursive-alias",
        "write the value instead",
    ),
    Case(
        "a list instead of a document",
        "- «apiVersion: policygen.dev/v1alpha1»\n".replace("- «", "«- "),
        "not-a-mapping",
        "a document must be a mapping",
    ),
    Case(
        "nesting without end",
        team(spec="x: " + "[" * 98 + "«[»" + "[" * 100 + "]" * 198),
        "nesting-too-deep",
        "more than 100 deep",
    ),
    Case("the word no", pool(spec="quotaBackstop: «no»"), "ambiguous-yaml-value", "write false"),
    Case(
        "a number that may be octal",
        pool(size="totalGPUs: «0777»"),
        "ambiguous-yaml-value",
        "511 777",
    ),
    Case(
        "a time of day",
        pool(size="totalGPUs: «12:30»"),
        "ambiguous-yaml-value",
        "base 60 write a whole number such as",
    ),
    Case(
        "a time of day as a label",
        pool(selector="pool: «12:30»"),
        "ambiguous-yaml-value",
        'base 60 write "12:30" in quotes',
    ),
    Case(
        "the word yes as a label",
        pool(selector="pool: «yes»"),
        "ambiguous-yaml-value",
        'write "yes" in',
    ),
    Case(
        "the word off as a scheduler",
        pool(scheduler="«off»"),
        "ambiguous-yaml-value",
        "write kueue, volcano or",
    ),
    Case("a number with e", pool(size="totalGPUs: «1e3»"), "ambiguous-yaml-value", "write 1000"),
    Case(
        "a number that would fill the memory",
        pool(size="totalGPUs: «1e9999999»"),
        "ambiguous-yaml-value",
        "others as text; write a whole number such as",
    ),
    Case(
        "a number of 5,000 digits",
        pool(size=f"totalGPUs: «{'9' * 5000}»"),
        "number-too-long",
        "5000 digits may have 20 shorter",
    ),
    Case(
        "such a number as a quantity",
        joined(pool(), team(), model(f"resources:\n  memory: «'{'9' * 5000}'»")),
        "invalid-value",
        "5000 characters write at most 64",
    ),
    Case(
        "an exponent that is absurd",
        joined(pool(), team(), model("resources:\n  memory: «'1e9999999'»")),
        "invalid-value",
        "exponent out of range such as 1e9",
    ),
]

SCHEMA = [
    Case(
        "a misspelt key",
        pool(spec="«schedulingPolici»:\n  binPack: true"),
        "unknown-field",
        'did you mean "schedulingPolicy"?',
    ),
    Case(
        "a mapping where a word belongs elsewhere",
        joined(pool(), team(), model("resources: {gpus: 1}\n«training»: {method: lora}")),
        "unknown-field",
        "write spec.sizing.training: full or lora",
    ),
    Case(
        "a key of the wrong place",
        pool(spec="«perNode»: 8"),
        "unknown-field",
        "move spec.gpu",
    ),
    Case(
        "a missing key",
        joined(pool(), team(quota="weight: 2")).replace("{weight", "«{weight").replace("2}", "2}»"),
        "missing-field",
        '"pool" is missing',
    ),
    Case("a word for a number", pool(size="totalGPUs: «many»"), "wrong-type", "a whole number"),
    Case("a number in quotes", pool(size="totalGPUs: «'64'»"), "wrong-type", "write 64 without"),
    Case("a list for a mapping", pool(spec="«schedulingPolicy»: []"), "wrong-type", "a mapping"),
    Case("an empty value", pool(spec="«schedulingPolicy»:"), "wrong-type", "has no value"),
    Case(
        "a word that is not allowed",
        pool(scheduler="«kueu»"),
        "unsupported-value",
        'did you mean "kueue"? The values are kueue, volcano and kube-scheduler',
    ),
    Case(
        "weight 0", joined(pool(), team(quota="pool: p, weight: «0»")), "out-of-range", "1 to 65535"
    ),
    Case(
        "a text that is empty",
        joined(pool(), team(), model("family: «''»")),
        "wrong-length",
        "write text",
    ),
    Case(
        "an entry twice",
        joined(pool(), team(quota="pool: p}, {pool: «p»"))
        .replace("- {", "[{")
        .replace("}\n", "}]\n"),
        "duplicate-entry",
        "entry 1 already",
    ),
    Case(
        "no node label",
        pool(selector="{}").replace("nodeSelector:", "«nodeSelector»:"),
        "wrong-length",
        "nodeSelector is empty at least 1",
    ),
    Case(
        "nine node labels",
        pool(selector="".join(f"\n    k{n}: v" for n in range(9)))
        .replace("nodeS", "«nodeS")
        .replace("lector:", "lector»:"),
        "wrong-length",
        "9 entries at most 8",
    ),
    Case(
        "nine taints",
        pool(
            spec="«taints»:\n" + "".join(f"- {{key: k{n}, effect: NoSchedule}}\n" for n in range(9))
        ),
        "wrong-length",
        "9 entries at most 8",
    ),
    Case(
        "nine tolerations",
        pool(spec="«tolerations»:\n" + "".join(f"- {{key: k{n}}}\n" for n in range(9))),
        "wrong-length",
        "9 entries at most 8",
    ),
    Case(
        "a name that Kubernetes refuses",
        pool(name="«GPU_pool»"),
        "invalid-name",
        'DNS label "gpu-pool"',
    ),
    Case(
        "a name of 64 characters",
        pool(name=f"«{'p' * 64}»"),
        "invalid-name",
        "64 characters at most 63",
    ),
    Case(
        "an unknown kind of ours",
        team().replace("kind: Team", "kind: «Taem»"),
        "unknown-kind",
        'did you mean "Team"?',
    ),
    Case(
        "an unknown version of ours",
        team().replace("policygen.dev/v1alpha1", "«policygen.dev/v1»"),
        "unknown-version",
        "write policygen.dev/v1alpha1",
    ),
    Case(
        "a misspelt ConfigMap of queues",
        joined(
            article_pool(),
            queues("queues: [{name: a}]", name="«gpu-scheduler-confgi»"),
            article_model("schedulingClass: a"),
        ),
        "unknown-reference",
        'only ConfigMap "gpu-scheduler-config" correct metadata.name',
    ),
    Case(
        "the unit GB",
        pool(spec="").replace("768Gi", "«80GB»"),
        "invalid-value",
        "write 80Gi or 80G",
    ),
    Case("a space in a quantity", pool().replace("768Gi", "«1 Gi»"), "invalid-value", "write 1Gi"),
    Case(
        "cpu finer than a thousandth",
        pool().replace("cpu: 96", "cpu: «1500u»"),
        "invalid-value",
        "more precise thousandth of a core); write 2m",
    ),
    Case("a negative quantity", pool().replace("768Gi", "«-1Gi»"), "invalid-value", "above 0"),
    Case("nothing of a node", pool().replace("cpu: 96", "cpu: «0»"), "invalid-value", "above 0"),
    Case(
        "a version that is not supported",
        platform("target:\n  kueue: «'0.12'»"),
        "unsupported-target",
        "kueue 0.12 not supported write one of 0.13 0.19",
    ),
    Case(
        "a day that no calendar has",
        platform("lint:\n  waivers:\n  - {rule: a, reason: b, expires: «'2027-02-30'»}"),
        "invalid-value",
        "2027-02-30 YYYY-MM-DD",
    ),
    Case(
        "a day that is written otherwise",
        platform("lint:\n  waivers:\n  - {rule: a, reason: b, expires: «2027/02/03»}"),
        "invalid-value",
        "2027/02/03 YYYY-MM-DD",
    ),
    Case(
        "a duration in days",
        platform("lint:\n  bounds: {workload-pending-long: «2d»}"),
        "invalid-value",
        'hours, minutes and seconds "48h"',
    ),
    Case(
        "a duration of millions of years",
        platform("lint:\n  bounds: {workload-pending-long: «99999999999h»}"),
        "invalid-value",
        "99999999999h seven digits",
    ),
    Case(
        "a duration without a unit",
        platform("lint:\n  bounds: {workload-pending-long: «90»}"),
        "wrong-type",
        "90 is a number write text such as 48h",
    ),
    Case(
        "a version that is none",
        platform("target:\n  kubernetes: «latest»"),
        "unsupported-target",
        "'latest' 1.33 1.37",
    ),
    Case(
        "two documents in the ConfigMap's text",
        joined(article_pool(), queues("queues: []\n--- #\n«schedulingPolicy: {}»")),
        "several-documents",
        "must contain only one document",
    ),
    Case(
        "a ConfigMap without queues",
        joined(article_pool(), queues("# none").replace("|", "«|»")),
        "wrong-length",
        "write queues:",
    ),
]

REFERENCES = [
    Case(
        "team to pool",
        joined(pool("a100"), team(quota="pool: «a10»")),
        "unknown-reference",
        'no ResourcePool "a10" did you mean "a100"?',
    ),
    Case(
        "model to team",
        joined(pool(), team("research"), model("", team="«reserach»")),
        "unknown-reference",
        'no Team "reserach" did you mean "research"?',
    ),
    Case(
        "model to priority",
        joined(
            platform("priorities:\n  - {name: high, value: 1}"),
            pool(),
            team(),
            model("priority: «hihg»"),
        ),
        "unknown-reference",
        'no priority "hihg" did you mean "high"?',
    ),
    Case(
        "team to parent",
        joined(
            pool(), team("research"), team("b", spec="parent: «reserach»", namespaces="[{name: b}]")
        ),
        "unknown-reference",
        'no Team "reserach" did you mean "research"?',
    ),
    Case(
        "shared queue to pool",
        joined(
            platform("sharedQueues:\n  - {name: q, pools: [spot, «on-demnd»]}"),
            pool("spot"),
            pool("on-demand", selector="pool: q"),
        ),
        "unknown-reference",
        'no ResourcePool "on-demnd" did you mean "on-demand"?',
    ),
    Case(
        "model to pools of its placement",
        joined(pool("a100"), team(quota="pool: a100"), model("placement:\n  pools: [«a10»]")),
        "unknown-reference",
        'did you mean "a100"?',
    ),
    Case(
        "model to namespace",
        joined(pool(), team(), model("namespace: «a-sn»")),
        "unknown-reference",
        'not in team "a" did you mean "a-ns"?',
    ),
    Case(
        "schedulingClass to queue",
        joined(
            article_pool(),
            queues("queues:\n  - name: high"),
            article_model("schedulingClass: «hihg»"),
        ),
        "unknown-reference",
        'no queue "hihg" did you mean "high"?',
    ),
    Case(
        "a team that is its own parent",
        joined(pool(), team(spec="parent: «a»")),
        "team-cycle",
        '"a" is its own parent remove',
    ),
    Case(
        "two teams in a circle",
        joined(
            pool(),
            team("b", spec="parent: a", namespaces="[{name: b}]"),
            team("a", spec="parent: «b»"),
        ),
        "team-cycle",
        "a → b → a remove the parent of one",
    ),
    Case(
        "three teams in a circle",
        joined(
            pool(),
            team("c", spec="parent: a", namespaces="[{name: c}]"),
            team("a", spec="parent: «b»"),
            team("b", spec="parent: c", namespaces="[{name: b}]"),
            team("below", spec="parent: b", namespaces="[{name: d}]"),
        ),
        "team-cycle",
        "a → b → c → a",
    ),
    Case(
        "a team that nothing could use",
        joined(pool(), team("«a»", namespaces="[]")),
        "team-without-namespaces",
        "write spec.namespaces",
    ),
    Case(
        "a model in a team without namespaces",
        joined(
            pool(),
            team("a", namespaces="[]"),
            team("b", spec="parent: a"),
            model("", team="«a»"),
        ),
        "model-team-without-namespaces",
        "assign the model to one of the child teams",
    ),
    Case(
        "one namespace in two teams",
        joined(pool(), team("a"), team("b", namespaces="[{name: «a-ns»}]")),
        "namespace-in-two-teams",
        'namespace "a-ns" is in team "a" remove',
    ),
    Case(
        "one namespace in two teams, the later one of which has the earlier name",
        joined(pool(), team("b"), team("a", namespaces="[{name: «a-ns»}]")),
        "namespace-in-two-teams",
        'namespace "a-ns" is already in team "b" remove',
    ),
    Case(
        "memory that Kubernetes would cap",
        joined(pool(), team(), model("resources: {gpuMemory: «30000Ei»}")),
        "invalid-value",
        '"30000Ei" of memory is too large write a smaller',
    ),
    Case(
        "a namespace of the cluster's own",
        joined(pool(), team("a", namespaces="[{name: «kube-system»}]")),
        "reserved-namespace",
        'namespace "kube-system" name another',
    ),
    Case(
        "the namespace of the ConfigMap's queues",
        joined(
            article_pool(),
            team("mine", namespaces="[{name: «default»}]"),
            queues("queues:\n  - name: high\n  - name: zero"),
        ),
        "namespace-in-two-teams",
        "queues of the ConfigMap give the team another",
    ),
    Case(
        "more replicas at least than at most",
        joined(pool(), team(), model("autoscaling:\n  minReplicas: «3»\n  maxReplicas: 2")),
        "replicas-reversed",
        "3 is above maxReplicas 2",
    ),
    Case(
        "a priority that Kubernetes keeps",
        platform("priorities:\n  - {name: «system-gpu», value: 1}"),
        "reserved-name",
        "choose another name",
    ),
    Case(
        "a pool that Volcano makes itself",
        pool("«root»", scheduler="volcano"),
        "reserved-name",
        "rename the pool",
    ),
]

IDENTITIES = [
    Case(
        "two pools of one name",
        joined(pool(), pool("«p»", selector="pool: q")),
        "object-declared-twice",
        'ResourcePool "p" line 4 rename or remove one',
    ),
    Case(
        "one pool in our form and in the articles'",
        joined(pool(), article_pool(name="«p»")),
        "object-declared-twice",
        'ResourcePool "p" line 4',
    ),
    Case(
        "one model in our form and in the articles'",
        joined(
            article_pool(),
            article_model("schedulingClass: a"),
            queues("queues:\n  - name: a"),
            model("").replace("name: m", "name: «m»"),
        ),
        "object-declared-twice",
        'Model "m" line 14',
    ),
    Case(
        "one team as a Team and as a queue",
        joined(article_pool(), team("a"), queues("queues:\n  - name: «a»")),
        "object-declared-twice",
        'policygen makes a Team of the same name from queue "a" line 14 already contains Team "a" rename',
    ),
    Case(
        "a priority of the Platform and of a queue",
        joined(
            platform("priorities:\n  - {name: high, value: 1}"),
            article_pool(),
            queues("queues:\n  - name: high\n    priority: «2»"),
        ),
        "object-declared-twice",
        'queue "high" sets priority 2 Platform sets "high" to 1 write the same value',
    ),
    Case(
        "two ConfigMaps of queues",
        joined(
            article_pool(), queues("queues: []"), queues("queues: []", "«gpu-scheduler-config»")
        ),
        "object-declared-twice",
        "line 14 put all queues into one",
    ),
    Case(
        "two Platforms",
        joined(platform("target: {}"), platform("target: {}", "«another»")),
        "object-declared-twice",
        "a spec can have only one Platform line 4 remove one",
    ),
    Case(
        "a shared queue called as a pool",
        joined(
            platform("sharedQueues:\n  - {name: «p», pools: [q, r]}"),
            pool(),
            pool("q", selector="pool: q"),
            pool("r", selector="pool: r"),
        ),
        "name-collision",
        "a pool have the same name rename the shared queue",
    ),
    Case(
        "a priority called as another one's second class",
        joined(
            platform("priorities:\n  - {name: a, value: 1}\n  - {name: «a.preempting», value: 2}"),
            pool(scheduler="volcano"),
        ),
        "name-collision",
        'priority "a" rename it',
    ),
    Case(
        "a queue's name that is too long once joined",
        joined(pool("pool"), team(LONG, quota="pool: «pool»")),
        "composed-name-too-long",
        f'"{LONG}.pool" 65 characters most 63 shorten',
    ),
    Case(
        "the name of the leaf beside child teams",
        joined(
            pool(),
            team(LONG, quota="pool: «p»"),
            team("b", spec=f"parent: {LONG}", namespaces="[{name: b}]"),
        ),
        "composed-name-too-long",
        f'"{LONG}.own.p" 66 characters',
    ),
    Case(
        "a priority without room for its second class",
        joined(
            platform(f"priorities:\n  - {{name: «{'x' * 53}», value: 1}}"),
            pool(scheduler="volcano"),
        ),
        "composed-name-too-long",
        "shorten the name to 52",
    ),
    Case(
        "a set without room for its scheduler",
        platform("target: {}", f"«{'s' * 49}»"),
        "composed-name-too-long",
        "shorten the name to 48",
    ),
    Case(
        "a pool in two shared queues",
        joined(
            platform("sharedQueues:\n  - {name: x, pools: [p, q]}\n  - {name: z, pools: [r, «p»]}"),
            pool(),
            pool("q", selector="pool: q"),
            pool("r", selector="pool: r"),
        ),
        "pool-in-two-queues",
        'in shared queue "x" already remove the pool from one',
    ),
    Case(
        "a shared queue of a Volcano pool",
        joined(
            platform("sharedQueues:\n  - {name: x, pools: [p, «q»]}"),
            pool(),
            pool("q", scheduler="volcano", selector="pool: q"),
        ),
        "shared-queue-not-kueue",
        "set the pool's scheduler to kueue",
    ),
]

POOLS = [
    Case(
        "two pools that can match one node",
        joined(pool(), pool("q", selector="zone: a")).replace(
            "nodeSelector:\n    zone", "«nodeSelector»:\n    zone"
        ),
        "pools-overlap",
        '"p" counted twice different values',
    ),
    Case(
        "two schedulers on one tainted pool",
        joined(
            pool(spec="taints: [{key: gpu, effect: NoSchedule}]"),
            pool("q", scheduler="volcano", spec="taints: [{key: gpu, effect: NoSchedule}]").replace(
                "nodeSelector", "«nodeSelector»"
            ),
        ),
        "two-schedulers",
        '"p" kueue and volcano twice different values',
    ),
    Case("a label key", pool(selector="«-gpu»: p"), "invalid-label", "not valid label key letters"),
    Case(
        "a label value",
        pool(selector="pool: «a/b»"),
        "invalid-label",
        "not valid label value letters",
    ),
    Case(
        "a taint",
        pool(spec="taints:\n  - {key: «gpu pool», effect: NoSchedule}"),
        "invalid-taint",
        "not valid label key",
    ),
    Case(
        "a taint twice",
        pool(spec="taints:\n  - {key: a, effect: NoExecute}\n  - {key: «a», effect: NoExecute}"),
        "invalid-taint",
        "remove one",
    ),
    Case(
        "a toleration of everything",
        pool(spec="tolerations:\n  - «{operator: Equal}»"),
        "invalid-toleration",
        "operator: Exists",
    ),
    Case(
        "a topology level",
        pool(spec="topology:\n  levels: [«kubernetes.io/hostname», rack]"),
        "invalid-topology",
        "move this level to the end",
    ),
    Case(
        "packing and spreading",
        pool(spec="schedulingPolicy:\n  binPack: true\n  spread: «true»"),
        "pack-and-spread",
        "set one to false",
    ),
    Case(
        "sharing without replicas",
        gpu("gpu:\n  perNode: 8\n  sharing: «timeSlicing»"),
        "sharing-without-replicas",
        "write 2 or more",
    ),
    Case(
        "replicas without sharing",
        gpu("gpu:\n  perNode: 8\n  replicas: «4»"),
        "replicas-without-sharing",
        "timeSlicing or mps",
    ),
    Case(
        "MIG without instances",
        gpu("gpu:\n  perNode: 8\n  sharing: «mig»"),
        "mig-without-instances",
        "mig.instances such as",
    ),
    Case(
        "instances without MIG",
        gpu("gpu:\n  perNode: 8\n  «mig»:\n    instances: {1g.5gb: 7}"),
        "mig-without-sharing",
        "sharing: mig",
    ),
    Case(
        "several profiles under one name",
        MIG.replace("mig:\n    ", "mig:\n      strategy: single\n    ").replace(
            "instances:", "«instances»:"
        ),
        "mig-single-mixed",
        "strategy: mixed",
    ),
    Case(
        "an unknown MIG profile",
        MIG.replace("3g.20gb", "«3g.40gb»"),
        "unknown-mig-profile",
        'no MIG profile "3g.40gb" did you mean',
    ),
    Case(
        "a MIG profile of the smaller card of the name",
        MIG.replace("40GB", "80GB")
        .replace("3g.20gb: 8", "3g.40gb: 8")
        .replace("1g.5gb", "«1g.5gb»"),
        "unknown-mig-profile",
        'no MIG profile "1g.5gb" on a100-80gb; did you mean "1g.10gb"?',
    ),
    Case(
        "more MIG instances than a card can have",
        MIG.replace("3g.20gb: 8", "3g.20gb: «33»"),
        "mig-instances-exceed-cards",
        "33 instances of MIG profile 3g.20gb, but 16 cards can have only 32",
    ),
    Case(
        "more slices than the cards have",
        MIG.replace("1g.5gb: 14\n", "1g.5gb: 91\n").replace("instances:", "«instances»:"),
        "mig-instances-exceed-cards",
        "need 115 compute slices, but 16 cards can have only 112",
    ),
    Case(
        "slices enough, but no slots",
        MIG.replace("1g.5gb: 14", "2g.10gb: «12»").replace(
            "3g.20gb: 8", "3g.20gb: 8\n        4g.20gb: 16"
        ),
        "mig-instances-exceed-cards",
        "beside 8 × 3g.20gb and 16 × 4g.20gb they hold 8 × 2g.10gb; lower 2g.10gb to 8, or use 18 cards",
    ),
    Case(
        "the instances of one card for all nodes",
        MIG.replace("        1g.5gb: 14\n", "").replace("3g.20gb: 8", "3g.20gb: «1»"),
        "share-exceeds-node",
        "a share of 192 cores and 1.5 TiB of memory, but a node has only 96 cores and 768 GiB "
        "write the number of instances of the whole pool",
    ),
    Case(
        "a policy that the target does not serve",
        platform("{target: {kubernetes: '1.35'}, admission: {defaults: «true»}}"),
        "admission-defaults-not-served",
        "Kubernetes 1.35 does not serve use a target of 1.36 or later",
    ),
    Case(
        "default requests above every node",
        joined(pool(), team(spec="containerDefaults: {cpu: 1, memory: «1Ti»}")),
        "container-defaults-exceed-node",
        "get 1 TiB of memory by containerDefaults, but a node of its pools has at most 768 GiB lower",
    ),
    Case(
        "MIG on a card that has none",
        MIG.replace("NVIDIA-A100-SXM4-40GB", "NVIDIA-L4").replace("sharing: mig", "sharing: «mig»"),
        "mig-not-possible",
        "l4 does not support MIG; write sharing: timeSlicing or mps with replicas a100-40gb",
    ),
    Case(
        "a pool of unknown size",
        gpu("gpu: {perNode: 8}", size="nodeType: a2-ultragpu-8g").replace("capacity", "«capacity»"),
        "capacity-missing",
        "write capacity.nodes",
    ),
    Case(
        "more available than there is",
        pool(size="totalGPUs: 64\n    availableGPUs: «65»"),
        "available-above-total",
        "65 of only 64",
    ),
    Case(
        "more available than on its nodes",
        pool(size="nodes: 8\n    availableGPUs: «65»"),
        "available-above-total",
        "65 of only 64",
    ),
    Case(
        "more available than on the usual nodes of a product",
        gpu("gpu: {product: NVIDIA-A100-SXM4-40GB}", size="nodes: 1\n    availableGPUs: «65»"),
        "available-above-total",
        "write gpu.perNode",
    ),
    Case(
        "a total that the nodes do not have",
        pool(size="nodes: 7\n    totalGPUs: «64»"),
        "total-contradicts-nodes",
        "7 × 8 = 56; totalGPUs is 64, only nodes",
    ),
    Case(
        "GPUs of a node unknown",
        gpu("«gpu»: {memory: 80Gi}"),
        "per-node-missing",
        "write gpu.perNode",
    ),
    Case(
        "cpu and memory of a node unknown",
        re.sub(r"    nodeAllocatable:\n.*\n.*\n", "", pool()).replace("capacity", "«capacity»"),
        "node-shape-missing",
        "write capacity.nodeAllocatable",
    ),
    Case(
        "an unknown node type",
        re.sub(r"    nodeAllocatable:\n.*\n.*\n", "    nodeType: «a2-ultragpu-8»\n", pool()),
        "unknown-node-type",
        'did you mean "a2-ultragpu-8g"?',
    ),
    Case(
        "a product that the articles' form does not name",
        article_pool(selector="gpu.type: «a100q»"),
        "gpu-product-missing",
        "GPU product did you mean policygen.dev",
    ),
    Case(
        "nothing left of a node",
        re.sub(
            r"    nodeAllocatable:\n.*\n.*\n",
            "    nodeType: a2-ultragpu-8g\n    «systemReserved»: {cpu: 1000, memory: 1Gi}\n",
            pool(),
        ),
        "reserved-above-capacity",
        "lower systemReserved",
    ),
    Case(
        "two Volcano pools of one resource",
        joined(
            pool(scheduler="volcano"),
            pool("q", scheduler="volcano", selector="pool: q").replace(
                "nodeSelector", "«nodeSelector»"
            ),
        ),
        "volcano-resource-shared",
        "volcano.sh/nodegroup-name",
    ),
    Case(
        "a Volcano pool that packs beside one that spreads",
        joined(
            pool(scheduler="volcano", selector="volcano.sh/nodegroup-name: p"),
            pool(
                "q",
                scheduler="volcano",
                selector="volcano.sh/nodegroup-name: q",
                spec="«schedulingPolicy»:\n  spread: true",
            ),
        ),
        "volcano-pack-and-spread",
        "the same binPack and spread",
    ),
]

SUMS = [
    Case(
        "guarantees above what is available",
        joined(
            pool(),
            team("a", "pool: p, guarantee: «40»"),
            team("b", "pool: p, guarantee: 30", namespaces="[]", spec="maxPending: 1").replace(
                "[]", "[{name: b}]"
            ),
        ),
        "guarantees-above-available",
        '64 nvidia.com/gpu "a", "b" 70 lower',
    ),
    Case(
        "cpu above what is available",
        joined(pool(), team(quota="pool: p, guarantee: 1, cpu: {guarantee: «769»}")),
        "guarantees-above-available",
        "768 cores 769 cores lower",
    ),
    Case(
        "memory above what is available",
        joined(pool(), team(quota="pool: p, memory: {guarantee: «6145Gi»}")),
        "guarantees-above-available",
        "6Ti memory 6145Gi",
    ),
    Case(
        "MIG instances above what is available",
        joined(MIG, team(quota="pool: p, guarantee: {1g.5gb: «15»}")),
        "guarantees-above-available",
        "14 nvidia.com/mig-1g.5gb 15",
    ),
    Case(
        "guarantees above the parent's",
        joined(
            pool(),
            team("a", "pool: p, guarantee: «10»", namespaces="[]"),
            team("b", "pool: p, guarantee: 6", spec="parent: a", namespaces="[{name: b}]"),
            team("c", "pool: p, guarantee: 6", spec="parent: a", namespaces="[{name: c}]"),
        ),
        "guarantees-above-parent",
        'child teams of "a" 12 nvidia.com/gpu the guarantee of "a" is 10 raise lower',
    ),
    Case(
        "a guarantee below a parent without one",
        joined(
            pool(),
            team("a", "pool: p, limit: 10", namespaces="[]"),
            team("b", "pool: p, guarantee: «6»", spec="parent: a", namespaces="[{name: b}]"),
        ),
        "guarantees-above-parent",
        'but the guarantee of "a" is 0',
    ),
    Case(
        "cpu above the parent's",
        joined(
            pool(),
            team("a", "pool: p, guarantee: 10, cpu: {guarantee: «100»}", namespaces="[]"),
            team("b", "pool: p, guarantee: 10", spec="parent: a", namespaces="[{name: b}]"),
        ),
        "guarantees-above-parent",
        '120 cores the guarantee of "a" is 100 cores',
    ),
    Case(
        "a limit below the guarantee",
        joined(pool(), team(quota="pool: p, guarantee: 10, limit: «5»")),
        "limit-below-guarantee",
        "limit 5 below its guarantee of 10 raise lower",
    ),
    Case(
        "a limit of cpu below the guarantee",
        joined(
            pool(), team(quota="pool: p, guarantee: 10, limit: 20, cpu: {guarantee: 8, limit: «4»}")
        ),
        "limit-below-guarantee",
        "limit 4 cores below its guarantee of 8 cores",
    ),
    Case(
        "a limit of memory below the guarantee that comes along",
        joined(pool(), team(quota="pool: p, guarantee: 10, memory: {limit: «1Gi»}")),
        "limit-below-guarantee",
        "limit 1 GiB of memory below its guarantee of 960 GiB",
    ),
    Case(
        "a limit of MIG instances below the guarantee",
        joined(MIG, team(quota="pool: p, guarantee: {1g.5gb: 10}, limit: {1g.5gb: «5»}")),
        "limit-below-guarantee",
        "limit 5 nvidia.com/mig-1g.5gb below its guarantee of 10",
    ),
    Case(
        "a guarantee of cpu above the limit that the ratio gives",
        joined(
            pool(spec="schedulingPolicy:\n  overcommitRatio: 1.0"),
            team("a", "pool: p, guarantee: 10, cpu: {guarantee: «500»}"),
            team("b", "pool: p, guarantee: 10", namespaces="[{name: b}]"),
        ),
        "limit-below-guarantee",
        "limit 384 cores below its guarantee of 500 cores",
    ),
    Case(
        "a limit above what is available",
        joined(pool(), team(quota="pool: p, limit: «65»")),
        "limit-above-available",
        '65 pool "p" has 64 lower',
    ),
    Case(
        "a limit of memory above what is available",
        joined(pool(), team(quota="pool: p, memory: {limit: «7Ti»}")),
        "limit-above-available",
        "7 TiB of memory 6 TiB",
    ),
    Case(
        "a limit above the parent's",
        joined(
            pool(),
            team("a", "pool: p, limit: 20", namespaces="[]"),
            team("b", "pool: p, limit: «30»", spec="parent: a"),
        ),
        "limit-above-parent",
        '30 its parent "a" has the limit 20 lower',
    ),
    Case(
        "a limit of MIG instances above the parent's",
        joined(
            MIG,
            team("a", "pool: p, limit: {3g.20gb: 2}", namespaces="[]"),
            team("b", "pool: p, limit: {3g.20gb: «3»}", spec="parent: a"),
        ),
        "limit-above-parent",
        "3 nvidia.com/mig-3g.20gb",
    ),
    Case(
        "limits above the ratio",
        joined(
            pool(spec="schedulingPolicy:\n  overcommitRatio: «1.5»"),
            team("a", "pool: p, limit: 60"),
            team("b", "pool: p, limit: 60", namespaces="[{name: b}]"),
        ),
        "overcommit-exceeded",
        "120 1.5 of 64 allows 96 lower raise",
    ),
    Case(
        "a child's share without one of the parent",
        joined(
            pool(),
            pool("q", selector="pool: q"),
            team("a", "pool: q", namespaces="[]"),
            team("b", "pool: «p»", spec="parent: a"),
        ),
        "parent-without-quota",
        'parent "a" has no quota add the pool',
    ),
    Case(
        "a number where profiles are counted",
        joined(MIG, team(quota="pool: p, guarantee: «3»")),
        "mig-quota-mismatch",
        "{1g.5gb: 3}",
    ),
    Case(
        "profiles where a number is counted",
        joined(pool(), team(quota="pool: p, «guarantee»: {1g.5gb: 3}")),
        "mig-quota-mismatch",
        "as a number",
    ),
    Case(
        "a profile that the pool does not have",
        joined(MIG, team(quota="pool: p, guarantee: {«2g.10gb»: 3}")),
        "unknown-mig-profile",
        "it has 1g.5gb, 3g.20gb",
    ),
    Case(
        "two weights in one queue",
        joined(
            platform("sharedQueues:\n  - {name: x, pools: [p, q]}"),
            pool(),
            pool("q", selector="pool: q"),
            team(quota="pool: p, weight: 2}, {pool: q, weight: «3»")
            .replace("- {", "[{")
            .replace("}\n", "}]\n"),
        ),
        "shared-queue-weights-differ",
        "weight 3 but 2 write the same weight",
    ),
    Case(
        "pools of one queue that differ",
        joined(
            platform("sharedQueues:\n  - {name: x, pools: [p, q]}"),
            pool(),
            pool("q", selector="pool: q", spec="schedulingPolicy: {topologyAware: true}").replace(
                "spec:", "«spec»:"
            ),
        ),
        "shared-queue-pools-differ",
        '"q" "p" differ in topologyAware write the same',
    ),
    Case(
        "a shared queue of more pools than Kueue takes",
        joined(
            platform(
                "target: {kueue: '0.13'}\nsharedQueues:\n  - name: x\n    «pools»: "
                + str([f"p{n}" for n in range(17)])
            ),
            *(pool(f"p{n}", selector=f"pool: p{n}") for n in range(17)),
        ),
        "too-many-flavors",
        "17 pools with 3 resources 0.13 allows at most 16 divide the shared queue",
    ),
    Case(
        "more MIG profiles than Kueue takes",
        joined(
            platform("target: {kueue: '0.13'}"),
            gpu(
                "gpu:\n  perNode: 8\n  sharing: mig\n  mig:\n    «instances»:\n"
                + "".join(f"      1g.{n}gb: 1\n" for n in range(1, 16))
            ),
        ),
        "too-many-resources",
        "17 resources 0.13 at most 16 fewer MIG profiles",
    ),
    Case(
        "a tree too deep for Volcano",
        joined(
            pool(scheduler="volcano"),
            team("a1", namespaces="[]"),
            *(
                team(
                    f"a{n}",
                    namespaces="[{name: low}]" if n == 5 else "[]",
                    spec=f"parent: {'«a4»' if n == 5 else f'a{n - 1}'}",
                )
                for n in range(2, 6)
            ),
        ),
        "volcano-tree-too-deep",
        "write a parent nearer to the root in spec.parent",
    ),
    Case(
        "two pools that one quota would count together",
        joined(
            pool(scheduler="kube-scheduler"),
            pool("q", scheduler="kube-scheduler", selector="pool: q"),
            team(quota="pool: p}, {pool: «q»").replace("- {", "[{").replace("}\n", "}]\n"),
        ),
        "quota-cannot-tell-pools-apart",
        "use two teams",
    ),
    Case(
        "a quota of cpu without defaults",
        joined(pool(scheduler="kube-scheduler", spec="quotaCpuAndMemory: true"), team("«a»")),
        "container-defaults-missing",
        "write containerDefaults",
    ),
]

CASES = [*YAML, *SCHEMA, *REFERENCES, *IDENTITIES, *POOLS, *SUMS]


def unmarked(text):
    """The spec without marks, and the line, column and text between the marks."""
    text = text.lstrip("\n")
    start, end = text.index("«"), text.index("»") - 1
    clean = text.replace("«", "").replace("»", "")
    line = clean.count("\n", 0, start) + 1
    return clean, (line, start - clean.rfind("\n", 0, start), clean[start:end])


def shown(finding):
    at = finding.place
    return at.line, at.column, at.text[at.column - 1 : at.column - 1 + at.length]


def errors(done):
    return [finding for finding in done.findings if finding.severity == Severity.ERROR]


def test_case_names_are_unique():
    assert max(Counter(case.name for case in CASES).values()) == 1


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_error_is_at_its_text_and_has_a_remedy(planned_files, case):
    text, place = unmarked(case.text)
    done = planned_files({"spec.yaml": text})
    found = errors(done)
    assert [(finding.rule.name, *shown(finding)) for finding in found] == [(case.rule, *place)]
    message = found[0].message
    assert [word for word in case.words.split() if word not in message] == []
    assert message.isprintable()
    assert not message.endswith(".")
    assert len(message) < 400
    assert done.plan is None


ELSEWHERE = {
    "more-problems",  # counts omitted findings; tests/documents/test_document.py
    "unexplained-refusal",  # a fault of ours
}

FILES = {"file-not-utf-8", "no-spec-files", "output-inside-input", "unreadable-input"}
"""Errors of files, not of their content: tests/documents/test_files.py."""

BASE_FILES = {"bad-base-file", "no-configuration"}
"""Errors of the file that a Platform names: tests/app/test_render.py."""


def test_every_error_has_its_case():
    refusals = {
        rule.name
        for rule in (*documents.RULES, *spec_rules.RULES, *plan.RULES)
        if rule.severity is Severity.ERROR
    }
    assert refusals - FILES - BASE_FILES - ELSEWHERE == {case.rule for case in CASES}


def faults(done):
    return [(finding.place.file, finding.place.line, finding.rule.name) for finding in errors(done)]


def test_errors_of_all_files_are_reported_at_once(planned_files):
    """Errors in syntax, schema, values, references, labels and sums do not hide each other."""
    files = {
        "1-syntax.yaml": team("broken", spec="maxPending: ["),
        "2-schema.yaml": pool("big", spec="schedulingPolici: {}", selector="pool: big"),
        "3-value.yaml": pool("odd", selector="pool: odd").replace("768Gi", "80GB"),
        "4-reference.yaml": team("lost", quota="pool: nowhere", namespaces="[{name: lost}]"),
        "5-label.yaml": pool("bad", selector="pool: a/b"),
        "6-sums.yaml": joined(
            pool("sums", selector="pool: sums"), team("x", "pool: sums, limit: 65")
        ),
        "7-cycle.yaml": team(
            "self", "pool: sums", spec="parent: self", namespaces="[{name: self}]"
        ),
        "8-twice.yaml": team("x", "pool: sums", namespaces="[{name: other}]"),
        "9-target.yaml": platform("target:\n  kueue: '0.12'"),
    }
    texts = {name: text.lstrip("\n") for name, text in files.items()}
    assert faults(planned_files(texts)) == [
        ("1-syntax.yaml", 9, "yaml-syntax"),
        ("2-schema.yaml", 17, "unknown-field"),
        ("3-value.yaml", 15, "invalid-value"),
        ("4-reference.yaml", 8, "unknown-reference"),
        ("5-label.yaml", 7, "invalid-label"),
        ("6-sums.yaml", 25, "limit-above-available"),
        ("7-cycle.yaml", 9, "team-cycle"),
        ("8-twice.yaml", 4, "object-declared-twice"),
        ("9-target.yaml", 7, "unsupported-target"),
    ]


def test_errors_of_one_document_are_reported_at_once(planned_files):
    """A refused key does not hide errors in other values or references of its object."""
    text = joined(
        pool().replace("768Gi", "80GB").replace("perNode", "perNod"),
        team(quota="pool: nowhere, weight: 0", spec="parent: nobody"),
        model("priority: none\nreplicas: 0\nresources: {memory: 1 Gi}", team="nobody"),
        platform("target: {kueue: '0.12', volcan: '1.14'}"),
    )
    found = Counter(finding.rule.name for finding in errors(planned_files({"spec.yaml": text})))
    assert found == {
        "invalid-value": 2,
        "out-of-range": 2,
        "unknown-field": 2,
        "unknown-reference": 4,
        "unsupported-target": 1,
    }


REFERRING = joined(
    team("child", spec="parent: a", namespaces="[{name: child}]"),
    team("b", "pool: p", namespaces="[{name: b}]"),
    model("priority: high", team="a"),
    model("priority: high\nplacement: {pools: [p]}", name="other", team="b"),
)


@pytest.mark.parametrize(
    "good, bad",
    [
        ("cpu: 96", "cpu: [96"),
        ("cpu: 96", "cpu: 96\n   memory: 1"),
        ("nodeSelector", "nodeSelektor"),
        ("name: p\n", "name: 1\n"),
        ("name: p\n", "name: P\n"),
        ("name: p\n", "nam: p\n"),
        ("name: p\n", "name: no\n"),
        ("kind: ResourcePool", "kind: ResourcePol"),
        ("kind: ResourcePool\n", ""),
        ("kind: Team", "kind: [Team]"),
        ("v1alpha1\nkind: Team", "v1\nkind: Team"),
        ("namespaces", "namespace"),
        ("[{name: a-ns}]", "{name: a-ns}"),
        ("  name: a\n", "  name: -a\n"),
        ("kind: Team", "kind: Team\nkind: Team"),
        ("value: 1", "value: one"),
        ("name: high", "name: ''"),
        ("priorities", "prioritys"),
        ("---\n", ""),
        ("name: set", "name: Set"),
    ],
)
def test_a_refused_document_causes_no_errors_in_others(planned_files, good, bad):
    text = joined(platform("priorities:\n  - {name: high, value: 1}"), pool(), team())
    assert good in text
    assert errors(planned_files({"good.yaml": REFERRING, "spec.yaml": text})) == []
    done = planned_files({"good.yaml": REFERRING, "spec.yaml": text.replace(good, bad)})
    assert {finding.place.file for finding in errors(done)} == {"spec.yaml"}


@pytest.mark.parametrize(
    "good, bad",
    [
        ("weight: 3", "weight: 0"),
        ("weight: 3", "wait: 3"),
        ("weight: 3", "weight: ["),
        ("- name: a", "- nam: a"),
        ("- name: a", "- name: A"),
        ("queues:", "queue:"),
        ("scheduler-config.yaml", "config.yaml"),
        ("\ndata:", "\ndate:"),
    ],
)
def test_refused_queues_cause_no_errors_in_models(planned_files, good, bad):
    models = joined(article_pool(), article_model("schedulingClass: a"))
    text = queues("queues:\n  - name: a\n    weight: 3\n    priority: 5")
    assert errors(planned_files({"models.yaml": models, "queues.yaml": text})) == []
    assert good in text
    done = planned_files({"models.yaml": models, "queues.yaml": text.replace(good, bad)})
    assert {finding.place.file for finding in errors(done)} == {"queues.yaml"}
