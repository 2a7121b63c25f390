#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepwright::plan {

/// A framework whose configuration files have another name on the command line (`export --to`,
/// `import --from`) than the framework; commands accept both names.
struct FrameworkFileWord {
  std::string_view word;
  std::string_view framework;
};
inline constexpr FrameworkFileWord kFileWords[] = {{"megatron", "megatron-core"}};

/// Returns `words` plus the names of frameworks whose configuration files have another name on the
/// command line.
inline std::vector<std::string> add_framework_names(std::vector<std::string> words) {
  for (const FrameworkFileWord& one : kFileWords) words.emplace_back(one.framework);
  return words;
}

/// Returns the framework whose configuration files `word` names on the command line ("megatron":
/// "megatron-core"); `word` itself if it is a framework.
constexpr std::string_view framework_of_config_format_name(std::string_view word) {
  for (const FrameworkFileWord& one : kFileWords) {
    if (one.word == word) return one.framework;
  }
  return word;
}

/// Returns the name of a framework's configuration files on the command line ("megatron-core":
/// "megatron").
constexpr std::string_view file_word_of_framework(std::string_view framework) {
  for (const FrameworkFileWord& one : kFileWords) {
    if (one.framework == framework) return one.word;
  }
  return framework;
}

}  // namespace stepwright::plan
