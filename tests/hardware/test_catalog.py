"""Products, MIG profiles and node shapes, and that docs/hardware.md shows all data."""

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policygen.hardware import catalog, models
from tests.hardware.files import DATA

GIB = 1 << 30
MIB = 1 << 20


def is_nominal(row):
    """Whether a figure was derived or assumed, not read from the source itself."""
    return row.get("confidence") == "nominal"


@pytest.mark.parametrize(
    "name, id_, assumed",
    [
        # as the articles write them
        ("a10g", "a10g", False),
        ("a100", "a100-40gb", True),
        ("a100-80gb", "a100-80gb", False),
        ("h100", "h100-80gb", True),
        ("A100", "a100-40gb", True),
        # nvidia.com/gpu.product, by today's and by older drivers
        ("NVIDIA-A100-SXM4-40GB", "a100-40gb", False),
        ("A100-SXM4-40GB", "a100-40gb", False),
        ("NVIDIA-A100-80GB-PCIe", "a100-80gb", False),
        ("NVIDIA-H100-PCIe", "h100-80gb", False),
        ("NVIDIA-H100-NVL", "h100-94gb", False),
        ("NVIDIA-H200-NVL", "h200-141gb", False),
        ("Tesla-T4", "t4", False),
        ("NVIDIA-A100", "a100-40gb", True),
        # with what the device plugin appends
        ("Tesla-T4-SHARED", "t4", False),
        ("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", "h100-80gb", False),
        ("A100-SXM4-40GB-MIG-1g.5gb-SHARED", "a100-40gb", False),
        # cloud.google.com/gke-accelerator
        ("nvidia-tesla-a100", "a100-40gb", False),
        ("nvidia-a100-80gb", "a100-80gb", False),
        ("nvidia-h100-80gb", "h100-80gb", False),
        ("nvidia-h100-mega-80gb", "h100-80gb", False),
        ("nvidia-h200-141gb", "h200-141gb", False),
        ("nvidia-b200", "b200", False),
        ("nvidia-gb200", "gb200", False),
        ("nvidia-l4", "l4", False),
        ("nvidia-rtx-pro-6000", "rtx-pro-6000", False),
        ("nvidia-tesla-t4", "t4", False),
        ("nvidia-tesla-v100", "v100-16gb", False),
        ("nvidia-tesla-p100", "p100", False),
        ("nvidia-tesla-p4", "p4", False),
        # as people write them
        ("NVIDIA A10G", "a10g", False),
        ("nvidia_l40s", "l40s", False),
        (" V100 ", "v100-16gb", True),
        ("v100-32gb", "v100-32gb", False),
        ("gh200", "gh200-96gb", True),
        ("H200", "h200-141gb", False),
        ("GeForce RTX 4090", "rtx-4090", False),
        ("l40", "l40", False),
    ],
)
def test_a_product_is_found_by_any_of_its_names(name, id_, assumed):
    match = catalog.product(name)
    assert match is not None
    assert (match.product.id, match.assumed) == (id_, assumed)


@pytest.mark.parametrize(
    "name",
    ["", "-", "general-purpose", "mi300x", "a100-160gb", "h100-80gb-x", "true", "nvidia-", "g"],
)
def test_an_unknown_product_is_not_guessed(name):
    assert catalog.product(name) is None


def test_every_label_means_its_product_for_certain():
    for product in catalog.products().values():
        for label in (product.id, *product.labels):
            match = catalog.product(label)
            assert match is not None
            assert (match.product.id, match.assumed) == (product.id, False), label


def test_no_name_means_two_products():
    names = Counter(DATA["products"]["ambiguous"].keys())
    for row in DATA["products"]["products"]:
        maker = re.compile(r"^(nvidia-)?(tesla-|geforce-)?")
        labels = {maker.sub("", label.lower()) for label in row["labels"]}
        names.update({row["id"], *labels, *row["aliases"]})
    assert [name for name, times in names.items() if times > 1] == []


