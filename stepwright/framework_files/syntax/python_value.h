#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/tree.h"

namespace stepwright {

/// What names mean where an expression of Python stands; nothing where they mean nothing.
struct PythonScope {
  /// The value of a variable, or of an attribute of one ("config.model").
  std::function<std::optional<Tree>(const std::string& name)> variable;
  /// The result of a function of `()` and arguments by name, those without one under `[]`.
  std::function<std::optional<Tree>(const std::string& function, const Tree& arguments)> call;
  /// Whether a method gives what it is called of.
  std::function<bool(const std::string& method)> gives_same{};
  /// The value of a comparison or a choice ("a if b else c"), if it is known.
  std::function<std::optional<Tree>(std::string_view text, std::uint32_t line)> decided{};
};

/// An expression that is no literal: null with the text that was written.
Tree unread_value(std::string_view text);
bool is_unread(const Tree& tree);

/// How many values there are in one, each 64 bytes of text counted as another; nothing beyond 80
/// levels.
std::optional<std::size_t> weight_of(const Tree& tree);

/// Reads expressions of Python from a text, of which nothing is executed: numbers, texts, None,
/// True, False, lists, mappings, sums and products of numbers, of lists and of texts, dotted names
/// of other modules as words, calls of classes (which begin with a capital) as mappings with their
/// name under `()` and arguments without a name under `[]`, and what a scope knows. Anything else
/// becomes `unread_value`.
class PythonReader {
 public:
  /// `line`: of the text in its file `name`, for messages and places; all must outlive this.
  PythonReader(std::string_view text, std::uint32_t line, const std::string& name,
               const PythonScope& scope)
      : text_(text), name_(name), scope_(scope), line_(line) {}

  /// The value of a whole expression, up to what closes it.
  Tree value();
  /// The arguments of a call whose bracket was just passed.
  Tree arguments();
  /// A dotted name at this place; empty where there is none.
  std::string word();
  /// Passes blanks and comments, then a character if it stands here.
  bool take(char c);
  [[nodiscard]] std::uint32_t line() const { return line_; }
  /// What was not read yet.
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  /// Passes everything up to the next of these characters outside of brackets and texts.
  std::string_view pass_until(std::string_view stops);

  [[noreturn]] void fail(std::string_view what) const;

 private:
  struct Place {
    std::size_t at;
    std::uint32_t line;
  };

  [[nodiscard]] char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  [[nodiscard]] bool at_end_of_value() const;
  void skip();
  Tree place(Tree tree) const;
  void end_of_item(char close);
  void argument(Tree& call, Tree& unnamed);
  void spread(Tree& into);
  Tree value_up_to(std::string_view stops);
  std::optional<Tree> sum();
  std::optional<Tree> product();
  std::optional<Tree> term();
  std::optional<Tree> atom();
  std::optional<Tree> named();
  std::optional<Tree> called(const std::string& name);
  bool passes_method(Tree& tree);
  std::optional<Tree> string();
  std::optional<Tree> bracketed();
  Tree list(char close);
  Tree mapping();

  std::string_view text_;
  const std::string& name_;
  const PythonScope& scope_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  int depth_ = 0;
};

}  // namespace stepwright
