"""The names of the drift rules, which the patches also use."""

CHANGED, MISSING, ORPHANED, TAKEN = (
    "field-drifted",
    "object-missing",
    "object-orphaned",
    "object-taken-over",
)
RULES = frozenset({CHANGED, MISSING, ORPHANED, TAKEN})
