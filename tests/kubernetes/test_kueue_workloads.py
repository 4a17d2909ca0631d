"""The domains in which Kueue places the pods of a Workload."""

import pytest

from policygen.kubernetes.kueue_workloads import assigned_domains

UNIVERSAL = {"universal": "block"}
HOSTS = {"individual": {"prefix": "gpu-", "suffix": "-x", "roots": ["1", "2"]}}


@pytest.mark.parametrize(
    ("assignment", "expected"),
    [
        ({"domains": [{"values": ["a", "b"], "count": 3}]}, [(("a", "b"), 3)]),
        (
            {
                "slices": [
                    {
                        "domainCount": 2,
                        "valuesPerLevel": [UNIVERSAL, HOSTS],
                        "podCounts": {"individual": [1, 4]},
                    },
                    {
                        "domainCount": 1,
                        "valuesPerLevel": [UNIVERSAL, {"individual": {"roots": ["z"]}}],
                        "podCounts": {"universal": 2},
                    },
                ]
            },
            [(("block", "gpu-1-x"), 1), (("block", "gpu-2-x"), 4), (("block", "z"), 2)],
        ),
        ({"slices": [{"domainCount": 2}, {"valuesPerLevel": [None]}, 1]}, []),
        ({}, []),
    ],
    ids=["v1beta1", "v1beta2", "invalid", "empty"],
)
def test_all_forms_of_an_assignment_are_read(assignment, expected):
    assert list(assigned_domains(assignment)) == expected


def test_a_number_of_domains_that_no_server_accepts_is_not_counted():
    each = [{"universal": "a"}]
    part = {"domainCount": 2**60, "valuesPerLevel": each, "podCounts": {"universal": 1}}
    assert sum(1 for _ in assigned_domains({"slices": [part]})) == 100_000
