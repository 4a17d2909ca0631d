"""The names of the drift rules, which the patches also use."""

CHANGED, MISSING, ORPHANED, MANAGED_BY_ANOTHER = (
    "field-drifted",
    "object-missing",
    "object-orphaned",
    "object-managed-by-another",
)
RULES = frozenset({CHANGED, MISSING, ORPHANED, MANAGED_BY_ANOTHER})
