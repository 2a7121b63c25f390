#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/document.h"

namespace stepwright::framework_files {

/// A word of a program and its meaning.
using WordRow = std::pair<std::string, std::string>;

/// Words of a program by section: the names of built-in models, for example.
class WordTable {
 public:
  /// Reads groups of a `source` and of sections, each a mapping from words to meanings. A section
  /// may continue in a later group. Fails with `kInput` on a group without a source, and on a word
  /// that stands twice in a section.
  explicit WordTable(const Document& document);

  /// The words of a section in their order; empty if absent.
  [[nodiscard]] std::span<const WordRow> section(std::string_view name) const;
  /// The names of all sections in their order.
  [[nodiscard]] std::vector<std::string_view> names() const;

 private:
  std::vector<std::pair<std::string, std::vector<WordRow>>> sections_;
};

/// The words in a section of a table (`primus/models`); empty if the section is absent.
std::span<const WordRow> words_below(std::string_view table, std::string_view section);

/// The meaning of a word in a section of a table; empty if absent.
std::string_view meaning_of(std::string_view table, std::string_view section,
                            std::string_view word);

}  // namespace stepwright::framework_files
