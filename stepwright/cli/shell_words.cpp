#include "stepwright/cli/shell_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>
#include <vector>

namespace stepwright::cli {
namespace {

/// An option, or a positional argument.
struct Argument {
  std::string name;  ///< Name without dashes; for a positional argument, as help shows it.
  std::string letter;
  std::string words;                 ///< Description of the option on one line.
  std::string value;                 ///< Name of its value; empty: it is a flag.
  std::vector<std::string> choices;  ///< All values that it can have; empty: any.
};

/// A command: the program itself, or a subcommand at any level.
struct Leaf {
  std::vector<std::string> path;  ///< Names down to the command: "lab", "run".
  std::string words;
  std::string footer;
  std::vector<Argument> options;
  std::vector<Argument> arguments;
  std::vector<std::string> inner;  ///< Names of its subcommands.
};

std::string on_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// Returns the words in a type such as "TEXT:{a,b,c}".
std::vector<std::string> choices_of(const std::string& type) {
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}');
  std::vector<std::string> words;
  if (begin == std::string::npos || end == std::string::npos) return words;
  for (std::size_t at = begin + 1; at < end;) {
    const std::size_t stop = std::min(type.find(',', at), end);
    words.push_back(type.substr(at, stop - at));
    at = stop + 1;
  }
  return words;
}

Argument argument_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const bool named = !option.get_lnames().empty();
  const bool valued = option.get_items_expected_max() > 0;
  return {.name = named ? option.get_lnames().front() : option.get_name(),
          .letter = option.get_snames().empty() ? "" : option.get_snames().front(),
          .words = on_one_line(option.get_description()),
          .value = valued ? type.substr(0, type.find_first_of(":{ ")) : "",
          .choices = choices_of(type)};
}

void add_leaves(const CLI::App& command, const std::vector<std::string>& path,
                std::vector<Leaf>& leaves) {
  Leaf leaf{.path = path,
            .words = command.get_description(),
            .footer = command.get_footer(),
            .options = {},
            .arguments = {},
            .inner = {}};
  for (const CLI::Option* option : command.get_options()) {
    auto& list = option->get_lnames().empty() ? leaf.arguments : leaf.options;
    list.push_back(argument_of(*option));
  }
  const auto below = command.get_subcommands({});
  for (const CLI::App* inner : below) leaf.inner.push_back(inner->get_name());
  leaves.push_back(std::move(leaf));
  for (const CLI::App* inner : below) {
    std::vector<std::string> deeper = path;
    deeper.push_back(inner->get_name());
    add_leaves(*inner, deeper, leaves);
  }
}

/// Returns all commands, the program itself first.
std::vector<Leaf> leaves_of(const CLI::App& program) {
  std::vector<Leaf> leaves;
  add_leaves(program, {}, leaves);
  return leaves;
}

std::string joined_by(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

/// Returns the words that can follow a command directly: its subcommands, or the values of its
/// positional argument.
std::vector<std::string> plain_words(const Leaf& leaf) {
  std::vector<std::string> words = leaf.inner;
  for (const Argument& argument : leaf.arguments) {
    words.insert(words.end(), argument.choices.begin(), argument.choices.end());
  }
  return words;
}

std::vector<std::string> spellings(const Argument& option) {
  std::vector<std::string> words;
  if (!option.letter.empty()) words.push_back("-" + option.letter);
  words.push_back("--" + option.name);
  return words;
}

/// Returns lines of `case "$path $before"` that complete the values of options; file names if any
/// value is allowed.
std::string bash_values(const Leaf& leaf) {
  const std::string path = joined_by(leaf.path, " ");
  std::string lines;
  for (const Argument& option : leaf.options) {
    if (option.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& word : spellings(option)) {
      patterns.push_back(fmt::format("'{} {}'", path, word));
    }
    const std::string values = option.choices.empty() ? "return"
                                                      : fmt::format("plain='{0}' flags='{0}'",
                                                                    fmt::join(option.choices, " "));
    lines += fmt::format("    {}) {} ;;\n", fmt::join(patterns, "|"), values);
  }
  return lines;
}

/// Returns a word in single quotes, for fish.
std::string quoted_for_fish(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

/// Returns a fish condition that is true if the command line begins with a command's words and does
/// not continue to one of its subcommands: `lab run` is not `run`.
std::string fish_condition(const Leaf& leaf) {
  std::string condition;
  std::size_t place = 2;  // The program itself is the first.
  for (const std::string& word : leaf.path) {
    condition += fmt::format("contains -- {} (commandline -opc)[{}]; and ", word, place++);
  }
  if (leaf.inner.empty()) return condition.substr(0, condition.size() - 6);
  return condition + "not __fish_seen_subcommand_from " + joined_by(leaf.inner, " ");
}

std::string fish_option(const Argument& option) {
  std::string text = " -l " + option.name;
  if (!option.letter.empty()) text += " -s " + option.letter;
  if (!option.choices.empty()) {
    text += " -x -a " + quoted_for_fish(joined_by(option.choices, " "));
  } else if (!option.value.empty()) {
    text += " -r";
  }
  return text + " -d " + quoted_for_fish(option.words);
}

/// Escapes a text so that roff shows it unchanged.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string manual_option(const Argument& option) {
  std::vector<std::string> names;
  for (const std::string& word : spellings(option)) names.push_back("\\fB" + roff(word) + "\\fR");
  const std::string value = option.value.empty() ? "" : " \\fI" + roff(option.value) + "\\fR";
  return fmt::format(".TP\n{}{}\n{}\n", fmt::join(names, ", "), value, roff(option.words));
}

std::string manual_section(const Leaf& leaf) {
  std::string usage = joined_by(leaf.path, " ");
  for (const Argument& argument : leaf.arguments) usage += " " + argument.name;
  std::string text = fmt::format(".SS {}\n{}\n", roff(usage), roff(leaf.words));
  for (const Argument& argument : leaf.arguments) {
    text += fmt::format(".TP\n\\fI{}\\fR\n{}\n", roff(argument.name), roff(argument.words));
  }
  for (const Argument& option : leaf.options) text += manual_option(option);
  if (!leaf.footer.empty()) text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(leaf.footer));
  return text;
}

}  // namespace

