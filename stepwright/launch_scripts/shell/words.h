#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "stepwright/launch_scripts/shell/syntax.h"

namespace stepwright::launch_scripts {

/// Splits the text of a shell script into words, from its first character to its last.
class ShellWordSplitter {
 public:
  ShellWordSplitter(std::string_view text, const std::string& name, std::uint32_t line)
      : text_(text), name_(name), line_(line) {}

  [[noreturn]] void fail(std::uint32_t line, std::string_view what) const;
  /// Fails with `kInput` and the message that no shell accepts the character at the current
  /// position.
  [[noreturn]] void fail_unexpected_character() const;
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char here(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool starts(std::string_view text) const {
    return text_.substr(std::min(at_, text_.size())).starts_with(text);
  }
  [[nodiscard]] bool at_one_of(std::string_view characters) const {
    return !at_end() && characters.find(here()) != std::string_view::npos;
  }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::uint32_t line() const { return line_; }
  [[nodiscard]] std::string_view text() const { return text_; }

  char next();
  void skip(std::size_t characters);
  /// Skips blanks, line continuations and comments.
  void skip_blanks();
  /// Skips blanks, comments and newlines.
  void skip_blank_lines();
  /// True if a character ends a word of a shell script, as a blank does.
  [[nodiscard]] static bool is_word_end_character(char c);
  /// Returns the letters at the current position, which can be a keyword, without moving past them.
  [[nodiscard]] std::string_view letters_at_current_position() const;

  /// Returns the script's text from position `begin` to the current position, as one line.
  [[nodiscard]] std::string script_text_from_position(std::size_t begin) const;

  UnexpandedShellWord word();
  /// Returns the length of a placeholder such as `<PATH TO VOCABULARY>` at the current position,
  /// which a person must fill in before the script runs; 0: there is none, and `<` redirects input.
  [[nodiscard]] std::size_t user_placeholder_length() const;
  /// Reads the rest of the text as if it were in double quotes.
  UnexpandedShellWord read_rest_as_quoted();
  /// Reads the text up to the bracket `close` that matches the bracket `open` just read, returns it
  /// and moves past the bracket.
  std::string read_text_to_matching_bracket(char open, char close);
  /// Reads the text of a heredoc, of which `<<` was just read. Reading continues after the
  /// delimiter word; the next line is then read from after the heredoc's text.
  UnexpandedShellWord read_heredoc();

 private:
  void piece(UnexpandedShellWord& term, bool quoted);
  void take_character(UnexpandedShellWord& term, bool quoted);
  void single_quoted(UnexpandedShellWord& term);
  void double_quoted(UnexpandedShellWord& term);
  void escaped_quoted(UnexpandedShellWord& term);
  char octal(char first);
  void dollar(UnexpandedShellWord& term, bool quoted);
  void open_place(UnexpandedShellWord& term);
  void skip_quoted(std::string& inner, char quote);

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  /// Position at which reading continues after the current line, behind the heredocs that it
  /// begins; 0: it begins none.
  std::size_t behind_heredocs_ = 0;
};

}  // namespace stepwright::launch_scripts
