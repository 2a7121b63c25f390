#include "stepwright/framework_files/draft/words_table.h"

#include <algorithm>
#include <iterator>

#include "stepwright/framework_files/draft/tables.h"

namespace stepwright::framework_files {

ProgramWordTable::ProgramWordTable(const YamlJsonDocument& document) {
  const DocumentNode groups = document.root();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const DocumentNode group = groups.at(i);
    check_settings_table_source(group);
    for (const auto& [name, words] : group.mapping_members()) {
      if (name == "source") continue;
      auto found = std::ranges::find(sections_, name, &decltype(sections_)::value_type::first);
      if (found == sections_.end()) {
        sections_.emplace_back(name, std::vector<WordRow>());
        found = std::prev(sections_.end());
      }
      for (const auto& [word, meaning] : words.mapping_members()) {
        if (std::ranges::find(found->second, word, &WordRow::first) != found->second.end()) {
          meaning.fail("stands twice in its section");
        }
        found->second.emplace_back(word, meaning.text());
      }
    }
  }
}

std::span<const WordRow> ProgramWordTable::words_of_section(std::string_view name) const {
  for (const auto& [section, words] : sections_) {
    if (section == name) return words;
  }
  return {};
}

std::vector<std::string_view> ProgramWordTable::section_names() const {
  std::vector<std::string_view> names;
  for (const auto& [section, words] : sections_) names.push_back(section);
  return names;
}

std::span<const WordRow> words_of_table_section(std::string_view table, std::string_view section) {
  return loaded_table<ProgramWordTable>(table).words_of_section(section);
}

std::string_view meaning_of_program_setting_word(std::string_view table, std::string_view section,
                                                 std::string_view word) {
  const auto words = words_of_table_section(table, section);
  const auto found = std::ranges::find(words, word, &WordRow::first);
  return found == words.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace stepwright::framework_files
