#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/document.h"

namespace stepwright::framework_files {

/// A word in a program's files and its meaning here, such as a program's name of a model and the
/// built-in model's name.
using WordRow = std::pair<std::string, std::string>;

/// Dictionary of words in a program's files, in named sections; for example, section `models`
/// translates the program's model names into built-in ones.
class ProgramWordTable {
 public:
  /// Reads a YAML table of groups, each with a `source` and with sections that map words to
  /// meanings. Later groups can continue a section. Fails with `kInput` if a group has no source,
  /// or if a word occurs twice in a section.
  explicit ProgramWordTable(const YamlJsonDocument& document);

  /// Returns the words of a section with their meanings, in the table's order; empty if there is no
  /// such section.
  [[nodiscard]] std::span<const WordRow> words_of_section(std::string_view name) const;
  /// Returns the names of all sections, in the table's order.
  [[nodiscard]] std::vector<std::string_view> section_names() const;

 private:
  std::vector<std::pair<std::string, std::vector<WordRow>>> sections_;
};

/// Returns the words and meanings in a section of a compiled-in table (`primus/models`); empty if
/// there is no such section.
std::span<const WordRow> words_of_table_section(std::string_view table, std::string_view section);

/// Returns the meaning of a program's word in a section of a compiled-in table; empty if the table
/// lacks it.
std::string_view meaning_of_program_setting_word(std::string_view table, std::string_view section,
                                                 std::string_view word);

}  // namespace stepwright::framework_files