def test_an_alias_is_written_as_it_is_looked_up():
    aliases = [alias for row in DATA["products"]["products"] for alias in row["aliases"]]
    aliases += DATA["products"]["ambiguous"]
    assert [alias for alias in aliases if catalog.product(alias) is None] == []


@pytest.mark.parametrize("id_", [id_ for id_ in catalog.products() if re.search(r"-\d+gb$", id_)])
def test_usable_memory_is_a_little_less_than_in_the_name(id_):
    named = int(id_.removesuffix("gb").rpartition("-")[2]) * 1024
    assert 0.9 * named < catalog.products()[id_].memory_mib < named


@pytest.mark.parametrize(
    "id_, memory_mib",
    [
        # total minus reserved of real nvidia-smi dumps (NVIDIA/k8s-test-infra)
        ("a100-40gb", 40960 - 518),
        ("b200", 183359 - 728),
        ("gb200", 189471 - 742),
        ("gb300", 284208 - 947),
        ("l40s", 46068 - 609),
        ("t4", 15360 - 448),
        # as drivers reported it, in hkust-adsl/kubernetes-scheduler-simulator
        ("a100-80gb", 81251),
        ("v100-16gb", 16160),
        ("v100-32gb", 32510),
    ],
)
def test_memory_is_what_a_driver_reported(id_, memory_mib):
    assert catalog.products()[id_].memory_mib == memory_mib
    [row] = [row for row in DATA["products"]["products"] if row["id"] == id_]
    assert not is_nominal(row)


def test_a_product_has_its_own_node_shape():
    for product in catalog.products().values():
        shape = catalog.shapes()[product.shape]
        assert (shape.product, shape.gpus) == (product.id, product.per_node)


def test_known_names_can_be_suggested():
    names = catalog.product_names()
    assert {"a10g", "a100", "nvidia-tesla-a100", "NVIDIA-L40S"} <= set(names)
    assert list(names) == sorted(names)
    assert [name for name in names if catalog.product(name) is None] == []


@pytest.mark.parametrize(
    "product, expected",
    [
        # NVIDIA's table of instances per card, without the media extensions
        (
            "a100-40gb",
            "1g.5gb 7, 1g.10gb 4, 2g.10gb 3, 3g.20gb 2, 4g.20gb 1, 7g.40gb 1",
        ),
        ("a100-80gb", "1g.10gb 7, 1g.20gb 4, 2g.20gb 3, 3g.40gb 2, 4g.40gb 1, 7g.80gb 1"),
        ("h100-80gb", "1g.10gb 7, 1g.20gb 4, 2g.20gb 3, 3g.40gb 2, 4g.40gb 1, 7g.80gb 1"),
        ("h100-94gb", "1g.12gb 7, 1g.24gb 4, 2g.24gb 3, 3g.47gb 2, 4g.47gb 1, 7g.94gb 1"),
        ("h20-96gb", "1g.12gb 7, 1g.24gb 4, 2g.24gb 3, 3g.48gb 2, 4g.48gb 1, 7g.96gb 1"),
        ("h200-141gb", "1g.18gb 7, 1g.35gb 4, 2g.35gb 3, 3g.71gb 2, 4g.71gb 1, 7g.141gb 1"),
        ("gh200-144gb", "1g.18gb 7, 1g.36gb 4, 2g.36gb 3, 3g.72gb 2, 4g.72gb 1, 7g.144gb 1"),
        ("b200", "1g.23gb 7, 1g.45gb 4, 2g.45gb 3, 3g.90gb 2, 4g.90gb 1, 7g.180gb 1"),
        ("b300", "1g.34gb 7, 1g.67gb 4, 2g.67gb 3, 3g.135gb 2, 4g.135gb 1, 7g.269gb 1"),
        ("gb300", "1g.35gb 7, 1g.70gb 4, 2g.70gb 3, 3g.139gb 2, 4g.139gb 1, 7g.278gb 1"),
        ("a30", "1g.6gb 4, 2g.12gb 2, 4g.24gb 1"),
        (
            "rtx-pro-4500",
            "1g.16gb 2, 1g.16gb+gfx 2, 1g.16gb+me.all 1, 1g.16gb-me 2, 2g.32gb 1, 2g.32gb+gfx 1",
        ),
    ],
)
def test_profiles_and_how_many_fit_a_card(product, expected):
    profiles = catalog.mig_profiles(catalog.products()[product])
    plain = [
        f"{name} {profile.max_per_gpu}"
        for name, profile in profiles.items()
        if not name.endswith("+me")
    ]
    assert ", ".join(plain) == expected


