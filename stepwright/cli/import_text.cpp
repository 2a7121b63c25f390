#include "stepwright/cli/import_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/core/utf8.h"

namespace stepwright::cli {
namespace {

constexpr std::size_t kLongestAssumption = 1000;

std::string place_of(const std::string& file, std::uint32_t line) {
  return line > 0 ? fmt::format("{}:{}", file, line) : file;
}

std::string read_text(const framework_files::ImportReport& report) {
  TextTable table{.columns = {{"read"}, {"value"}, {"in the plan"}, {"where"}}, .rows = {}};
  for (const framework_files::ImportedSetting& one : report.read) {
    table.rows.push_back({one.name, one.value, one.field, place_of(one.file, one.line)});
  }
  return table.rows.empty() ? "" : format_text_table(table) + "\n";
}

/// True if a value means that nothing special is set, so that a default need not be listed.
bool is_nothing(std::string_view value) {
  static constexpr std::string_view kWords[] = {"1", "false", "none", "library", "even"};
  return std::ranges::find(kWords, value) != std::end(kWords);
}

/// Returns the assumptions; fields with the same reason share a line.
std::string assumed_text(const framework_files::ImportReport& report) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const framework_files::AssumedPlanField& one : report.assumed) {
    if (is_nothing(one.value) && one.why.starts_with("default of ")) continue;
    auto reason = std::ranges::find(reasons, one.why, [](const auto& each) { return each.first; });
    if (reason == reasons.end()) reason = reasons.insert(reason, {one.why, {}});
    reason->second.push_back(fmt::format("{} {}", one.field, one_line_printable_text(one.value)));
  }
  std::string text;
  for (const auto& [why, fields] : reasons) {
    text += fmt::format("assumed ({}): {}\n", one_line_printable_text(why, kLongestAssumption),
                        fmt::join(fields, ", "));
  }
  return text;
}

}  // namespace

std::string unread_settings_text(const framework_files::ImportReport& report, bool names_harmless) {
  TextTable table{
      .columns = {{"not read"}, {"value"}, {"matters"}, {"where"}, {"what is left out"}},
      .rows = {}};
  std::vector<std::string> harmless;
  for (const framework_files::SettingNotInPlan& one : report.not_read) {
    if (one.matters == framework_files::SettingImpact::kNo) {
      harmless.push_back(one_line_printable_text(one.name));
      continue;
    }
    table.rows.push_back({one.name, one.value,
                          std::string(name_of(framework_files::kSettingImpactNames, one.matters)),
                          place_of(one.file, one.line),
                          one.why.empty() ? "not known: perhaps nothing" : one.why});
  }
  std::string text = table.rows.empty() ? "" : "\n" + format_text_table(table);
  if (harmless.empty()) return text;
  constexpr std::size_t kShort = 80;
  std::string which = fmt::format("{}", fmt::join(harmless, ", "));
  if (!names_harmless && which.size() > kShort) {
    which = fmt::format("{}, which `stepwright import` names",
                        count_with_noun(static_cast<std::int64_t>(harmless.size()), "setting"));
  }
  return text + fmt::format("\nnot read, without effect on any figure: {}\n", which);
}

std::string import_report_text(const framework_files::ImportReport& report) {
  return read_text(report) + assumed_text(report) + unread_settings_text(report, true);
}

}  // namespace stepwright::cli
