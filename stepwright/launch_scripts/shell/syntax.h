#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::launch_scripts {

/// A piece of an unexpanded shell word: plain text, `$NAME`, `$(command)` or `$((arithmetic))`.
struct ShellWordPiece {
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

/// A word of a shell script before expansion, as a list of pieces.
struct UnexpandedShellWord {
  std::vector<ShellWordPiece> pieces;
  std::uint32_t line = 0;  ///< Line number of the word, from 1.

  /// Returns the word's text if it is plain and unquoted; empty otherwise.
  [[nodiscard]] std::string_view unquoted_plain_text() const {
    const bool one = pieces.size() == 1 && !pieces.front().quoted &&
                     pieces.front().kind == ShellWordPiece::Kind::kText;
    return one ? std::string_view(pieces.front().text) : std::string_view();
  }
};

/// An assignment `NAME=value`, `NAME[index]+=value` or `NAME=(...)`.
struct ShellAssignment {
  std::string name;
  /// The index of an assignment to an array element, as it is written; nullopt: none.
  std::optional<std::string> index;
  bool append = false;
  bool array = false;
  /// Words that an assignment assigns: one, or the elements of an array.
  std::vector<UnexpandedShellWord> values;
  std::uint32_t line = 0;
};

/// An operator `&&` or `||` in a chain of commands, which the shell evaluates from left to right.
struct ShellChainOperator {
  bool needs_both = false;  ///< True for `&&`, false for `||`.
  /// Length of the chain's source text (`source`) up to this operator, without trailing blanks.
  std::size_t source_end = 0;
};

/// A command of a shell script, with the commands inside it.
struct ShellNode {
  enum class Kind : std::uint8_t {
    /// A simple command of a shell script: `assignments` (NAME=value) before its `words`.
    kSimple,
    kList,  ///< A list of commands: `children`, one after the other.
    /// A chain of commands: `children` with the operators `joints` (`&&`, `||`) between them.
    kChain,
    kNot,       ///< A negated shell command `! ...`; `children` has the one command.
    kPipe,      ///< A shell pipe `a | b`; `children` are its commands.
    kSubshell,  ///< A shell command in a subshell `( ... )`; `children` has the one command.
    /// An `if`: `children` are the condition, the branch and, if present, the else part.
    kIf,
    /// A `for` loop: `words` are the variable and the values it takes; `children` is the body.
    kFor,
    /// An arithmetic loop `for ((...))`: `texts` are its three parts, `children` is the body.
    kCount,
    kWhile,  ///< A `while` loop: `children` are the condition and the body.
    /// A `case`: `words` is its word; `children` are the branches, each with one list in
    /// `patterns`.
    kCase,
    kFunction,    ///< A function definition: `texts` is the name, `children` the body.
    kTest,        ///< A test command, `[[ words ]]`.
    kArithmetic,  ///< An arithmetic command, `((text))`.
  };
  Kind kind = Kind::kSimple;
  std::uint32_t line = 0;
  std::string source;  ///< Source text of a condition in a shell script, as it is written.
  /// Operators `&&` and `||` between `children`, one fewer than children.
  std::vector<ShellChainOperator> joints;
  std::vector<ShellAssignment> assignments;
  std::vector<UnexpandedShellWord> words;
  std::vector<std::string> texts;
  std::vector<std::vector<UnexpandedShellWord>> patterns;
  std::vector<ShellNode> children;
  /// Text that a heredoc or `<<<` gives the command as input; nullopt: none.
  std::optional<UnexpandedShellWord> input;
  /// File whose contents `<` gives the command as input, or the command of `< <(...)`; nullopt:
  /// none.
  std::optional<UnexpandedShellWord> source_file;
  /// File into which `>` or `>>` writes the command's output; nullopt: no redirection.
  std::optional<UnexpandedShellWord> output;
  bool appends = false;  ///< True if the command's output is appended to the file (`>>`).
};

// A part of a text that the script does not determine is kept as written between two marks, which
// no script may contain: "\x01$MASTER_ADDR\x02". A text without marks is known.
inline constexpr char kUnknownMarkBegin = '\x01';
inline constexpr char kUnknownMarkEnd = '\x02';

/// Returns the text that stands for an unknown part of a script's text: `written` ("$MASTER_ADDR")
/// between two marker characters.
std::string wrap_unknown_script_text(std::string_view written);
/// True if a text has no parts that the script leaves unknown.
bool is_fully_known_script_text(std::string_view text);
/// Returns a text without marker characters, so that its unknown parts are as the script has them.
std::string text_without_placeholders(std::string_view text);
/// Returns the text with its unknown parts removed.
std::string without_unknown_parts(std::string_view text);
/// Returns the unknown parts of a text as written: "$MASTER_ADDR".
std::vector<std::string> unknown_parts_of(std::string_view text);

/// Returns the integer that a text consists of, with or without blanks around; nullopt for other
/// texts.
std::optional<std::int64_t> shell_integer(std::string_view text);

bool is_one_of(std::string_view word, std::span<const std::string_view> words);
bool is_shell_name_char(char c);
bool is_shell_name(std::string_view text);

/// Parses a shell script into a syntax tree. `name`: the file's name, for messages. Fails with
/// `kInput` if a bracket or quote never closes, a word is in the wrong place, or commands nest more
/// than 60 deep.
ShellNode parse_shell_script(std::string_view text, const std::string& name,
                             std::uint32_t first_line = 1);

/// Parses the whole text as one word in double quotes; a double quote in it is an ordinary
/// character.
UnexpandedShellWord parse_as_double_quoted(std::string_view text, const std::string& name,
                                           std::uint32_t line);
/// Parses the first word of a text as a word of a shell command.
UnexpandedShellWord parse_shell_word(std::string_view text, const std::string& name,
                                     std::uint32_t line);

}  // namespace stepwright::launch_scripts
