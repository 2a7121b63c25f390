#include "stepwright/diagnose/clue.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/document.h"
#include "stepwright/core/embedded.h"
#include "stepwright/diagnose/advice.h"
#include "stepwright/diagnose/embedded.h"
#include "stepwright/diagnose/line_origin.h"

namespace stepwright::diagnose {
namespace {

/// The most lines that a finding quotes.
constexpr std::size_t kMostShown = 3;

constexpr Named<FaultLinePriority> kClueRankNames[] = {{FaultLinePriority::kRoot, "root"},
                                                       {FaultLinePriority::kNetwork, "network"},
                                                       {FaultLinePriority::kFollows, "follows"}};

FaultLinePattern clue_row(const DocumentNode& row) {
  FaultLinePattern kind{.reason = row.get("reason").text(),
                        .kind = row.get("kind").choice(kFindingKindNames),
                        .rank = row.get("rank").choice(kClueRankNames),
                        .what = row.get("what").text()};
  const DocumentNode lines = row.get("lines");
  for (std::size_t i = 0; i < lines.size(); ++i) kind.lines.push_back(lines.at(i).as_text_list());
  return kind;
}

std::vector<FaultLinePattern> read_clue_kinds() {
  const YamlJsonDocument document =
      YamlJsonDocument::parse(embedded_fault_line_patterns().front().text, "clues.yaml");
  std::vector<FaultLinePattern> kinds;
  for (std::size_t i = 0; i < document.root().size(); ++i) {
    kinds.push_back(clue_row(document.root().at(i)));
  }
  return kinds;
}

bool holds_all(std::string_view text, const std::vector<std::string>& words) {
  return std::ranges::all_of(words,
                             [&](std::string_view word) { return line_contains_text(text, word); });
}

}  // namespace

std::span<const FaultLinePattern> fault_line_patterns() {
  static const std::vector<FaultLinePattern> kKinds = read_clue_kinds();
  return kKinds;
}

const FaultLinePattern* match_log_line_to_fault_pattern(std::string_view line) {
  for (const FaultLinePattern& kind : fault_line_patterns()) {
    for (const std::vector<std::string>& words : kind.lines) {
      if (holds_all(line, words)) return &kind;
    }
  }
  return nullptr;
}

bool FaultLogLines::add(std::string_view line, const std::string& file, std::int64_t number,
                        std::int64_t rank) {
  const FaultLinePattern* kind = match_log_line_to_fault_pattern(line);
  if (kind == nullptr) return false;
  auto seen = std::ranges::find(sightings_, kind, &Sighting::kind);
  if (seen == sightings_.end()) {
    sightings_.push_back({.kind = kind, .first = {.file = file, .line = number}});
    seen = std::prev(sightings_.end());
  }
  ++seen->lines;
  if (rank >= 0) seen->ranks.insert(rank);
  if (seen->texts.size() < kMostShown) {
    seen->texts.push_back(fmt::format("{}:{}: {}", file, number, line_start_for_quoting(line)));
  }
  return true;
}

std::vector<FaultFinding> FaultLogLines::findings(FaultLinePriority rank) const {
  std::vector<FaultFinding> findings;
  for (const Sighting& seen : sightings_) {
    if (seen.kind->rank != rank) continue;
    FaultFinding& finding = findings.emplace_back();
    finding.kind = seen.kind->kind;
    finding.ranks.assign(seen.ranks.begin(), seen.ranks.end());
    finding.where = seen.first;
    finding.what = seen.kind->what;
    finding.evidence = seen.texts;
    const auto more = seen.lines - std::ssize(seen.texts);
    if (more > 0) finding.evidence.push_back(fmt::format("{} more lines of this kind", more));
    add_causes_and_remedies(finding, seen.kind->reason);
  }
  return findings;
}

}  // namespace stepwright::diagnose
