#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::launch_scripts {

/// A piece of a word in a shell script, before expansion.
struct ShellPiece {
  enum class Kind : std::uint8_t {
    kText,
    kVariable,    ///< Parameter expansion: the text between `${` and `}`, or the name after `$`.
    kCommand,     ///< Command substitution: the text between `$(` and `)`, or between backquotes.
    kArithmetic,  ///< Arithmetic expansion: the text between `$((` and `))`.
  };
  Kind kind = Kind::kText;
  bool quoted = false;
  std::string text;
};

/// A word of a script before expansion.
struct ShellTerm {
  std::vector<ShellPiece> pieces;
  std::uint32_t line = 0;  ///< Line number of the word, from 1.

  /// Returns the word's text if it is plain and unquoted; empty otherwise.
  [[nodiscard]] std::string_view plain() const {
    const bool one = pieces.size() == 1 && !pieces.front().quoted &&
                     pieces.front().kind == ShellPiece::Kind::kText;
    return one ? std::string_view(pieces.front().text) : std::string_view();
  }
};

/// An assignment `NAME=value`, `NAME[index]+=value` or `NAME=(...)`.
struct ShellAssignment {
  std::string name;
  std::optional<std::string> index;  ///< The index as it is written; nullopt: none.
  bool append = false;
  bool array = false;
  std::vector<ShellTerm> values;  ///< Assigned words: one, or the elements of an array.
  std::uint32_t line = 0;
};

/// An operator `&&` or `||` in a chain of commands, which the shell evaluates from left to right.
struct ShellJoint {
  bool needs_both = false;  ///< True for `&&`, false for `||`.
  /// Length of the text in the chain's `source` before the operator, without trailing blanks.
  std::size_t source_end = 0;
};

/// A command of a shell script, with the commands inside it.
struct ShellNode {
  enum class Kind : std::uint8_t {
    kSimple,    ///< A simple command: `assignments` and `words`.
    kList,      ///< A list of commands: `children`, one after the other.
    kChain,     ///< A chain: `children` with the operators `joints` between them.
    kNot,       ///< A negated command `! ...`: its one child.
    kPipe,      ///< A pipe: `children` are its commands.
    kSubshell,  ///< A command in a subshell `( ... )`: its one child.
    /// An `if`: `children` are the condition, the branch and, if present, the else part.
    kIf,
    /// A `for`: `words` are the variable and the values it takes; `children` is the body.
    kFor,
    /// An arithmetic `for ((...))`: `texts` are its three parts, `children` is the body.
    kCount,
    kWhile,  ///< A `while`: `children` are the condition and the body.
    /// A `case`: `words` is its word; `children` are the branches, each with one list in
    /// `patterns`.
    kCase,
    kFunction,    ///< A function definition: `texts` is the name, `children` the body.
    kTest,        ///< A test command, `[[ words ]]`.
    kArithmetic,  ///< An arithmetic command, `((text))`.
  };
  Kind kind = Kind::kSimple;
  std::uint32_t line = 0;
  std::string source;              ///< Text of a condition as it is written.
  std::vector<ShellJoint> joints;  ///< Operators between `children`, one fewer than those.
  std::vector<ShellAssignment> assignments;
  std::vector<ShellTerm> words;
  std::vector<std::string> texts;
  std::vector<std::vector<ShellTerm>> patterns;
  std::vector<ShellNode> children;
  std::optional<ShellTerm> input;  ///< Text of a heredoc or of `<<<`; nullopt: none.
  /// File of `<`, or the command of `< <(...)`; nullopt: none.
  std::optional<ShellTerm> source_file;
  std::optional<ShellTerm> output;  ///< The file of `>` or `>>`; nullopt: no redirection.
  bool appends = false;             ///< True if the output is appended (`>>`).
};

// A part of a text that the script does not determine is kept as written between two marks, which
// no script may contain: "\x01$MASTER_ADDR\x02". A text without marks is known.
inline constexpr char kOpens = '\x01';
inline constexpr char kCloses = '\x02';

/// Returns an unknown part of a text: `written` between the two marks.
std::string open_text(std::string_view written);
/// True if a text has no unknown parts.
bool is_known(std::string_view text);
/// Returns the text without marks, its unknown parts as they were written.
std::string as_written(std::string_view text);
/// Returns the text with its unknown parts removed.
std::string as_empty(std::string_view text);
/// Returns the unknown parts of a text as written: "$MASTER_ADDR".
std::vector<std::string> open_places(std::string_view text);

/// Returns the integer that a text is, with or without blanks around; nullopt for other texts.
std::optional<std::int64_t> shell_number(std::string_view text);

bool is_one_of(std::string_view word, std::span<const std::string_view> words);
bool is_shell_name_char(char c);
bool is_shell_name(std::string_view text);

/// Parses a script. `name` is its file's name, for messages. Fails with `kInput` if a bracket or
/// quote never closes, a word is in the wrong place, or commands nest more than 60 deep.
ShellNode parse_shell(std::string_view text, const std::string& name, std::uint32_t first_line = 1);

/// Parses the whole text as one word in double quotes; a double quote in it is an ordinary
/// character.
ShellTerm parse_quoted(std::string_view text, const std::string& name, std::uint32_t line);
/// Parses the first word of a text, as in a command.
ShellTerm parse_word(std::string_view text, const std::string& name, std::uint32_t line);

}  // namespace stepwright::launch_scripts
