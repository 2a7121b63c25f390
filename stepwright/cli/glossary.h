#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::cli {

/// A row of docs/glossary.md.
struct Term {
  std::string names;    ///< Names of the term: "busbw, algbw".
  std::string meaning;  ///< The text of the row's second column.
};

/// The row that a word is in: one of its names, or one that its meaning defines behind "; ". Upper
/// and lower case are the same; nullopt: no row has it.
std::optional<Term> find_term(std::string_view word);

}  // namespace stepwright::cli
