#include "stepwright/framework_files/draft/words_table.h"

#include <algorithm>
#include <iterator>

#include "stepwright/framework_files/draft/tables.h"

namespace stepwright::framework_files {

ProgramWordTable::ProgramWordTable(const Document& document) {
  const Node groups = document.root();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Node group = groups.at(i);
    check_table_source(group);
    for (const auto& [name, words] : group.members()) {
      if (name == "source") continue;
      auto found = std::ranges::find(sections_, name, &decltype(sections_)::value_type::first);
      if (found == sections_.end()) {
        sections_.emplace_back(name, std::vector<WordRow>());
        found = std::prev(sections_.end());
      }
      for (const auto& [word, meaning] : words.members()) {
        if (std::ranges::find(found->second, word, &WordRow::first) != found->second.end()) {
          meaning.fail("stands twice in its section");
        }
        found->second.emplace_back(word, meaning.text());
      }
    }
  }
}

std::span<const WordRow> ProgramWordTable::section(std::string_view name) const {
  for (const auto& [section, words] : sections_) {
    if (section == name) return words;
  }
  return {};
}

std::vector<std::string_view> ProgramWordTable::names() const {
  std::vector<std::string_view> names;
  for (const auto& [section, words] : sections_) names.push_back(section);
  return names;
}

std::span<const WordRow> table_section_words(std::string_view table, std::string_view section) {
  return loaded_table<ProgramWordTable>(table).section(section);
}

std::string_view program_word_meaning(std::string_view table, std::string_view section,
                                      std::string_view word) {
  const auto words = table_section_words(table, section);
  const auto found = std::ranges::find(words, word, &WordRow::first);
  return found == words.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace stepwright::framework_files
