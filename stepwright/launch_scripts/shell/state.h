#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/launch_scripts/shell/script.h"

namespace stepwright::launch_scripts {

/// Where in the scripts something stands.
struct ShellPlace {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
};

/// How much a script may still do: bounds time and memory.
class ShellBudget {
 public:
  explicit ShellBudget(const std::vector<std::string>& files) : files_(files) {}

  [[noreturn]] void fail(ShellPlace place, std::string_view what) const;
  void step(ShellPlace place);
  /// A word that was made.
  void word(std::string_view text, ShellPlace place);
  /// The text of a condition that the script leaves open.
  void condition(std::string_view text, ShellPlace place);
  /// Characters that are compared or copied.
  void work(std::size_t characters, ShellPlace place);
  /// Effort so far, in about steps.
  [[nodiscard]] std::size_t effort() const { return steps_ + words_ + (bytes_ + work_) / 1000; }

 private:
  const std::vector<std::string>& files_;
  std::size_t steps_ = 0;
  std::size_t words_ = 0;
  std::size_t bytes_ = 0;
  std::size_t work_ = 0;
};

/// The value of a variable.
struct ShellValue {
  std::vector<ShellWord> elements;         ///< Words of the value: one, unless it is an array.
  std::map<std::string, ShellWord> keyed;  ///< Elements of an array with words as keys.
  bool array = false;
  bool open_count = false;  ///< True if nobody knows how many elements the array has.

  [[nodiscard]] std::vector<ShellWord> all() const;
};

/// `$1`, `$2`, ...; copies share the texts, and those in front can be passed over at no cost.
class ShellArguments {
 public:
  ShellArguments() : ShellArguments(std::vector<std::string>()) {}
  ShellArguments(std::vector<std::string> texts)
      : texts_(std::make_shared<const std::vector<std::string>>(std::move(texts))) {}

  [[nodiscard]] std::span<const std::string> all() const {
    return std::span(*texts_).subspan(passed_);
  }
  [[nodiscard]] std::size_t size() const { return texts_->size() - passed_; }
  /// Leaves out so many in front, or all.
  void shift(std::size_t count) { passed_ += std::min(count, size()); }

 private:
  std::shared_ptr<const std::vector<std::string>> texts_;
  std::size_t passed_ = 0;
};

/// The variables of a script as they are at one point of it.
class ShellVariables {
 public:
  [[nodiscard]] const ShellValue* find(const std::string& name) const;
  /// The value as one text; nothing where it is unset.
  [[nodiscard]] std::optional<std::string> text(const std::string& name) const;

  /// Gives a variable a value that nothing changes.
  void fix(const std::string& name, const std::string& text);
  [[nodiscard]] bool is_fixed(const std::string& name) const { return fixed_.contains(name); }
  void set(const std::string& name, ShellValue value);
  void set_text(const std::string& name, const std::string& text, ShellPlace place);
  void unset(const std::string& name);
  /// The value to change in place, made where there is none; null pointer where nothing changes it.
  ShellValue* edit(const std::string& name);
  void mark_exported(const std::string& name);
  /// Variables that programs see.
  [[nodiscard]] std::map<std::string, ShellWord> exported() const;

  /// From here to `leave`, `make_local` keeps values of before.
  void enter() { hidden_.emplace_back(); }
  void make_local(const std::string& name);
  void leave();

  /// From here to `leave_subshell`, which takes back each change, all changes are noted.
  void enter_subshell();
  void leave_subshell();
  /// Work that keeping values of before has taken since the last call, in characters.
  [[nodiscard]] std::size_t take_copied() { return std::exchange(copied_, 0); }

  ShellArguments arguments;
  std::string zero;  ///< The script's name, `$0`.

 private:
  /// The old values of all that a subshell has changed.
  struct Before {
    std::map<std::string, std::optional<ShellValue>> values{};
    std::map<std::string, bool> exported{};
    std::vector<std::pair<std::size_t, std::string>> local{};  ///< Names put into `hidden_`.
    ShellArguments arguments{};
  };
  /// To be called before the value of a variable changes, and before its export does.
  void note_value(const std::string& name);
  void note_export(const std::string& name);
  [[nodiscard]] std::optional<ShellValue> copy_of(const std::string& name);

  std::map<std::string, ShellValue> values_;
  std::map<std::string, bool> exported_;
  std::map<std::string, std::string> fixed_;
  std::vector<std::map<std::string, std::optional<ShellValue>>> hidden_;
  std::vector<Before> subshells_;
  std::size_t copied_ = 0;
};

/// Words that blanks part; none within an open place.
std::vector<ShellWord> split_words(const ShellWord& text);
/// Words with a blank between them.
std::string joined(const std::vector<ShellWord>& words);
/// Returns the texts of the words from one of them on.
std::vector<std::string> texts_from(const std::vector<ShellWord>& words, std::size_t from);
/// The last part of a path.
std::string base_name(std::string_view path);

}  // namespace stepwright::launch_scripts
