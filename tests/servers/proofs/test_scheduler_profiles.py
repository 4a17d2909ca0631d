"""Profiles of kube-scheduler that do not pack, or pack another resource than they seem to."""

from copy import deepcopy

import yaml

from tests.servers import pairs
from tests.servers.nodes import Shape
from tests.servers.pages import bad, good
from tests.servers.pairs import HERE, MORE_GPUS, MORE_OF_ALL, SERVED, Load, Pair
from tests.servers.proofs.examples import conditions
from tests.servers.rendering import rendered
from tests.servers.workloads import Ask, pod

MIG = "nvidia.com/mig-1g.10gb"
PICTURE = Pair(Load(), Load(cpu="64", memory="512Gi"), image_on_second=True)
"""The first is emptier, the second has the image."""
MIXED = Pair(Load(3), Load(0), resource=MIG)
SIDES = 8
"""Pairs of MIG nodes: where nothing is counted a pod may still find the fuller one, but not each."""

# rule, number of its bad example, number of the good one, pair
SPREADS = [
    ("scheduler-arguments-ignored", 0, 0, MORE_OF_ALL),
    ("profile-does-not-pack", 0, 0, MORE_OF_ALL),
    ("profile-does-not-pack", 1, 0, MORE_GPUS),
    ("profile-does-not-pack", 2, 0, MORE_OF_ALL),
    ("profile-packs-weakly", 0, 0, SERVED),
    ("profile-packs-weakly", 1, 0, SERVED),
    ("scheduler-weight-zero", 0, 0, PICTURE),
    ("scheduler-plugin-not-disabled", 0, 0, PICTURE),
]


def parts(text):
    """An example's profile, and its Pod if it has one."""
    config, *rest = yaml.safe_load_all(text)
    (profile,) = config["profiles"]
    return profile, *rest


def configuration(profiles):
    """All of them in one scheduler, each under a name of its own."""
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    named = [{**deepcopy(profile), "schedulerName": name} for name, profile in profiles.items()]
    return yaml.safe_dump({**head, "profiles": named})


def test_pods_go_to_the_emptier_node(cluster):
    """By each bad profile the pod goes to the second node of its pair, by the good one to the first."""
    numbered = {f"n{i}": case for i, case in enumerate(SPREADS)}
    profiles = {}
    for name, (rule, worse, better, _) in numbered.items():
        (profiles[f"{name}-bad"],) = parts(bad(rule, worse))
        (profiles[f"{name}-good"],) = parts(good(rule, better))
    scene = {name: pair for name, (*_, pair) in numbered.items()}
    pairs.create(cluster, scene)
    with cluster.kube_scheduler(configuration(profiles)):
        for kind, want in (("bad", "second"), ("good", "first")):
            choosers = {
                name: pairs.chooser(name, pair, f"{name}-{kind}") for name, pair in scene.items()
            }
            found = pairs.choices(cluster, choosers)
            for name, (rule, number, *_) in numbered.items():
                assert found[name] == want, f"{rule}, {kind} example {number}"


def test_packing_profile_unused(cluster):
    """The page's Pods: without the profile's name it goes to the emptier node."""
    rule = "packing-profile-unused"
    profile, unnamed = parts(bad(rule))
    _, named = parts(good(rule))
    pairs.create(cluster, {"pair": MORE_OF_ALL})
    with cluster.kube_scheduler(configuration({"gpu": profile})):
        for made, want in ((unnamed, "second"), (named, "first")):
            made["spec"]["nodeSelector"] = {pairs.PAIR: "pair"}
            made["metadata"]["namespace"] = HERE
            assert pairs.choices(cluster, {"": made}) == {"": want}


def test_scheduler_missing(cluster):
    """The page's Pod gets no node and no condition until the profile has the name in the pod."""
    rule = "scheduler-missing"
    cluster.add_nodes(Shape(), 1)
    for text, bound in ((bad(rule), 0), (good(rule), 1)):
        profile, made = parts(text)
        witness = pod("witness", "others", Ask(gpus=1, scheduler=profile["schedulerName"]))
        with cluster.kube_scheduler(configuration({profile["schedulerName"]: profile})):
            cluster.create(made, witness)
            cluster.becomes("witness", lambda: cluster.bound("others"), 1)
            cluster.becomes("page", lambda: cluster.bound("vision"), bound)
            cluster.stays("page", lambda: cluster.bound("vision"), bound, for_s=1)
            [left] = cluster.pods("vision")
            assert bound or conditions(left) == {}
        for it in (made, witness):
            metadata = it["metadata"]
            cluster.delete("v1", "Pod", metadata["name"], metadata["namespace"])
        cluster.becomes("gone", lambda: cluster.pods("vision") + cluster.pods("others"), [])