def test_media_extensions_come_once_a_card():
    for product in catalog.products().values():
        profiles = catalog.mig_profiles(product)
        for name, profile in profiles.items():
            if name.endswith("+me"):
                plain = profiles[name.removesuffix("+me")]
                assert profile.max_per_gpu == 1
                assert profile.memory_mib == plain.memory_mib


def test_no_profile_overfills_its_card():
    family = {row["id"]: row for row in DATA["mig"]["families"]}
    for product in catalog.products().values():
        for name, profile in catalog.mig_profiles(product).items():
            whole = family[product.mig]
            assert profile.name == name
            assert profile.max_per_gpu * profile.compute_slices <= whole["compute_slices"]
            assert profile.max_per_gpu * profile.memory_slices <= whole["memory_slices"]
            assert profile.max_per_gpu * profile.memory_mib <= product.memory_mib, (
                product.id,
                name,
            )


def test_a_profile_matches_its_name():
    for family in DATA["mig"]["families"]:
        for profile in family["profiles"]:
            slices, gigabytes = re.match(r"(\d)g\.(\d+)gb", profile["name"]).groups()
            assert profile["compute_slices"] == int(slices)
            assert 0.8 * 1024 < profile["memory_mib"] / int(gigabytes) <= 1024, profile["name"]


def test_a_profile_with_double_memory_takes_two_memory_slices():
    profiles = catalog.mig_profiles(catalog.products()["a100-40gb"])
    assert profiles["1g.5gb"].memory_slices == 1
    assert profiles["1g.10gb"].memory_slices == 2
    assert profiles["3g.20gb"].memory_slices == 4
    assert profiles["7g.40gb"].memory_slices == 8


def test_a_resource_name_has_no_plus_sign():
    profiles = catalog.mig_profiles(catalog.products()["h100-80gb"])
    assert profiles["1g.10gb"].resource_suffix == "mig-1g.10gb"
    assert profiles["1g.10gb+me"].resource_suffix == "mig-1g.10gb.me"


def test_a_card_without_mig_has_no_profiles():
    assert dict(catalog.mig_profiles(catalog.products()["l40s"])) == {}


@pytest.mark.parametrize(
    "name, gpus, product, vcpu, gib",
    [
        ("g5.xlarge", 1, "a10g", 4, 16),
        ("g5.48xlarge", 8, "a10g", 192, 768),
        ("g6e.12xlarge", 4, "l40s", 48, 384),
        ("p4d.24xlarge", 8, "a100-40gb", 96, 1152),
        ("p4de.24xlarge", 8, "a100-80gb", 96, 1152),
        ("p5.48xlarge", 8, "h100-80gb", 192, 2048),
        ("p5en.48xlarge", 8, "h200-141gb", 192, 2048),
        ("a2-highgpu-1g", 1, "a100-40gb", 12, 85),
        ("a2-megagpu-16g", 16, "a100-40gb", 96, 1360),
        ("a2-ultragpu-8g", 8, "a100-80gb", 96, 1360),
        ("a3-highgpu-8g", 8, "h100-80gb", 208, 1872),
        ("a4-highgpu-8g", 8, "b200", 224, 3968),
        ("g2-standard-48", 4, "l4", 48, 192),
        ("Standard_NC24ads_A100_v4", 1, "a100-80gb", 24, 220),
        ("Standard_ND96asr_v4", 8, "a100-40gb", 96, 900),
        ("STANDARD_nd96isr_h100_v5", 8, "h100-80gb", 96, 1900),
    ],
)
def test_an_instance_type_is_found_in_any_case(name, gpus, product, vcpu, gib):
    shape = catalog.shape(name)
    assert shape is not None
    assert (shape.gpus, shape.product) == (gpus, product)
    assert (shape.cpu_milli, shape.memory_bytes) == (vcpu * 1000, gib * GIB)