std::string bash_completion_script(const CLI::App& program) {
  std::string steps;
  std::string words;
  std::string values;
  for (const Leaf& leaf : leaves_of(program)) {
    const std::string path = joined_by(leaf.path, " ");
    if (!leaf.path.empty()) {
      const std::vector<std::string> above(leaf.path.begin(), leaf.path.end() - 1);
      steps += fmt::format("{}'{} {}'", steps.empty() ? "" : "|", joined_by(above, " "),
                           leaf.path.back());
    }
    std::vector<std::string> flags;
    for (const Argument& option : leaf.options) flags.push_back("--" + option.name);
    words += fmt::format("    '{}') plain='{}' flags='{}' ;;\n", path,
                         fmt::join(plain_words(leaf), " "), fmt::join(flags, " "));
    values += bash_values(leaf);
  }
  return fmt::format(R"(_stepwright() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local path='' plain='' flags='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path ${{COMP_WORDS[i]}}" in
    {}) path="${{path:+$path }}${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$path" in
{}  esac
  case "$path $before" in
{}  esac
  case "$current" in
    -*) plain="$flags" ;;
  esac
  COMPREPLY=($(compgen -W "$plain" -- "$current"))
}}
complete -o bashdefault -o default -F _stepwright stepwright
)",
                     steps, words, values);
}

std::string zsh_completion_script(const CLI::App& program) {
  return "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n" +
         bash_completion_script(program);
}

std::string fish_completion_script(const CLI::App& program) {
  std::string text;
  for (const Leaf& leaf : leaves_of(program)) {
    const std::string begin =
        fmt::format("complete -c stepwright -n {}", quoted_for_fish(fish_condition(leaf)));
    for (const std::string& word : plain_words(leaf))
      text += fmt::format("{} -a {}\n", begin, word);
    for (const Argument& option : leaf.options) text += begin + fish_option(option) + "\n";
  }
  return text;
}

std::string manual_page(const CLI::App& program) {
  const std::vector<Leaf> leaves = leaves_of(program);
  const Leaf& self = leaves.front();
  const std::size_t end = self.words.find('\n');
  std::string text = fmt::format(
      ".TH STEPWRIGHT 1\n.SH NAME\nstepwright \\- {}\n.SH SYNOPSIS\n"
      ".B stepwright\n.I COMMAND\n[\\fIOPTION\\fR]...\n.SH DESCRIPTION\n{}\n.SH COMMANDS\n",
      roff(self.words.substr(0, end)), roff(self.words.substr(std::min(end, self.words.size()))));
  for (const Leaf& leaf : leaves) {
    if (!leaf.path.empty()) text += manual_section(leaf);
  }
  return text + fmt::format(".SH EXAMPLES AND EXIT STATUS\n.nf\n{}\n.fi\n", roff(self.footer));
}

}  // namespace stepwright::cli