def test_pod_without_packing_profile(cluster):
    """Pods of the page's Deployments: without the name of the rendered profile, one goes to the emptier node."""
    rule = "pod-without-packing-profile"
    things = [yaml.safe_dump(it) for it in yaml.safe_load_all(good(rule))]
    spec = "---\n".join(it for it in things if "policygen.dev/" in it)
    made = list(yaml.safe_load_all(rendered(spec).text))
    (text,) = (it["data"]["config.yaml"] for it in made if it["kind"] == "ConfigMap")
    (profile,) = yaml.safe_load(text)["profiles"]
    name = profile["schedulerName"]
    pods = {}
    for kind, example in (("bad", bad(rule)), ("good", good(rule))):
        for it in yaml.safe_load_all(example):
            if it["kind"] == "Deployment":
                template = it["spec"]["template"]
                template["spec"]["nodeSelector"] = {pairs.PAIR: "pair"}
                template["spec"].setdefault("schedulerName", "default-scheduler")
                template["metadata"]["namespace"] = HERE
                pods[kind, it["metadata"]["name"]] = {"apiVersion": "v1", "kind": "Pod", **template}
    pairs.create(cluster, {"pair": MORE_OF_ALL})
    want = dict.fromkeys(pods, "first") | {("bad", "search"): "second"}
    with cluster.kube_scheduler(configuration({name: profile, "default-scheduler": {}})):
        for key, it in pods.items():  # one by one, because they would fill a node
            assert pairs.choices(cluster, {key: it}) == {key: want[key]}


def test_packing_counts_another_resource(cluster):
    """The page's Pod requests a MIG instance, once per pair of nodes; either node may be the fuller."""
    rule = "packing-counts-another-resource"
    (worse, asks), (better, _) = parts(bad(rule, 1)), parts(good(rule, 1))
    scene = {
        f"mig{i}": MIXED if i % 2 else Pair(MIXED.second, MIXED.first, resource=MIG)
        for i in range(SIDES)
    }
    fuller = {name: "first" if pair == MIXED else "second" for name, pair in scene.items()}
    pairs.create(cluster, scene)

    def found(scheduler):
        pods = {}
        for name, pair in scene.items():
            made = pairs.chooser(name, pair, scheduler)
            made["spec"]["containers"] = asks["spec"]["containers"]
            pods[name] = made
        return pairs.choices(cluster, pods)

    with cluster.kube_scheduler(configuration({"worse": worse, "better": better})):
        assert found("better") == fuller
        assert found("worse") != fuller


def test_spread_opposes_packing(cluster):
    """Three of the page's Pods, on three nodes of which one is in use."""
    rule = "spread-opposes-packing"
    examples = {"worse": (parts(bad(rule)), [1, 1, 1]), "better": (parts(good(rule)), [0, 0, 3])}
    first, *_ = cluster.add_nodes(Shape(), 3)
    filler = pod("filler", "others", Ask(gpus=1))
    filler["spec"]["nodeName"] = first
    cluster.create(filler)
    profiles = {name: profile for name, ((profile, _), _) in examples.items()}
    with cluster.kube_scheduler(configuration(profiles)):
        for name, ((_, made), want) in examples.items():
            made["spec"]["schedulerName"] = name
            for i in range(3):
                metadata = {**made["metadata"], "name": f"it-{i}", "namespace": name}
                cluster.create({**made, "metadata": metadata})
            cluster.becomes("placed", lambda space=name: cluster.bound(space), 3)
            assert sorted(cluster.placement(namespace=name).values()) == want
            for i in range(3):
                cluster.delete("v1", "Pod", f"it-{i}", name)
            cluster.becomes("gone", lambda space=name: len(cluster.pods(space)), 0)


def test_gpus_that_no_filter_counts(cluster):
    """12 pods of a GPU each on a node with 8 GPUs: the kubelet, which is simulated here, would refuse 4."""
    rule = "gpu-fit-not-checked"
    cluster.add_nodes(Shape(gpus=8), 1)
    texts = {f"bad-{i}": bad(rule, i) for i in range(3)} | {"good": good(rule)}
    with cluster.kube_scheduler(configuration({it: parts(texts[it])[0] for it in texts})):
        for name in texts:
            made = [pod(f"{name}-{i}", name, Ask(gpus=1, scheduler=name)) for i in range(12)]
            cluster.create(*made)
            count = 8 if name == "good" else 12
            cluster.becomes(name, lambda name=name: cluster.bound(name), count)
            for it in made:
                cluster.delete("v1", "Pod", it["metadata"]["name"], name)
            cluster.becomes("gone", lambda name=name: cluster.pods(name), [])


def test_profile_strands_gpus(cluster):
    """The page's Pods on its two nodes, the small ones first."""
    rule = "profile-strands-gpus"
    examples = {"bad": bad(rule), "good": good(rule)}
    profiles = {
        name: yaml.safe_load(text.partition("---")[0])["profiles"][0]
        for name, text in examples.items()
    }
    cluster.add_nodes(Shape(gpus=8), 2)
    with cluster.kube_scheduler(configuration(profiles)):
        for name, gpus in (("bad", 2), ("good", 10)):
            small = [
                pod(f"notebook-{i}", name, Ask(gpus=1, cpu="4", memory="32Gi", scheduler=name))
                for i in range(2)
            ]
            large = pod("train", name, Ask(gpus=8, cpu="32", memory="256Gi", scheduler=name))
            for it in small:
                cluster.create(it)
                want = small.index(it) + 1
                cluster.becomes("small", lambda name=name: cluster.bound(name), want)
            cluster.create(large)
            cluster.becomes(name, lambda name=name: cluster.bound(name), gpus)
            cluster.stays(name, lambda name=name: cluster.bound(name), gpus, for_s=1)
            for it in (*small, large):
                cluster.delete("v1", "Pod", it["metadata"]["name"], name)
            cluster.becomes("gone", lambda name=name: cluster.pods(name), [])
