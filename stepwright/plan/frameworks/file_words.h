#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepwright::plan {

/// A framework whose files (`export --to`, `import --from`) have a word that is not its name. Each
/// command takes both.
struct FileWord {
  std::string_view word;
  std::string_view framework;
};
inline constexpr FileWord kFileWords[] = {{"megatron", "megatron-core"}};

/// Words of files, and behind them the names of frameworks whose files have another word.
inline std::vector<std::string> with_framework_names(std::vector<std::string> words) {
  for (const FileWord& one : kFileWords) words.emplace_back(one.framework);
  return words;
}

/// The framework that a word names.
constexpr std::string_view framework_named(std::string_view word) {
  for (const FileWord& one : kFileWords) {
    if (one.word == word) return one.framework;
  }
  return word;
}

/// The word of the files of a framework.
constexpr std::string_view file_word_of(std::string_view framework) {
  for (const FileWord& one : kFileWords) {
    if (one.framework == framework) return one.word;
  }
  return framework;
}

}  // namespace stepwright::plan
