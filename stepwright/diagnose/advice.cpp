#include "stepwright/diagnose/advice.h"

#include <algorithm>

#include "stepwright/core/document.h"
#include "stepwright/core/embedded.h"
#include "stepwright/diagnose/embedded.h"

namespace stepwright::diagnose {
namespace {

const YamlJsonDocument& advice_table() {
  static const YamlJsonDocument kTable =
      YamlJsonDocument::parse(embedded_advice().front().text, "advice.yaml");
  return kTable;
}

/// Adds a line to a list unless it is already in it.
void add_line(std::vector<std::string>& lines, std::string line) {
  if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
}

/// Returns a cause with its source: "Ranks have different numbers of batches (https://...)".
std::string cause_text(const DocumentNode& cause) {
  return cause.get("text").text() + " (" + cause.get("source").text() + ")";
}

}  // namespace

void add_causes_and_remedies(FaultFinding& finding, std::span<const std::string_view> reasons) {
  std::size_t most = 0;
  for (const std::string_view reason : reasons) {
    const DocumentNode row = advice_table().root().get(reason);
    most = std::max(most, row.get("causes").size());
    const DocumentNode changes = row.get("changes");
    for (std::size_t i = 0; i < changes.size(); ++i)
      add_line(finding.changes, changes.at(i).text());
  }
  for (std::size_t i = 0; i < most; ++i) {
    for (const std::string_view reason : reasons) {
      const DocumentNode causes = advice_table().root().get(reason).get("causes");
      if (i < causes.size()) add_line(finding.causes, cause_text(causes.at(i)));
    }
  }
}

void add_causes_and_remedies(FaultFinding& finding, std::string_view reason) {
  add_causes_and_remedies(finding, {&reason, 1});
}

}  // namespace stepwright::diagnose
