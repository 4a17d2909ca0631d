"""The rules about the text of documents: files, YAML and JSON."""

from policygen.core.rule import Family, Rule, Severity

ALIAS_BOMB = Rule(
    "alias-bomb",
    Severity.ERROR,
    Family.REFUSED,
    "YAML aliases make a document much larger than its text",
    "Write the values instead of the aliases.",
)
DUPLICATE_KEY = Rule(
    "duplicate-key",
    Severity.ERROR,
    Family.REFUSED,
    "A mapping has the same key twice",
    "Remove one of the two keys.",
)
ENCODING = Rule(
    "encoding",
    Severity.ERROR,
    Family.REFUSED,
    "A file is not UTF-8 text",
    "Save the file as UTF-8, or move it out of the folder.",
)
KEY_NOT_A_STRING = Rule(
    "key-not-a-string",
    Severity.ERROR,
    Family.REFUSED,
    "A key is not a string",
    "Write the key in quotes.",
)
MERGE_NOT_A_MAPPING = Rule(
    "merge-not-a-mapping",
    Severity.ERROR,
    Family.REFUSED,
    "The value of a merge key << is not a mapping",
    "Merge a mapping or a list of mappings, or write the values out.",
)
MORE_PROBLEMS = Rule(
    "more-problems",
    Severity.ERROR,
    Family.REFUSED,
    "A document has more errors than are shown",
    "Fix the errors that are shown, and run the command again.",
)
NESTING_TOO_DEEP = Rule(
    "nesting-too-deep",
    Severity.ERROR,
    Family.REFUSED,
    "A document is nested more than 100 levels deep",
    "Reduce the nesting.",
)
NO_SPEC_FILES = Rule(
    "no-spec-files",
    Severity.ERROR,
    Family.REFUSED,
    "A folder has no .yaml, .yml or .json file",
    "Name a folder or file that contains the spec.",
)
NOT_A_MAPPING = Rule(
    "not-a-mapping",
    Severity.ERROR,
    Family.REFUSED,
    "A document is not a mapping",
    "Write a mapping that starts with apiVersion.",
)
NUMBER_TOO_LONG = Rule(
    "number-too-long",
    Severity.ERROR,
    Family.REFUSED,
    "A number has more digits than YAML readers keep",
    "Write a shorter number.",
)
OUTPUT_INSIDE_INPUT = Rule(
    "output-inside-input",
    Severity.ERROR,
    Family.REFUSED,
    "The output file is one of the input files",
    "Write the output to a file outside the spec.",
)
RECURSIVE_ALIAS = Rule(
    "recursive-alias",
    Severity.ERROR,
    Family.REFUSED,
    "A YAML alias is inside the value that it refers to",
    "Write the value instead of the alias.",
)
SEVERAL_DOCUMENTS = Rule(
    "several-documents",
    Severity.ERROR,
    Family.REFUSED,
    "A text that must contain one document contains several",
    "Keep one document.",
)
UNREADABLE_INPUT = Rule(
    "unreadable-input",
    Severity.ERROR,
    Family.REFUSED,
    "A file or folder cannot be read",
    "Correct the path, or its permissions.",
)
YAML_SURPRISE = Rule(
    "yaml-surprise",
    Severity.ERROR,
    Family.REFUSED,
    "YAML readers disagree about a value",
    "Write the value as the message shows.",
)
YAML_SYNTAX = Rule(
    "yaml-syntax",
    Severity.ERROR,
    Family.REFUSED,
    "A text is not valid YAML",
    "Correct the text at the reported place; the cause is often in the line above.",
)
YAML_TAG = Rule(
    "yaml-tag",
    Severity.ERROR,
    Family.REFUSED,
    "A value has a YAML tag",
    "Write the value without its tag.",
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
