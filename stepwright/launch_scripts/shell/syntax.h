#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::launch_scripts {

/// A piece of a word of a shell script, before variables are filled in.
struct ShellPiece {
  enum class Kind : std::uint8_t {
    kText,
    kVariable,    ///< Between `${` and `}`, or the name behind `$`.
    kCommand,     ///< Between `$(` and `)`, or between backquotes.
    kArithmetic,  ///< Between `$((` and `))`.
  };
  Kind kind = Kind::kText;
  bool quoted = false;
  std::string text;
};

/// A word as it is written.
struct ShellTerm {
  std::vector<ShellPiece> pieces;
  std::uint32_t line = 0;  ///< Number of the line, from 1.

  /// The word, where it is plain text without quotes; empty otherwise.
  [[nodiscard]] std::string_view plain() const {
    const bool one = pieces.size() == 1 && !pieces.front().quoted &&
                     pieces.front().kind == ShellPiece::Kind::kText;
    return one ? std::string_view(pieces.front().text) : std::string_view();
  }
};

/// `NAME=value`, `NAME[index]+=value` or `NAME=(...)`.
struct ShellAssignment {
  std::string name;
  std::optional<std::string> index;  ///< As it is written.
  bool append = false;
  bool array = false;
  std::vector<ShellTerm> values;  ///< Assigned terms: one, unless it is an array.
  std::uint32_t line = 0;
};

/// `&&` or `||` of a chain of commands, which the shell works off from left to right.
struct ShellJoint {
  bool needs_both = false;  ///< True behind `&&`, false behind `||`.
  /// Bytes of the chain's `source` that stand before it, without blanks at their end.
  std::size_t source_end = 0;
};

/// A command of a shell script, with those inside it.
struct ShellNode {
  enum class Kind : std::uint8_t {
    kSimple,      ///< A command of `assignments` and `words`.
    kList,        ///< `children`, one after the other.
    kChain,       ///< `children` with `joints` between them.
    kNot,         ///< Negates one of `children`.
    kPipe,        ///< Pipes `children` into each other.
    kSubshell,    ///< Runs one of `children` in a subshell.
    kIf,          ///< `children`: a condition, what it leads to and, where there is one, the rest.
    kFor,         ///< `words`: the name, then what it takes in turn; `children`: the body.
    kCount,       ///< `for ((...))`: `texts` has the three parts, `children` the body.
    kWhile,       ///< `children`: a condition and the body.
    kCase,        ///< `words`: one; `children`: branches, `patterns` one list for each.
    kFunction,    ///< `texts`: its name; `children`: its body.
    kTest,        ///< A test, `[[ words ]]`.
    kArithmetic,  ///< An arithmetic command, `((text))`.
  };
  Kind kind = Kind::kSimple;
  std::uint32_t line = 0;
  std::string source;              ///< Text of a condition, as it is written.
  std::vector<ShellJoint> joints;  ///< One fewer than `children`.
  std::vector<ShellAssignment> assignments;
  std::vector<ShellTerm> words;
  std::vector<std::string> texts;
  std::vector<std::vector<ShellTerm>> patterns;
  std::vector<ShellNode> children;
  std::optional<ShellTerm> input;        ///< Text of a heredoc or `<<<`.
  std::optional<ShellTerm> source_file;  ///< The file of `<`, or the command of `< <(...)`.
  std::optional<ShellTerm> output;       ///< The file of `>` and `>>`.
  bool appends = false;                  ///< True if it appends (`>>`).
};

// What a script does not say stands in texts as it was written, between two marks that no script
// may hold: "\x01$MASTER_ADDR\x02". A text without them is known.
inline constexpr char kOpens = '\x01';
inline constexpr char kCloses = '\x02';

/// A place in a text that the script leaves open.
std::string open_text(std::string_view written);
/// Whether a text has no open places.
bool is_known(std::string_view text);
/// The text with its open places as they were written.
std::string as_written(std::string_view text);
/// The text as if all that it leaves open were empty.
std::string as_empty(std::string_view text);
/// Parts of a text that are open, as written: "$MASTER_ADDR".
std::vector<std::string> open_places(std::string_view text);

/// The whole number that a text is, with blanks around it; nothing for other texts.
std::optional<std::int64_t> shell_number(std::string_view text);

bool is_one_of(std::string_view word, std::span<const std::string_view> words);
bool is_shell_name_char(char c);
bool is_shell_name(std::string_view text);

/// Parses a script. `name`: of its file, for messages. Fails with `kInput` where something never
/// closes or stands in the wrong place, and where commands are nested more than 60 deep.
ShellNode parse_shell(std::string_view text, const std::string& name, std::uint32_t first_line = 1);

/// The whole text as one word in double quotes, in which a double quote is a character.
ShellTerm parse_quoted(std::string_view text, const std::string& name, std::uint32_t line);
/// The first word of a text, as it stands in a command.
ShellTerm parse_word(std::string_view text, const std::string& name, std::uint32_t line);

}  // namespace stepwright::launch_scripts
