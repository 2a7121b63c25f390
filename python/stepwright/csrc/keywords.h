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

/// The keyword arguments of a function, as words: a list has several, `True` none. What is None or
/// False in Python is absent. An error names the argument.
class Keywords {
 public:
  using Words = std::map<std::string, std::vector<std::string>, std::less<>>;
  using Files = std::map<std::string, std::vector<answers::GivenFile>, std::less<>>;

  Keywords(Words words, Files files) : words_(std::move(words)), files_(std::move(files)) {}

  [[nodiscard]] bool has(std::string_view name) const { return words_.contains(name); }
  /// The only word of an argument; empty: absent.
  [[nodiscard]] std::string text(std::string_view name) const;
  /// All words of an argument; empty: absent.
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  /// A word that must be one of those known; empty: absent.
  [[nodiscard]] std::string one_of(std::string_view name,
                                   const std::vector<std::string>& known) const;
  /// A number from `low` to `high`; nullopt: absent. Fails with `kInput` when it is none.
  [[nodiscard]] std::optional<std::int64_t> whole(std::string_view name, std::int64_t low,
                                                  std::int64_t high) const;
  [[nodiscard]] std::optional<double> number(std::string_view name, double low, double high) const;

  /// The files of an argument; empty: absent.
  [[nodiscard]] std::vector<answers::GivenFile> files(std::string_view name) const;
  /// The only file of an argument that must be there.
  [[nodiscard]] const answers::GivenFile& file(std::string_view name) const;

  /// Arguments that several functions have.
  [[nodiscard]] answers::MemoryReserve reserve() const;
  [[nodiscard]] std::optional<tune::TrainingRun> training_run() const;
  [[nodiscard]] int threads() const;

 private:
  Words words_;
  Files files_;
};

}  // namespace stepwright::python
