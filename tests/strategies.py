"""Hypothesis strategies for complete specs that are valid by construction.

A drawn spec is a list of documents, plain data that any YAML or JSON writer can print. The numbers
of a team tree are drawn from the top down, each within what the parent has left. So no draw is
filtered out, and every part of a spec can shrink to nothing on its own.
"""

import itertools
import json
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

from hypothesis import strategies as st

from policygen.hardware import catalog

API = "policygen.dev/v1alpha1"
SCHEDULERS = ("kueue", "volcano", "kube-scheduler")
VERSIONS = {
    "kubernetes": ("1.33", "1.34.4", "1.35", "1.36.3", "v1.37"),
    "kueue": ("0.13", "0.14.2", "0.15", "0.16.6", "0.17", "0.18", "0.19"),
    "volcano": ("1.12", "1.13.0", "1.14", "1.14.1", "1.14.2", "1.15"),
}
MI = 1 << 20
MAX_DEPTH = 4
"""Teams above each other; with the pool's own queue the most that Volcano takes."""

# A queue's name, `<team>.own.<pool>`, has at most 63 characters.
TEAM_LENGTH = POOL_LENGTH = 29
SET_LENGTH = 63 - len("-kube-scheduler")
PRIORITY_LENGTH = 63 - len(".preempting")

SURPRISING = ("no", "on", "y", "null", "true", "1e3", "0x1f", "007", "123", "12-30", "own", "pods")
"""Names that some reader of YAML takes for something else, and words of our own."""

_WORDS = st.text(alphabet="abyz019", min_size=1, max_size=5)
_TEXTS = st.text(
    alphabet=st.sampled_from("ab \n\t\"'#:-{}[]&*!|>%@`\\,?=~0é\N{GRINNING FACE}"),
    min_size=1,
    max_size=30,
)
_BOOL = st.booleans()
_RARELY = st.sampled_from((False, False, False, True))
_OFTEN = st.sampled_from((False, True, True, True))


@cache
def labels(length):
    """DNS labels of at most so many characters."""
    joined = st.lists(_WORDS, min_size=1, max_size=3).map("-".join)
    long = st.integers(1, length).map(lambda count: "x" * count)
    return (
        st.one_of(joined, st.sampled_from(SURPRISING), long)
        .map(lambda name: name[:length])
        .map(lambda name: name.rstrip("-"))
    )


def _names(draw, count, word, length, tag, taken=()):
    """Distinct names, each ending in the tag; the simplest are a word and a number."""
    suffix = f"-{tag}" if tag else ""
    found = []
    for index in range(count):
        name = (_maybe(draw, labels(length - len(suffix))) or f"{word}{index}") + suffix
        if name in found or name in taken:
            name = f"{word}{index}-again{suffix}"
        found.append(name)
    return found


def _kept(**fields):
    """A mapping without its empty fields, False and 0 kept."""
    return {key: value for key, value in fields.items() if value not in (None, {}, [])}


@cache
def _several(options, least, most):
    """Some of the options, each at most once; built once, since that takes longer than a draw."""
    return st.lists(st.sampled_from(options), min_size=least, max_size=most, unique=True)


def _maybe(draw, strategy, chance=_BOOL):
    return draw(strategy) if draw(chance) else None


# --- quantities ------------------------------------------------------------------------------


