#include "stepwright/cli/glossary.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "stepwright/core/embedded.h"

namespace stepwright::cli {

std::span<const EmbeddedFile> embedded_glossary();

namespace {

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

/// Reads the two cells of a table row; nullopt: the line is no row.
std::optional<GlossaryTerm> row_of(const std::string& line) {
  constexpr std::string_view kBar = " | ";
  const std::size_t bar = line.find(kBar);
  if (!line.starts_with("| ") || bar == std::string::npos) return std::nullopt;
  const std::size_t start = bar + kBar.size();
  return GlossaryTerm{line.substr(2, bar - 2), line.substr(start, line.rfind(" |") - start)};
}

bool names(const GlossaryTerm& term, const std::string& word) {
  const std::string list = ", " + lower(term.names) + ", ";
  return list.find(", " + word + ", ") != std::string::npos ||
         lower(term.meaning).find("; " + word + ": ") != std::string::npos;
}

}  // namespace

std::optional<GlossaryTerm> find_glossary_term(std::string_view word) {
  std::istringstream lines{std::string(embedded_glossary().front().text)};
  for (std::string line; std::getline(lines, line);) {
    const std::optional<GlossaryTerm> term = row_of(line);
    if (term && names(*term, lower(word))) return term;
  }
  return std::nullopt;
}

}  // namespace stepwright::cli