def test_an_unknown_instance_type_is_not_found():
    assert catalog.shape("p99.metal") is None


def test_every_shape_has_a_known_product_and_some_of_everything():
    for name, shape in catalog.shapes().items():
        assert shape.product in catalog.products(), name
        assert min(shape.gpus, shape.cpu_milli, shape.memory_bytes) > 0, name


def test_an_assumed_shape_is_marked_as_assumed():
    assumed = {row["name"]: is_nominal(row) for row in DATA["shapes"]["shapes"]}
    assert {flag for name, flag in assumed.items() if name.startswith("generic-")} == {True}
    assert not assumed["p4d.24xlarge"]


@pytest.mark.parametrize(
    "vcpu, milli",
    # 6 % of the first core, 1 % of the second, 0.5 % of two more, 0.25 % of the rest;
    # the first three are also what aws/karpenter-provider-aws lists for its instance types
    [(4, 80), (96, 310), (192, 550), (1, 60), (2, 70)],
)
def test_reserved_cpu(vcpu, milli):
    assert catalog.system_reserved(vcpu * 1000, 64 * GIB)[0] == milli


def test_reserved_memory_by_hand():
    # 16 GiB are sold: the kernel takes 1/64 and 80 MiB, 336 MiB in all, and 16048 MiB are seen.
    # Of these 25 % of 4096, 20 % of 4096, 10 % of the other 7856 are reserved, and 100 for eviction.
    by_hand = 336 + 1024 + 819.2 + 785.6 + 100
    assert catalog.system_reserved(4000, 16 * GIB)[1] == -(-by_hand // 1) * MIB


def test_reserved_memory_agrees_with_gke_on_a_node_of_150_gib():
    # hatemosphere/gke-node-allocatable-memory-calculator prints 9.8577 GiB
    sold = (150 * GIB + 80 * MIB) * 64 // 63
    kernel = sold - 150 * GIB
    assert catalog.system_reserved(96_000, sold)[1] - kernel == pytest.approx(
        9.8577 * GIB, abs=2 * MIB
    )


@settings(max_examples=200)
@given(st.integers(0, 500_000), st.integers(0, 8 << 40), st.integers(1, 1 << 34))
def test_what_is_left_grows_with_the_node(cpu, memory, more):
    small = catalog.system_reserved(cpu, memory)
    large = catalog.system_reserved(cpu + more % 1000, memory + more)
    assert 0 <= small[0] <= cpu
    assert 0 <= small[1] <= memory
    assert cpu - small[0] <= cpu + more % 1000 - large[0] + 1
    assert memory - small[1] <= memory + more - large[1] + MIB


PAGE = Path(__file__).parents[2] / "docs" / "hardware.md"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def gib(mib):
    return f"{mib / 1024:.1f}".removesuffix(".0")


def derived(row):
    return " ~" if is_nominal(row) else ""


def product_table():
    data = DATA["products"]
    rows = []
    for row in data["products"]:
        product = catalog.products()[row["id"]]
        bare = [f"{name} *" for name, meant in data["ambiguous"].items() if meant == product.id]
        rows.append(
            [
                f"`{product.id}`",
                f"{product.memory_mib:,}{derived(row)}",
                f"{product.memory_mib / 1024:.2f}",
                ", ".join(product.labels),
                ", ".join([*bare, *row["aliases"]]),
                product.mig or "",
                f"{product.shape} ({product.per_node})",
            ]
        )
    return table(
        ["product", "usable MiB", "GiB", "`nvidia.com/gpu.product`", "other names", "MIG", "node"],
        rows,
    )


def mig_table():
    rows = []
    for family in DATA["mig"]["families"]:
        cards = [
            product.id for product in catalog.products().values() if product.mig == family["id"]
        ]
        profiles = [
            f"{row['name']} {row['max_per_gpu']} x {row['memory_mib']:,}" + derived(row)
            for row in family["profiles"]
        ]
        rows.append([f"`{family['id']}`", ", ".join(cards), "; ".join(profiles)])
    return table(
        ["family", "products", "profile, instances per card x usable MiB of an instance"], rows
    )


def slot_table():
    """The starts of each profile, once for all families whose profiles of a size start alike."""
    rows = {}
    for family in DATA["mig"]["families"]:
        size = f"{family['compute_slices']} / {family['memory_slices']}"
        for row in family["profiles"]:
            kind = f"{row['compute_slices']}g"
            if row["memory_slices"] > row["compute_slices"] == 1:
                kind += " with double memory"
            key = (size, kind, row["memory_slices"], ", ".join(map(str, row["starts"])))
            rows.setdefault(key, []).append(row["name"])
    return table(
        ["slices of a card (compute / memory)", "profile", "memory slices", "can start at"],
        sorted(rows, key=lambda it: (-int(it[0][0]), it[1:])),
    )


def shape_table():
    rows = [
        [
            row["cloud"],
            f"`{row['name']}`{derived(row)}",
            row["gpus"],
            row["product"],
            row["vcpu"],
            gib(row["memory_mib"]),
        ]
        for row in DATA["shapes"]["shapes"]
    ]
    return table(["cloud", "`nodeType`", "GPUs", "product", "vCPU", "memory GiB"], rows)


def model_table():
    guessed = {
        (meant, size): f"{family} {size}"
        for family, sizes in DATA["models"]["ambiguous"].items()
        for size, meant in sizes.items()
    }
    rows = []
    for key, facts in models.models().items():
        kv = 2 * facts.kv_values_per_token
        bits = {"bf16": 2, "fp8": 1}[facts.precision]
        rows.append(
            [
                f"`{key[0]}`",
                f"`{key[1]}`",
                facts.name,
                f"{facts.parameters:,}",
                f"{facts.parameters * bits / GIB:.1f} ({facts.precision})",
                f"{kv / 1024:g}",
                f"{facts.activation_bytes_per_token / 1024:g}",
                f"{facts.max_context:,}",
                guessed.get(key, ""),
            ]
        )
    head = [
        "family",
        "size",
        "model",
        "parameters",
        "weights GiB",
        "KV KiB per token",
        "activation KiB per token",
    ]
    return table([*head, "context", "short name"], rows)


def source_list():
    """Each source once, with the entries whose values come from it."""
    used = {
        DATA["shapes"]["system_reserved"]["source"]: ["the default of", "`systemReserved`"],
        DATA["shapes"]["daemon_sets"]["source"]: ["what is reserved for", "DaemonSets"],
        DATA["mig"]["starts_source"]: ["the slots of", "MIG profiles"],
    }
    for file, entries, values in (
        ("products", "products", "the usable memory of"),
        ("mig", "families", "the MIG profiles of"),
        ("shapes", "shapes", "the size of"),
        ("models", "models", "the parameters of"),
    ):
        for row in DATA[file][entries]:
            used.setdefault(row["source"], [values]).append(row.get("id") or row.get("name"))
    lines = []
    for source in sorted(used, key=str.lower):
        values, *names = used[source]
        shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
        lines.append(f"- Source of {values} {shown}: {source}")
    return "\n".join(lines)


BLOCKS = {
    "products": product_table,
    "mig": mig_table,
    "slots": slot_table,
    "shapes": shape_table,
    "models": model_table,
    "sources": source_list,
}


def filled(text):
    for name, block in BLOCKS.items():
        begin, end = f"<!-- {name}: from the data -->", f"<!-- end of {name} -->"
        assert text.count(begin) == text.count(end) == 1, f"docs/hardware.md lacks the {name} block"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{block()}\n{end}{rest.partition(end)[2]}"
    return text


def test_the_page_shows_the_data(request):
    written = PAGE.read_text(encoding="utf-8")
    if request.config.getoption("--update", default=False):
        PAGE.write_text(filled(written), encoding="utf-8")
        return
    assert written == filled(written), (
        "docs/hardware.md is not current; run python tests/hardware/test_catalog.py"
    )


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
