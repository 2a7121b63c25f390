#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::cli {

/// A row of docs/glossary.md.
struct GlossaryTerm {
  std::string names;    ///< Names of the term, separated by commas: "busbw, algbw".
  std::string meaning;  ///< The text of the row's second column.
};

/// Finds the glossary row of a word: it is one of the row's names, or is defined inside the row's
/// meaning after "; ". Upper and lower case are the same; nullopt: no row has it.
std::optional<GlossaryTerm> find_term(std::string_view word);

}  // namespace stepwright::cli
