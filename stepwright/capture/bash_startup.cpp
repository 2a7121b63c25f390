#include "stepwright/capture/bash_startup.h"

#include <fmt/format.h>

#include <string_view>

#include "stepwright/capture/context.h"
#include "stepwright/capture/tools.h"
#include "stepwright/core/quoting.h"

namespace stepwright::capture {
namespace {

/// Names begin with _sw_. The code must not change variables that a script can see: it uses no
/// regular expressions (they set BASH_REMATCH), and sets `$_` again.
constexpr std::string_view kBody = R"bash(
export STEPWRIGHT_CAPTURE_DEPTH=$((${STEPWRIGHT_CAPTURE_DEPTH:-0} + 1))
if ((STEPWRIGHT_CAPTURE_DEPTH > _sw_deepest)); then
  "$_sw_folder/tools/stepwright-too-deep" "$0"
  exit 125
fi
_sw_front=$_sw_folder/bin
if [[ -n ${STEPWRIGHT_CAPTURE_HARMLESS-} ]]; then _sw_front=$_sw_folder/bin:$_sw_folder/writers; fi
if [[ ${STEPWRIGHT_CAPTURE_HARMLESS-} == remote ]]; then
  cd() { builtin cd "$@" 2>/dev/null || "$_sw_folder/tools/stepwright-not-run" cd "$@"; }
  kill() { "$_sw_folder/tools/stepwright-not-run" kill "$@"; }
fi
if [[ -n ${STEPWRIGHT_CAPTURE_BASH_ENV-} && -r ${STEPWRIGHT_CAPTURE_BASH_ENV-} ]]; then
  builtin source "$STEPWRIGHT_CAPTURE_BASH_ENV"
fi
_sw_text= _sw_prefix= _sw_path=
# Finds the word of a command that names its program, behind NAME=VALUE, exec, command and source.
_sw_look() {
  local rest=$BASH_COMMAND IFS=$' \t\n' word part i depth
  _sw_text= _sw_prefix= _sw_path=
  while [[ -n $rest ]]; do
    word=
    while [[ -n $rest && $rest != [[:space:]]* ]]; do
      case $rest in
        "'"*) part=${rest:1}; part="'${part%%"'"*}'" ;;
        '"'*) part=${rest:1}; part="\"${part%%'"'*}\"" ;;
        '$('*)
          depth=0 i=1
          while ((i < ${#rest})); do
            case ${rest:i:1} in '(') depth=$((depth + 1)) ;; ')') depth=$((depth - 1)) ;; esac
            i=$((i + 1))
            if ((depth == 0)); then break; fi
          done
          part=${rest:0:i} ;;
        '\'*) part=${rest:0:2} ;;
        *) part=${rest:0:1}${rest:1}; part=${part%%[[:space:]\'\"\\]*}
          if [[ $part == ?*'$('* ]]; then part=${part%%'$('*}; fi ;;
      esac
      if [[ -z $part ]]; then part=${rest:0:1}; fi
      word+=$part rest=${rest:${#part}}
      if ((${#word} > 4096)); then return 0; fi
    done
    while [[ $rest == [[:space:]]* ]]; do rest=${rest:1}; done
    if [[ $word == [A-Za-z_]*([A-Za-z0-9_])?(+)=* ]]; then
      if [[ $word == PATH=* ]]; then _sw_path=1; fi
    elif [[ $word == exec || $word == command || $word == source || $word == . ]]; then
      _sw_prefix=$word
    else
      break
    fi
    word=
  done
  # What a word executes cannot be executed twice.
  if [[ $word == *'$('* || $word == *'`'* || $word == -* || $word == *[\<\>\|\&\;]* ]]; then return 0; fi
  if [[ $word == */* || $word == *'$'* || -n $_sw_path || $_sw_prefix == source ]]; then
    _sw_text=$word
  fi
}
# Defines the function that stands for the program in _sw_words, for a launcher given by its path.
_sw_replace() {
  local IFS=$' \t\n' path=${_sw_words[0]-} name line link=
  _sw_text=
  name=${path##*/}
  if [[ $_sw_prefix == source || $_sw_prefix == . ]]; then
    if [[ ! -e $path && ( $name == activate || $name == conda.sh || $name == modules.sh ||
          $name == setvars.sh || $path == */modules/init/* || $name == *bashrc ) ]]; then
      if [[ $path != */* ]] && builtin type -P "$path" > /dev/null; then return 0; fi
      eval "function $_sw_prefix { unset -f $_sw_prefix
        \"\$_sw_folder/tools/stepwright-not-run\" $_sw_prefix \"\$@\"; }"
    fi
    return 0
  fi
  if [[ $path != */* && -z $_sw_path ]]; then return 0; fi
  if [[ $path == "$_sw_folder"/* || -z $name ]]; then return 0; fi
  if [[ $_sw_launchers == *" $name "* ]]; then link=$_sw_folder/bin/$name
  elif [[ $name == *.py && -f $path ]]; then link=$_sw_folder/bin/python
  elif [[ -f $path && -x $path ]] && IFS= read -r line < "$path" 2> /dev/null &&
    [[ $line == '#!'*/sh || $line == '#!'*'/sh '* || $line == '#!'*/dash* ]]; then
    link=$_sw_folder/bin/sh
  elif [[ -n ${STEPWRIGHT_CAPTURE_HARMLESS-} && -L $_sw_folder/writers/$name ]]; then
    link=$_sw_folder/writers/$name
  else return 0
  fi
  if [[ $path == *[!A-Za-z0-9_./+@%,:~-]* || -o posix ]]; then
    "$_sw_folder/tools/stepwright-ran" "$path"
    return 0
  fi
  if [[ $_sw_prefix == exec || $_sw_prefix == command ]]; then
    local word=
    if [[ $_sw_prefix == exec ]]; then word='builtin exec'; fi
    if [[ $link == */sh ]]; then return 0; fi
    eval "function $_sw_prefix { unset -f $_sw_prefix; shift
      export STEPWRIGHT_CAPTURE_REAL='$path'; $word \"$link\" \"\$@\"; }"
  elif [[ ($link == */python && $name == *.py) || $link == */sh ]]; then
    eval "function $path { \"$link\" '$path' \"\$@\"; }"
  elif [[ $path == */* ]]; then
    eval "function $path { STEPWRIGHT_CAPTURE_REAL='$path' \"$link\" \"\$@\"; }"
  else
    eval "function $path { \"$link\" \"\$@\"; }"
  fi
}
set -o functrace
trap '_sw_last=$_
if [[ ${PATH-} != "$_sw_front":* ]]; then PATH=$_sw_front:${PATH-}; fi
if [[ $BASH_COMMAND == *[/\$]* || $BASH_COMMAND == source* ]]; then
  _sw_look
  if [[ -n $_sw_text ]]; then
    eval "_sw_words=($_sw_text)" 2> /dev/null || _sw_words=()
    _sw_replace
  fi
fi
: "$_sw_last"' DEBUG
)bash";

}  // namespace

std::string bash_startup_file_text(const std::filesystem::path& folder) {
  std::string launchers = " ";
  for (const ProgramWithStandIn& tool : programs_replaced_in_capture()) {
    if (is_launching_program_kind(tool.kind)) launchers += tool.name + " ";
  }
  return fmt::format("_sw_folder={} _sw_deepest={} _sw_launchers={}",
                     quoted_for_shell(folder.string()), kMaxScriptNestingDepth,
                     quoted_for_shell(launchers)) +
         std::string(kBody);
}

}  // namespace stepwright::capture
