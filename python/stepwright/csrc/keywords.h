#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/answers/given_file.h"
#include "stepwright/answers/memory_reserve.h"
#include "stepwright/tune/training_run.h"

namespace stepwright::python {

/// The keyword arguments of a Python function, converted to words: a list becomes several words,
/// `True` an argument without words; None and False count as absent. Errors name the argument.
class Keywords {
 public:
  using Words = std::map<std::string, std::vector<std::string>, std::less<>>;
  using Files = std::map<std::string, std::vector<answers::UserFile>, std::less<>>;

  Keywords(Words words, Files files) : words_(std::move(words)), files_(std::move(files)) {}

  [[nodiscard]] bool has(std::string_view name) const { return words_.contains(name); }
  /// Returns the only word of an argument; empty: the argument is absent.
  [[nodiscard]] std::string text(std::string_view name) const;
  /// Returns all words of an argument; empty: the argument is absent.
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  /// Returns the word of an argument, which must be in `known`; empty: the argument is absent.
  [[nodiscard]] std::string one_of(std::string_view name,
                                   const std::vector<std::string>& known) const;
  /// Returns a number from `low` to `high`; nullopt: the argument is absent. Fails with `kInput` if
  /// it is not such a number.
  [[nodiscard]] std::optional<std::int64_t> whole(std::string_view name, std::int64_t low,
                                                  std::int64_t high) const;
  [[nodiscard]] std::optional<double> number(std::string_view name, double low, double high) const;

  /// Returns the files of an argument; empty: the argument is absent.
  [[nodiscard]] std::vector<answers::UserFile> files(std::string_view name) const;
  /// Returns the only file of an argument, which must be present.
  [[nodiscard]] const answers::UserFile& file(std::string_view name) const;

  /// Return the values of arguments that several functions have.
  [[nodiscard]] answers::MemoryHeadroom reserve() const;
  [[nodiscard]] std::optional<tune::TrainingLengthAndPrice> training_run() const;
  [[nodiscard]] int threads() const;

 private:
  Words words_;
  Files files_;
};

}  // namespace stepwright::python
