#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/document.h"

namespace stepwright::framework_files {

/// A word of a program, and its meaning.
using WordRow = std::pair<std::string, std::string>;

/// Words of a program by section, for example the names of built-in models.
class WordTable {
 public:
  /// Reads groups with a `source` and with sections, each a mapping from words to meanings. Later
  /// groups can continue a section. Fails with `kInput` if a group has no source, or if a word
  /// occurs twice in a section.
  explicit WordTable(const Document& document);

  /// Returns the words of a section, in order; empty if absent.
  [[nodiscard]] std::span<const WordRow> section(std::string_view name) const;
  /// Returns the names of all sections, in order.
  [[nodiscard]] std::vector<std::string_view> names() const;

 private:
  std::vector<std::pair<std::string, std::vector<WordRow>>> sections_;
};

/// Returns the words in a section of a table (`primus/models`); empty if the section is absent.
std::span<const WordRow> section_words(std::string_view table, std::string_view section);

/// Returns the meaning of a word in a section of a table; empty if absent.
std::string_view word_meaning(std::string_view table, std::string_view section,
                              std::string_view word);

}  // namespace stepwright::framework_files
