#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::cli {

/// A row of the table in docs/glossary.md.
struct GlossaryTerm {
  std::string names;    ///< Names of the glossary term, separated by commas: "busbw, algbw".
  std::string meaning;  ///< Explanation of the term, from the row's second column.
};

/// Finds the glossary row of a word, which is one of the row's names or is explained inside its
/// meaning after "; ". Upper and lower case are equal; nullopt: no row has the word.
std::optional<GlossaryTerm> find_glossary_term(std::string_view word);

}  // namespace stepwright::cli
