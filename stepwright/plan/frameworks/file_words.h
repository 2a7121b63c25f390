#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepwright::plan {

/// A framework whose configuration files (`export --to`, `import --from`) are called by another
/// word than its name. Each command accepts both.
struct FileWord {
  std::string_view word;
  std::string_view framework;
};
inline constexpr FileWord kFileWords[] = {{"megatron", "megatron-core"}};

/// Returns `words` followed by the names of frameworks whose files have another word.
inline std::vector<std::string> with_framework_names(std::vector<std::string> words) {
  for (const FileWord& one : kFileWords) words.emplace_back(one.framework);
  return words;
}

/// Returns the name of the framework that a file word stands for; the word itself if it is a name.
constexpr std::string_view framework_named(std::string_view word) {
  for (const FileWord& one : kFileWords) {
    if (one.word == word) return one.framework;
  }
  return word;
}

/// Returns the word for a framework's files.
constexpr std::string_view file_word_of(std::string_view framework) {
  for (const FileWord& one : kFileWords) {
    if (one.framework == framework) return one.word;
  }
  return framework;
}

}  // namespace stepwright::plan
