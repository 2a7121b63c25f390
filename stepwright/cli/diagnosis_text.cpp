#include "stepwright/cli/diagnosis_text.h"

#include <fmt/format.h>

#include "stepwright/core/format.h"
#include "stepwright/diagnose/evidence.h"

namespace stepwright::cli {
namespace {

/// The most lines of evidence that are shown.
constexpr std::size_t kMostListed = 12;

std::string list_text(std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) return {};
  std::string text = fmt::format("  {}\n", title);
  for (std::size_t i = 0; i < lines.size() && i < kMostListed; ++i) {
    text += fmt::format("    - {}\n", lines[i]);
  }
  if (lines.size() > kMostListed) {
    text += fmt::format("    - and {} more (--json)\n", lines.size() - kMostListed);
  }
  return text;
}

std::string finding_text(const diagnose::FaultFinding& finding, std::size_t number) {
  return fmt::format("{}. {} ({})\n", number, finding.what,
                     name_of(diagnose::kFindingKindNames, finding.kind)) +
         list_text("Evidence", finding.evidence) + list_text("Usual causes", finding.causes) +
         list_text("What to do", finding.changes) + "\n";
}

}  // namespace

std::string diagnosis_text(const diagnose::Diagnosis& diagnosis) {
  std::string text;
  for (std::size_t i = 0; i < diagnosis.findings.size(); ++i) {
    text += finding_text(diagnosis.findings[i], i + 1);
  }
  if (diagnosis.findings.empty()) text += "No cause was found that ended or stopped the job.\n\n";
  text += "Files\n";
  for (const diagnose::DiagnosedFile& file : diagnosis.files) {
    text += fmt::format("  {}: {}{}\n", file.path, file.what,
                        file.ranks.empty()
                            ? ""
                            : fmt::format(", {} {}", file.ranks.size() == 1 ? "rank" : "ranks",
                                          diagnose::rank_ranges_text(file.ranks)));
  }
  for (const std::string& note : diagnosis.notes) text += fmt::format("{}\n", note);
  return text;
}

}  // namespace stepwright::cli
