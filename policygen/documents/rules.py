"""What can be wrong with the text of a document: one object for each finding."""

from policygen.core.rule import Family, Rule, Severity

ALIAS_BOMB = Rule(
    "alias-bomb",
    Severity.ERROR,
    Family.REFUSED,
    "Aliases make a document much larger than its text",
)
DUPLICATE_KEY = Rule(
    "duplicate-key",
    Severity.ERROR,
    Family.REFUSED,
    "A mapping has a key twice",
)
ENCODING = Rule(
    "encoding",
    Severity.ERROR,
    Family.REFUSED,
    "A file is no UTF-8 text",
    "Save the file as UTF-8, or take it out of the folder.",
)
KEY_NOT_A_STRING = Rule(
    "key-not-a-string",
    Severity.ERROR,
    Family.REFUSED,
    "A key is no text",
)
MERGE_NOT_A_MAPPING = Rule(
    "merge-not-a-mapping",
    Severity.ERROR,
    Family.REFUSED,
    "What << merges is no mapping",
)
MORE_PROBLEMS = Rule(
    "more-problems",
    Severity.ERROR,
    Family.REFUSED,
    "A document has more problems than are shown",
)
NESTING_TOO_DEEP = Rule(
    "nesting-too-deep",
    Severity.ERROR,
    Family.REFUSED,
    "A document is nested too deep",
)
NO_SPEC_FILES = Rule(
    "no-spec-files",
    Severity.ERROR,
    Family.REFUSED,
    "A folder has no file that is read",
)
NOT_A_MAPPING = Rule(
    "not-a-mapping",
    Severity.ERROR,
    Family.REFUSED,
    "A document is no mapping",
)
NUMBER_TOO_LONG = Rule(
    "number-too-long",
    Severity.ERROR,
    Family.REFUSED,
    "A number has more digits than any reader keeps",
)
OUTPUT_INSIDE_INPUT = Rule(
    "output-inside-input",
    Severity.ERROR,
    Family.REFUSED,
    "The output would be read as an input",
)
RECURSIVE_ALIAS = Rule(
    "recursive-alias",
    Severity.ERROR,
    Family.REFUSED,
    "An alias stands inside what it names",
)
SEVERAL_DOCUMENTS = Rule(
    "several-documents",
    Severity.ERROR,
    Family.REFUSED,
    "A file that must hold one document holds several",
)
UNREADABLE_INPUT = Rule(
    "unreadable-input",
    Severity.ERROR,
    Family.REFUSED,
    "A file or folder cannot be read",
)
YAML_SURPRISE = Rule(
    "yaml-surprise",
    Severity.ERROR,
    Family.REFUSED,
    "A value means one thing to some YAML readers and another to others",
)
YAML_SYNTAX = Rule(
    "yaml-syntax",
    Severity.ERROR,
    Family.REFUSED,
    "A text is no YAML",
    "Mend the text at the place that is shown; often the cause stands in the line above it.",
)
YAML_TAG = Rule(
    "yaml-tag",
    Severity.ERROR,
    Family.REFUSED,
    "A value has a YAML tag",
)

RULES: tuple[Rule, ...] = (
    ALIAS_BOMB,
    DUPLICATE_KEY,
    ENCODING,
    KEY_NOT_A_STRING,
    MERGE_NOT_A_MAPPING,
    MORE_PROBLEMS,
    NESTING_TOO_DEEP,
    NO_SPEC_FILES,
    NOT_A_MAPPING,
    NUMBER_TOO_LONG,
    OUTPUT_INSIDE_INPUT,
    RECURSIVE_ALIAS,
    SEVERAL_DOCUMENTS,
    UNREADABLE_INPUT,
    YAML_SURPRISE,
    YAML_SYNTAX,
    YAML_TAG,
)
