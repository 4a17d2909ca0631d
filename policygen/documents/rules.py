"""The rules about the text of documents: files, YAML and JSON."""

from policygen.core.rule import Rule, refusal

ALIAS_BOMB = refusal(
    "alias-bomb",
    "YAML aliases make a document much larger than its text",
    "Replace each alias (*name) by its value.",
)
AMBIGUOUS_YAML_VALUE = refusal(
    "ambiguous-yaml-value",
    "Different programs read a YAML value as different types or numbers",
    "Write the value as the message shows.",
    aliases=("yaml-surprise",),
)
DUPLICATE_KEY = refusal(
    "duplicate-key",
    "A mapping has the same key twice",
    "Remove one of the two keys.",
)
FILE_NOT_UTF_8 = refusal(
    "file-not-utf-8",
    "A file is not UTF-8 text",
    "Save the file as UTF-8, or move it out of the folder.",
    aliases=("encoding",),
)
KEY_NOT_A_STRING = refusal(
    "key-not-a-string",
    "A key is not a string",
    "Write the key in quotes.",
)
MERGE_NOT_A_MAPPING = refusal(
    "merge-not-a-mapping",
    "The value of a merge key << is not a mapping",
    "Merge a mapping or a list of mappings, or write the keys themselves.",
)
MORE_PROBLEMS = refusal(
    "more-problems",
    "A document has more errors than are shown",
    "Fix the errors that are shown, and run the command again.",
)
NESTING_TOO_DEEP = refusal(
    "nesting-too-deep",
    "A document is nested more than 100 levels deep",
    "Reduce the nesting.",
)
NO_SPEC_FILES = refusal(
    "no-spec-files",
    "A folder has no .yaml, .yml or .json file",
    "Pass the path of the folder or file that contains the spec.",
)
NOT_A_MAPPING = refusal(
    "not-a-mapping",
    "A document is not a mapping",
    "Write a mapping that starts with apiVersion.",
)
NUMBER_TOO_LONG = refusal(
    "number-too-long",
    "A number has more digits than programs can store exactly",
    "Write a shorter number.",
)
OUTPUT_INSIDE_INPUT = refusal(
    "output-inside-input",
    "The output file is one of the input files",
    "Write the output to a file outside the spec.",
)
RECURSIVE_ALIAS = refusal(
    "recursive-alias",
    "A YAML alias is inside the value that it refers to",
    "Replace the alias with the value that the field needs.",
)
SEVERAL_DOCUMENTS = refusal(
    "several-documents",
    "A YAML text contains several documents, but only one is allowed",
    "Keep the first document, and remove the others.",
)
UNREADABLE_INPUT = refusal(
    "unreadable-input",
    "A file or folder cannot be read",
    "Correct the path, or its permissions.",
)
YAML_SYNTAX = refusal(
    "yaml-syntax",
    "A text is not valid YAML",
    "Correct the text at the reported place; the cause is often in the line above.",
)
YAML_TAG = refusal(
    "yaml-tag",
    "A value has a YAML tag",
    "Remove the YAML tag, such as `!!str`, before the value.",
)

RULES = tuple(rule for rule in vars().values() if isinstance(rule, Rule))
