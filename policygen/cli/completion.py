"""Shell completion: a script for each shell asks click for the candidates.

policygen has its own scripts, because those of click lose `--option=value`, values that contain
`=`, and the part of a description after a comma.
"""

import os
import sys

import click
from click.shell_completion import (
    CompletionItem,
    ShellComplete,
    add_completion_class,
    split_arg_string,
)

PROGRAM = "policygen"
VARIABLE = "_POLICYGEN_COMPLETE"
"""The scripts set it: policygen then prints candidates and runs no command."""

_LINE = "_POLICYGEN_LINE"

# readline replaces only the text after the last = of a word, so the script removes the rest.
_BASH = """\
_%(prog)s() {
    local line="${COMP_LINE:0:COMP_POINT}" before kind value
    before="${line##* }"
    before="${before%%"$2"}"
    while IFS=$'\\t' read -r kind value _; do
        case $kind in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            *) COMPREPLY+=("${value#"${before#--*=}"}") ;;
        esac
    done < <(%(variable)s=bash_complete %(line)s="$line" "$1")
}
complete -o nosort -F _%(prog)s %(prog)s
"""

_FISH = """\
function __%(prog)s_complete
    set -l option (string match --regex -- '^--[^=]+=' (commandline -ct))
    %(variable)s=fish_complete %(line)s=(commandline -cp | string collect) %(prog)s |
        while read -l --delimiter \\t kind value help
            switch $kind
                case dir
                    printf '%%s\\n' "$option"(__fish_complete_directories "$value")
                case file
                    printf '%%s\\n' "$option"(__fish_complete_path "$value")
                case '*'
                    printf '%%s\\t%%s\\n' "$option$value" "$help"
            end
        end
end
complete --no-files --command %(prog)s --arguments '(__%(prog)s_complete)'
"""

_ZSH = """\
#compdef %(prog)s

_%(prog)s() {
    local line kind value help
    local -a values described
    line="${(j: :)words[1,CURRENT-1]} $PREFIX"
    compset -P '--[^=]##='
    %(variable)s=zsh_complete %(line)s="$line" %(prog)s | while IFS=$'\\t' read -r kind value help; do
        case $kind in
            dir) _path_files -/ ;;
            file) _files ;;
            *) if [[ -n $help ]]; then described+=("${value//:/\\\\:}:$help"); else values+=("$value"); fi ;;
        esac
    done
    (( $#described )) && _describe -V unsorted described -U
    (( $#values )) && compadd -U -i "$IPREFIX" -V unsorted -a values
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _%(prog)s "$@"
else
    compdef _%(prog)s %(prog)s
fi
"""


class _Complete(ShellComplete):
    """Reads the line up to the cursor and prints one line per candidate: kind, value, help."""

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ.get(_LINE)
        if line is None:
            sys.exit()  # the script of another release would not understand the answer
        words = split_arg_string(line)[1:]
        started = bool(words) and not line[-1].isspace()
        return (words[:-1], words[-1]) if started else (words, "")

    def format_completion(self, item: "CompletionItem[str]") -> str:
        return "\t".join((item.type, item.value, " ".join((item.help or "").split())))

    def source(self) -> str:
        return self.source_template % {"prog": PROGRAM, "variable": VARIABLE, "line": _LINE}


class _Bash(_Complete):
    name = "bash"
    source_template = _BASH


class _Fish(_Complete):
    name = "fish"
    source_template = _FISH


class _Zsh(_Complete):
    name = "zsh"
    source_template = _ZSH


_CLASSES = {shell.name: shell for shell in (_Bash, _Fish, _Zsh)}

SHELLS = tuple(_CLASSES)


def script(shell: str, command: click.Command) -> str:
    """The completion script for a shell."""
    return _CLASSES[shell](command, {}, PROGRAM, VARIABLE).source()


def prepare() -> None:
    """Register the shells with click."""
    for shell in _CLASSES.values():
        add_completion_class(shell)