def _cpu(draw, milli):
    """A text or number of so many thousandths of a core."""
    forms = [f"{milli}m", f"{milli // 1000}.{milli % 1000:03}"]
    if milli % 1000 == 0:
        forms += [str(milli // 1000), milli // 1000]
    if milli % 1_000_000 == 0:
        forms.append(f"{milli // 1_000_000}k")
    return draw(st.sampled_from(forms))


_BYTES = {"Ki": 1 << 10, "Mi": MI, "Gi": 1 << 30, "k": 1000, "M": 10**6, "G": 10**9}


def _memory(draw, size):
    """A text or number of so many bytes."""
    forms = [f"{size}", size]
    forms += [f"{size // unit}{word}" for word, unit in _BYTES.items() if size % unit == 0]
    return draw(st.sampled_from(forms))


def _between(draw, low, high):
    """A whole number, round in one system or the other where it can be."""
    number = draw(st.integers(low, high))
    unit = draw(st.sampled_from((1, 1000, 1024, 10**6, MI, 10**9, 1 << 30)))
    return max(low, number // unit * unit)


def _resources(draw, milli, size):
    return {"cpu": _cpu(draw, milli), "memory": _memory(draw, size)}


# --- pools -----------------------------------------------------------------------------------


@dataclass
class Share:
    """What a team has of a pool; amounts by profile, "" where units are not counted by profile."""

    guarantee: dict
    left: dict
    """Of the guarantee, what its children were not given."""
    limit: dict | None = None
    """None: not known here, since an overcommit ratio decides it."""


@dataclass
class Drawn:
    """A pool, and what the numbers of its teams are drawn from."""

    name: str
    document: dict
    scheduler: str
    units: dict
    """Available, by profile."""
    slices: dict
    cpu: int | None
    """Available thousandths and bytes; None where a data file knows them."""
    memory: int | None
    ratio: Fraction | None
    queue: str
    shares: dict = field(default_factory=dict)
    """By team."""
    whole: dict = field(default_factory=dict)
    left: dict = field(default_factory=dict)
    budget: dict = field(default_factory=dict)

    @property
    def by_profile(self):
        return list(self.units) != [""]

    def along(self, units):
        """The cpu and memory that come along with units."""
        weight = sum(count * self.slices[profile] for profile, count in units.items())
        whole = sum(count * self.slices[profile] for profile, count in self.units.items())
        return {
            "cpu": self.cpu * weight // whole,
            "memory": self.memory // MI * weight // whole * MI,
        }


_COUNTS = st.one_of(st.integers(1, 12), st.sampled_from((16, 64, 1000, 2000, 12_345, 1_000_000)))
_SHAPES = tuple(
    sorted(
        (shape for shape in catalog.shapes().values() if shape.cpu_milli >= 4000),
        key=lambda shape: (shape.gpus, shape.name),
    )
)
_WHOLE = tuple(sorted(catalog.products().values(), key=lambda product: product.id))
_CUT = tuple(product for product in _WHOLE if product.mig)
_STYLES = st.sampled_from(({}, {"binPack": True}, {"spread": True}, {"binPack": False}))

_LABEL_KEYS = ("zone", "example.com/Kind_of.node", "nvidia.com/gpu.product", "a.b-c.io/x")
_LABEL_VALUES = ("", "a", "NVIDIA-A100-SXM4-40GB", "true", "1e3", "0")
_LEVELS = ("example.com/block", "rack", "zone")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_TAINTS = tuple(itertools.product(("gpu", "example.com/team", "z.9"), _EFFECTS))


def _taints(draw):
    keys = draw(_several(_TAINTS, 0, 3))
    return [
        _kept(key=key, value=_maybe(draw, st.sampled_from(("", "true", "a_b"))), effect=effect)
        for key, effect in keys
    ]


def _tolerations(draw):
    found = []
    for _ in range(draw(st.integers(0, 3))):
        operator = draw(st.sampled_from((None, "Equal", "Exists")))
        key = draw(st.sampled_from(("gpu", "example.com/team")))
        if operator == "Exists" and draw(_BOOL):
            key = None
        value = _maybe(draw, st.sampled_from(("", "true"))) if operator != "Exists" else None
        effect = _maybe(draw, st.sampled_from(_EFFECTS))
        seconds = _maybe(draw, st.sampled_from((0, 300))) if effect == "NoExecute" else None
        found.append(
            _kept(key=key, operator=operator, value=value, effect=effect, tolerationSeconds=seconds)
        )
    return found


def _levels(draw):
    levels = draw(_several(_LEVELS, 0, 3))
    return [*levels, "kubernetes.io/hostname"] if not levels or draw(_BOOL) else levels


def _offered(draw, gpu):
    """MIG profiles to choose from, with their compute slices; may settle the product."""
    if draw(_BOOL):
        return {"1g.5gb": 1, "1g.10gb+me": 1, "3g.20gb": 3, "7g.80gb": 7}
    product = draw(st.sampled_from(_CUT))
    gpu["product"] = draw(st.sampled_from((*product.labels, product.id)))
    profiles = catalog.mig_profiles(product)
    return {name: profile.compute_slices for name, profile in profiles.items()}


def _sharing(draw):
    """The `gpu` section as far as sharing goes, and the slices of each MIG profile."""
    sharing = draw(st.sampled_from((None, "none", "timeSlicing", "mps", "mig", "mig")))
    gpu = _kept(sharing=sharing)
    if sharing in {"timeSlicing", "mps"}:
        gpu["replicas"] = draw(st.sampled_from((2, 3, 4, 10, 1000)))
    if sharing != "mig":
        return gpu, {}
    offered = _offered(draw, gpu)
    single = draw(_RARELY)
    chosen = _several(tuple(sorted(offered)), 1, 1 if single else 4)
    instances = dict.fromkeys(draw(chosen), 0)
    strategy = "single" if single else draw(st.sampled_from((None, "mixed")))
    gpu["mig"] = _kept(strategy=strategy, instances=instances)
    return gpu, {profile: offered[profile] for profile in instances}


def _fill(draw, gpu, slices, cards):
    """Draw instances that the cards hold, and no fewer than nodes. Returns the slices of each profile.

    Each card has instances of one profile only, so that no search for a placement is needed.
    """
    if not slices:
        return slices
    product = catalog.product(gpu["product"]) if "product" in gpu else None
    known = catalog.mig_profiles(product.product) if product else {}
    per_card = {it: known[it].max_per_gpu if known else 7 // slices[it] for it in slices}
    instances = {}
    for profile in list(slices)[:cards]:
        own = cards // len(slices) or 1
        most = min(own * per_card[profile], 1_000_000)
        instances[profile] = draw(st.integers((most + 1) // 2, most))
    whole = sum(count * slices[it] for it, count in instances.items())
    if max(slices[it] for it in instances) * cards > whole * gpu["perNode"]:
        first = next(iter(instances))
        instances = {first: min(cards * per_card[first], 1_000_000)}
    gpu["mig"]["instances"] = instances
    return {profile: slices[profile] for profile in instances}


def _units(gpu, slices, cards):
    """Available units by profile, and slices by profile."""
    if not slices:
        return {"": cards * gpu.get("replicas", 1)}, {"": 1}
    instances = gpu["mig"]["instances"]
    if gpu["mig"].get("strategy") == "single":
        return {"": next(iter(instances.values()))}, {"": next(iter(slices.values()))}
    return dict(instances), slices


def _capacity(draw, per_node, gpu):
    """The `capacity` section, the number of physical cards, and the node's cpu and memory.

    Cpu and memory are None if the section does not set them. They then come from the node type or
    from the product, which is drawn here if it is still open.
    """
    nodes = draw(_COUNTS)
    total = min(nodes * per_node, 1_000_000)
    available = _maybe(draw, st.integers(1, total))
    cards = available or total
    capacity = _kept(availableGPUs=available)
    if nodes * per_node > total or draw(_BOOL):
        capacity["totalGPUs"] = total
    else:
        capacity["nodes"] = nodes
    shapes = [shape for shape in _SHAPES if shape.gpus == per_node]
    source = draw(st.sampled_from(("allocatable", "allocatable", "type", "product")))
    if source == "type" and shapes:
        capacity["nodeType"] = draw(st.sampled_from(shapes)).name
        if draw(_RARELY):
            capacity["systemReserved"] = {"cpu": "1", "memory": "1Gi"}
        return capacity, cards, None
    if source == "product" and "product" not in gpu and gpu.get("sharing") != "mig":
        product = draw(st.sampled_from(_WHOLE))
        gpu["product"] = draw(st.sampled_from((*product.labels, product.id)))
    if source == "product" and "product" in gpu:
        return capacity, cards, None
    milli = (
        draw(st.sampled_from((96_000, 10_001, 191_970, 7)))
        if draw(_BOOL)
        else _between(draw, 1, 400_000)
    )
    size = (
        draw(st.sampled_from((768 << 30, 10_241 * MI, 2 * 10**12, MI + 1)))
        if draw(_BOOL)
        else _between(draw, MI, 3 << 40)
    )
    capacity["nodeAllocatable"] = _resources(draw, milli, size)
    return capacity, cards, (milli, size)


def _policy(draw, scheduler, volcano_style):
    """A schedulingPolicy; Volcano's pools all place alike."""
    policy = {}
    if scheduler == "volcano":
        policy.update(volcano_style)
    else:
        policy.update(draw(_STYLES))
    ratio = _maybe(draw, st.sampled_from((1, 1.1, 1.5, 2.25, 100)), _RARELY)
    policy.update(
        _kept(
            overcommitRatio=ratio,
            topologyAware=_maybe(draw, _BOOL, _RARELY),
            gangScheduling=_maybe(draw, _BOOL, _RARELY),
            preemptionEnabled=_maybe(draw, _BOOL),
        )
    )
    return policy


def _pool(draw, name, scheduler, said, resource, node_group, volcano_style):
    per_node = draw(st.sampled_from((1, 2, 4, 8, 8, 3)))
    gpu, slices = _sharing(draw)
    gpu["perNode"] = per_node
    capacity, cards, node = _capacity(draw, per_node, gpu)
    if "product" not in gpu and draw(_BOOL):
        gpu["memory"] = draw(st.sampled_from(("24Gi", "80Gi", "80G", "141G")))
    slices = _fill(draw, gpu, slices, cards)
    units, slices = _units(gpu, slices, cards)
    if resource:
        gpu["resource"] = resource
    policy = _policy(draw, scheduler, volcano_style)
    more = draw(_several(_LABEL_KEYS, 0, 2))
    selector = {"pool": name} | {key: draw(st.sampled_from(_LABEL_VALUES)) for key in more}
    if node_group:
        selector["volcano.sh/nodegroup-name"] = name
    spec = _kept(
        nodeSelector=selector,
        taints=_taints(draw) if draw(_BOOL) else None,
        gpu=gpu,
        capacity=capacity,
        scheduler=scheduler if said else None,
        schedulingPolicy=policy,
        topology={"levels": _levels(draw)} if draw(_RARELY) else None,
        quotaBackstop=_maybe(draw, _BOOL, _RARELY),
        quotaCpuAndMemory=_maybe(draw, _BOOL, _RARELY) if scheduler == "kube-scheduler" else None,
        provisioning=_maybe(draw, st.sampled_from(("spot", "onDemand")), _RARELY),
    )
    if draw(_RARELY):
        spec["tolerations"] = _tolerations(draw)
    ratio = policy.get("overcommitRatio")
    return Drawn(
        name=name,
        document=_document("ResourcePool", name, spec),
        scheduler=scheduler,
        units=units,
        slices=slices,
        cpu=node[0] * cards // per_node if node else None,
        memory=node[1] * cards // per_node // MI * MI if node else None,
        ratio=None if ratio is None else Fraction(str(ratio)),
        queue=name,
    )


def _pools(draw, schedulers, default, tag):
    """1 to 4 pools whose nodes, and whose resources where it matters, are their own."""
    count = draw(st.integers(1, 4))
    names = _names(draw, count, "pool", POOL_LENGTH, tag, taken=("root", "default"))
    of = [draw(st.sampled_from(schedulers)) for _ in names]
    style = draw(_STYLES)
    groups = of.count("volcano") > 1 and draw(_BOOL)
    pools = []
    for index, (name, scheduler) in enumerate(zip(names, of, strict=True)):
        volcano = scheduler == "volcano"
        # A quota, and a Volcano queue without node groups, know a resource by its name only.
        own = (scheduler == "kube-scheduler" and count > 1) or (
            volcano and of.count("volcano") > 1 and not groups
        )
        resource = f"gpu{index}.example.com/Card" if own else None
        if not own and draw(_RARELY):
            resource = draw(st.sampled_from(("amd.com/gpu", "nvidia.com/gpu.shared")))
        said = scheduler != default or draw(_BOOL)
        pools.append(_pool(draw, name, scheduler, said, resource, groups and volcano, style))
    return pools


def _shared_queue(draw, pools, tag):
    """Two or three alternatives of one Kueue pool under one queue, or an empty list."""
    first = next((pool for pool in pools if pool.scheduler == "kueue"), None)
    if first is None or not draw(_RARELY):
        return []
    count = draw(st.integers(1, 2))
    taken = [pool.name for pool in pools]
    *names, queue = _names(draw, count + 1, "more", POOL_LENGTH, tag, taken=taken)
    members = [first]
    for name in names:
        spec = dict(first.document["spec"])
        spec["nodeSelector"] = spec["nodeSelector"] | {"pool": name}
        twin = Drawn(
            **{
                **first.__dict__,
                "name": name,
                "document": _document("ResourcePool", name, spec),
                "shares": {},
            }
        )
        pools.append(twin)
        members.append(twin)
    for member in members:
        member.queue = queue
    order = draw(st.permutations([member.name for member in members]))
    return [{"name": queue, "pools": list(order)}]


# --- teams -----------------------------------------------------------------------------------


@dataclass
class Branch:
    """A team before it is written."""

    name: str
    parent: "Branch | None"
    depth: int
    inner: bool = False
    quotas: dict = field(default_factory=dict)
    """By pool, the quota as it is written, and its explicit guarantees until they are."""
    namespaces: list = field(default_factory=list)


def _branches(draw, tag):
    """A forest of teams, parents before children, at most MAX_DEPTH deep."""
    count = draw(st.integers(0, 7))
    found = []
    for name in _names(draw, count, "team", TEAM_LENGTH, tag):
        above = [branch for branch in found if branch.depth < MAX_DEPTH]
        parent = draw(st.sampled_from([None, *above]))
        if parent:
            parent.inner = True
        found.append(Branch(name, parent, parent.depth + 1 if parent else 1))
    for branch in found:
        least = 0 if branch.inner else 1
        branch.namespaces = [
            _kept(name=f"{branch.name}-{index}", create=_maybe(draw, _BOOL))
            for index in range(draw(st.integers(least, 2)))
        ]
    return found


def _guarantees(draw, pool, branch):
    """The guarantee of a quota within what the parent has left: units, and explicit amounts."""
    above = pool.shares[branch.parent.name].left if branch.parent else pool.left
    units = {profile: draw(st.integers(0, above[profile])) for profile in pool.units}
    explicit = {}
    along = pool.along(units) if pool.cpu is not None else {}
    for key, amount in along.items():
        # An ancestor with explicit amounts can leave less than the proportional share.
        if amount > above[key] or (pool.ratio is None and draw(_RARELY)):
            explicit[key] = _between(draw, 0, above[key])
    found = units | along | explicit
    for key, amount in found.items():
        above[key] -= amount
    pool.shares[branch.name] = Share(found, dict(found))
    return units, explicit


def _written(draw, pool, share, most):
    """A limit in units of every profile; None where it has no room, or just is not written."""
    least = {profile: share.guarantee[profile] for profile in pool.units}
    if not draw(_BOOL) or any(least[profile] > most[profile] for profile in least):
        return None
    return {profile: draw(st.integers(least[profile], most[profile])) for profile in least}


def _limits(draw, pool, branch):
    """The limit of a quota: units or None, and explicit amounts of cpu and memory."""
    share = pool.shares[branch.name]
    wider = pool.shares[branch.parent.name].limit if branch.parent else pool.whole
    if wider is None:
        return None, {}
    most = wider
    bound = pool.ratio is not None and branch.parent is None
    if bound:
        room = {profile: share.guarantee[profile] + pool.budget[profile] for profile in pool.units}
        most = {profile: min(wider[profile], amount) for profile, amount in room.items()}
    written = _written(draw, pool, share, most)
    if bound and written is None:
        return None, {}
    if bound:
        for profile, amount in written.items():
            pool.budget[profile] -= amount - share.guarantee[profile]
    elif written and pool.by_profile and draw(_BOOL):
        del written[draw(st.sampled_from(sorted(written)))]
    along, explicit = _limits_along(draw, pool, share, wider, written)
    share.limit = wider | (written or {}) | along | explicit
    return written or None, explicit


def _limits_along(draw, pool, share, wider, written):
    """What the limits of cpu and memory follow from the units, and what is written of them."""
    if pool.cpu is None:
        return {}, {}
    along = {key: wider[key] for key in ("cpu", "memory")}
    if written:
        units = {profile: wider[profile] for profile in pool.units} | written
        along = {key: min(amount, wider[key]) for key, amount in pool.along(units).items()}
    explicit = {}
    for key, amount in along.items():
        low = share.guarantee[key]
        spoken = pool.ratio is None and wider[key] and draw(_RARELY)
        if amount < low or spoken:
            explicit[key] = _between(draw, max(1, low), wider[key])
    return along, explicit


def _amounts(pool, units):
    """A guarantee or limit as it is written."""
    return units if pool.by_profile else units[""]


def _first_numbers(draw, branches, pools):
    """Guarantees and weights: who has a share of which pool."""
    for branch in branches:
        weights = {}
        for pool in pools:
            allowed = branch.parent is None or branch.parent.name in pool.shares
            if not allowed or not draw(_OFTEN):
                continue
            units, explicit = _guarantees(draw, pool, branch)
            if pool.by_profile and draw(_BOOL):
                units = {profile: count for profile, count in units.items() if count}
            said = units and (any(units.values()) or draw(_BOOL))
            if pool.queue not in weights:  # one queue has one weight
                weights[pool.queue] = _maybe(draw, st.sampled_from((1, 2, 3, 5, 1000, 65_535)))
            quota = _kept(
                pool=pool.name,
                guarantee=_amounts(pool, units) if said else None,
                weight=weights[pool.queue],
            )
            branch.quotas[pool.name] = (quota, explicit)


def _budget(pool, branches):
    """What an overcommit ratio leaves for limits above the guarantees of root teams."""
    roots = [
        pool.shares[branch.name]
        for branch in branches
        if branch.parent is None and branch.name in pool.shares
    ]
    return {
        profile: int(count * pool.ratio) - sum(share.guarantee[profile] for share in roots)
        for profile, count in pool.units.items()
    }


def _second_numbers(draw, branches, pools):
    """Draws limits, now that all guarantees are known, and explicit amounts of cpu and memory."""
    for pool in pools:
        if pool.ratio is not None:
            pool.budget = _budget(pool, branches)
        for branch in branches:
            if pool.name not in branch.quotas:
                continue
            quota, guarantees = branch.quotas[pool.name]
            written, limits = _limits(draw, pool, branch)
            quota.update(_kept(limit=_amounts(pool, written) if written else None))
            for key, text in (("cpu", _cpu), ("memory", _memory)):
                bounds = {
                    word: text(draw, amounts[key])
                    for word, amounts in (("guarantee", guarantees), ("limit", limits))
                    if key in amounts
                }
                quota.update(_kept(**{key: bounds}))


def _teams(draw, pools, tag):
    branches = _branches(draw, tag)
    for pool in pools:
        pool.whole = dict(pool.units)
        if pool.cpu is not None:
            pool.whole |= {"cpu": pool.cpu, "memory": pool.memory}
        pool.left = dict(pool.whole)
    _first_numbers(draw, branches, pools)
    _second_numbers(draw, branches, pools)
    return branches


def _defaults(draw, pools):
    """Default requests that fit every node: a drawn nodeAllocatable can be as small as 1m and 1Mi."""
    if any("nodeAllocatable" in pool.document["spec"]["capacity"] for pool in pools):
        return _resources(draw, 1, MI)
    return _resources(draw, draw(st.integers(1, 2000)), draw(st.integers(1, 4096)) * MI)


# --- models ----------------------------------------------------------------------------------

_FAMILIES = (
    ("llama", "70b"),
    ("llama-3.1", "8b"),
    ("mixtral", "8x7b"),
    ("ours", "13b"),
    ("x", None),
)


def _model(draw, name, owner, pools, priorities):
    kind = draw(st.sampled_from((None, "serving", "training", "batch")))
    resources = _kept(
        gpus=_maybe(draw, st.sampled_from((1, 1, 2, 8)), _OFTEN),
        gpuMemory=_maybe(draw, st.sampled_from(("1Gi", "4G", "60Gi", "1000Gi"))),
        cpu=_maybe(draw, st.sampled_from(("1m", "500m", 1, 1.5, "1k")), _RARELY),
        memory=_maybe(draw, st.sampled_from(("1Mi", "500M", "1G", 4096, "1Ti")), _RARELY),
    )
    family = _maybe(draw, st.sampled_from(_FAMILIES)) or (None, None)
    gang = None
    if draw(_BOOL):
        size = draw(st.sampled_from((1, 2, 4, 8, 16)))
        run_as = _maybe(draw, st.sampled_from(("pods", "vcjob", "lws", "job")), _RARELY)
        gang = _kept(size=size, runAs=run_as)
    autoscaling = None
    if gang is None and draw(_RARELY):
        least = draw(st.integers(0, 4))
        most = draw(st.integers(max(1, least), 20))
        concurrency = _maybe(draw, st.integers(1, 200))
        scaled = kind in (None, "serving") and least and concurrency
        autoscaling = _kept(
            minReplicas=least,
            maxReplicas=most,
            targetConcurrency=concurrency,
            metric="vllm:num_requests_running" if scaled else None,
        )
    own = list(owner.quotas)
    near = own if own and draw(_BOOL) else [pool.name for pool in pools]
    placement = _kept(
        pools=_maybe(draw, _several(tuple(near), 1, 3)),
        nodeTypes=_maybe(
            draw,
            _several(("h100", "a100-80gb", "none-such"), 1, 3),
            _RARELY,
        ),
        toleratePreemptible=_maybe(draw, _BOOL),
    )
    sizing = _kept(
        precision=_maybe(draw, st.sampled_from(("fp16", "fp8", "int4")), _RARELY),
        kvCachePrecision=_maybe(draw, st.sampled_from(("fp16", "fp8")), _RARELY),
        concurrency=_maybe(draw, st.integers(1, 64), _RARELY),
        contextLength=_maybe(draw, st.sampled_from((1, 8192, 100_000)), _RARELY),
        runtimeMemory=_maybe(draw, st.sampled_from(("1Gi", "2G")), _RARELY),
        gpuMemoryUtilization=_maybe(draw, st.integers(1, 100), _RARELY),
        anyGpuCount=_maybe(draw, _BOOL, _RARELY),
    )
    spaces = [space["name"] for space in owner.namespaces]
    return _document(
        "Model",
        name,
        _kept(
            team=owner.name,
            namespace=_maybe(draw, st.sampled_from(spaces), _RARELY),
            workload=kind,
            priority=_maybe(draw, st.sampled_from(priorities)) if priorities else None,
            family=family[0],
            size=family[1],
            resources=resources,
            sizing=sizing,
            replicas=_maybe(draw, st.integers(1, 8)) if not gang or len(name) <= 61 else None,
            gang=gang,
            autoscaling=autoscaling,
            placement=placement,
        ),
    )


def _models(draw, branches, pools, priorities, tag):
    owners = [branch for branch in branches if branch.namespaces]
    if not owners:
        return []
    count = draw(st.integers(0, 4))
    return [
        _model(draw, name, draw(st.sampled_from(owners)), pools, priorities)
        for name in _names(draw, count, "model", 63, tag)
    ]


# --- the whole -------------------------------------------------------------------------------


def _document(kind, name, spec):
    return {
        "apiVersion": API,
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def _priorities(draw, tag):
    count = draw(st.integers(0, 3))
    return [
        _kept(
            name=f"{name}.x" if len(name) + 2 <= PRIORITY_LENGTH and draw(_RARELY) else name,
            value=draw(st.sampled_from((0, 1, 1000, -5, -(2**31), 10**9))),
            preempts=_maybe(draw, _BOOL),
            description=_maybe(draw, _TEXTS, _RARELY),
        )
        for name in _names(draw, count, "rank", PRIORITY_LENGTH - 2, tag, taken=("default",))
    ]


def _target(draw, target):
    if target is not None:
        return target
    return _kept(**{name: _maybe(draw, st.sampled_from(known)) for name, known in VERSIONS.items()})


@st.composite
def specs(draw, schedulers=SCHEDULERS, target=None, tag=""):
    """A whole spec: a list of documents, the Platform first where there is one.

    `target` fixes the versions; `tag` ends every name, so that several specs fit one cluster.
    """
    default = draw(st.sampled_from(schedulers))
    plain = target is None and not tag and draw(_RARELY)
    if plain:
        default = "kueue"
    pools = _pools(draw, schedulers, default, tag)
    shared = [] if plain else _shared_queue(draw, pools, tag)
    branches = _teams(draw, pools, tag)
    priorities = [] if plain else _priorities(draw, tag)
    defaults = _kept(
        scheduler=default if default != "kueue" else _maybe(draw, st.just("kueue"), _RARELY),
        schedulingPolicy=_kept(
            topologyAware=_maybe(draw, _BOOL, _RARELY),
            preemptionEnabled=_maybe(draw, _BOOL, _RARELY),
            gangScheduling=_maybe(draw, _BOOL, _RARELY),
            **draw(_STYLES),
        ),
        containerDefaults=_defaults(draw, pools) if draw(_RARELY) else None,
    )
    documents = []
    if not plain:
        platform = _kept(
            target=_target(draw, target),
            priorities=priorities,
            sharedQueues=shared,
            defaults=defaults,
        )
        name = _names(draw, 1, "set", SET_LENGTH, tag)[0]
        documents.append(_document("Platform", name, platform))
    needed = any(pool.document["spec"].get("quotaCpuAndMemory") for pool in pools) and (
        plain or "containerDefaults" not in defaults
    )
    documents += [pool.document for pool in pools]
    for branch in branches:
        documents.append(
            _document(
                "Team",
                branch.name,
                _kept(
                    parent=branch.parent.name if branch.parent else None,
                    namespaces=branch.namespaces,
                    maxPending=_maybe(draw, st.sampled_from((0, 1, 1000)), _RARELY),
                    containerDefaults=_defaults(draw, pools) if needed or draw(_RARELY) else None,
                    quotas=[quota for quota, _ in branch.quotas.values()],
                ),
            )
        )
    names = [priority["name"] for priority in priorities]
    return documents + _models(draw, branches, pools, names, tag)


# --- the articles' forms ---------------------------------------------------------------------

_CARDS = ("a10g", "a100", "h100", "NVIDIA-L4", "nvidia-tesla-t4")


def _article_pool(draw, name, card, group):
    selector = {"gpu.type": card} | ({"volcano.sh/nodegroup-name": name} if group else {})
    total = draw(_COUNTS)
    capacity = draw(
        st.sampled_from(
            (
                {"totalGPUs": total},
                {"availableGPUs": total},
                {"totalGPUs": total, "availableGPUs": (total + 1) // 2},
            )
        )
    )
    policy = {} if group else draw(_STYLES)
    spec = _kept(
        nodeSelector=selector,
        capacity=capacity,
        taints=_taints(draw) if draw(_BOOL) else None,
        schedulingPolicy=policy
        | _kept(
            overcommitRatio=_maybe(draw, st.sampled_from((1, 1.2, 3)), _RARELY),
            preemptionEnabled=_maybe(draw, _BOOL),
        ),
    )
    return _document("ResourcePool", name, spec) | {"apiVersion": "gpu.example.com/v1"}


def _article_model(draw, name, queues):
    spec = _kept(
        modelFamily=_maybe(draw, st.sampled_from(("llama", "ours"))),
        modelSize=_maybe(draw, st.sampled_from(("7b", "70b"))),
        resources=_kept(
            gpuMemory=_maybe(draw, st.sampled_from(("13Gi", "140Gi"))),
            cpu=_maybe(draw, st.just(2)),
            memory=_maybe(draw, st.just("16Gi")),
        ),
        autoscaling=_maybe(draw, st.just({"minReplicas": 1, "maxReplicas": 5})),
        placementConstraints=_maybe(draw, st.just({"nodeTypes": ["a100", "h100"]})),
        schedulingClass=_maybe(draw, st.sampled_from(queues)) if queues else None,
    )
    return _document("ModelServingSpec", name, spec) | {"apiVersion": "inference.example.com/v1"}


@st.composite
def articles(draw, tag=""):
    """A spec in the forms of the articles, of Kueue pools or, by a Platform, of Volcano ones."""
    volcano = draw(_RARELY)
    cards = draw(_several(_CARDS, 1, 3))
    names = _names(draw, len(cards), "pool", POOL_LENGTH, tag, taken=("root", "default"))
    documents = [
        _article_pool(draw, name, card, volcano) for name, card in zip(names, cards, strict=True)
    ]
    count = draw(st.integers(0, 5))
    queues = [
        _kept(
            name=name,
            priority=_maybe(draw, st.sampled_from((-(2**31), -1, 0, 50, 10**9)), _OFTEN),
            weight=_maybe(draw, st.sampled_from((1, 3, 20, 50, 1000))),
            maxPending=_maybe(draw, st.sampled_from((0, 100))),
        )
        for name in _names(draw, count, "queue", TEAM_LENGTH, tag, taken=("default",))
    ]
    inner = json.dumps(_kept(queues=queues))
    documents.append(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "gpu-scheduler-config"},
            "data": {"scheduler-config.yaml": inner},
        }
    )
    documents += [
        _article_model(draw, name, [queue["name"] for queue in queues])
        for name in _names(draw, draw(st.integers(0, 2)), "model", 63, tag)
    ]
    if volcano:
        documents.append(_document("Platform", "set", {"defaults": {"scheduler": "volcano"}}))
    return documents
