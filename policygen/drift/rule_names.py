"""The names of the drift rules, which the patches also use."""

CHANGED, MISSING, ORPHANED, MANAGED_BY_ANOTHER, OF_ANOTHER_SPEC = (
    "field-drifted",
    "object-missing",
    "object-orphaned",
    "object-managed-by-another",
    "object-of-another-spec",
)
RULES = frozenset({CHANGED, MISSING, ORPHANED, MANAGED_BY_ANOTHER, OF_ANOTHER_SPEC})
