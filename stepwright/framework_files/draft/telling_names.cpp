#include "stepwright/framework_files/draft/telling_names.h"

#include <algorithm>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/recognition/marks.h"

namespace stepwright::framework_files {
namespace {

/// Names that imply the same effect. `harmless`: a value without effect (empty: there is none).
/// `as`: why the settings matter (empty: they change the model or its adapters).
struct TellingRow {
  std::vector<std::string> patterns;
  std::string harmless, as;
};

/// Patterns of setting names, with dashes for underscores, that reveal an effect on the prediction.
struct TellingNames {
  explicit TellingNames(const YamlJsonDocument& document) {
    visit_rows_of_yaml_table(document, "telling", [&](DocumentNode row, const std::string&) {
      const auto text = [&](std::string_view key) {
        const auto value = row.find(key);
        return value ? value->text() : "";
      };
      telling.push_back(
          {single_text_or_text_list(row, "change", "changes"), text("harmless"), text("as")});
    });
    visit_rows_of_yaml_table(document, "idle", [&](DocumentNode row, const std::string&) {
      for (std::string& pattern : single_text_or_text_list(row, "name", "names"))
        idle.push_back(pattern);
    });
  }

  /// Returns why a setting of this name matters; empty if the name does not show it.
  [[nodiscard]] std::string reason(const std::string& name, std::string_view value) const {
    const auto fits = [&](const std::string& pattern) {
      return matches_wildcard_pattern(pattern, name);
    };
    if (std::ranges::any_of(idle, fits)) return "";
    for (const TellingRow& row : telling) {
      const bool idle_value = !row.harmless.empty() && value == row.harmless;
      if (idle_value || std::ranges::none_of(row.patterns, fits)) continue;
      return row.as.empty() ? "its name is like those that change the model or its adapters"
                            : row.as;
    }
    return "";
  }

  std::vector<TellingRow> telling;
  std::vector<std::string> idle;
};

/// Returns a setting's name in lower case with dashes: "--Lora_Rank" becomes "lora-rank".
std::string dashed_setting(std::string_view name) {
  std::string plain(name.substr(std::min(name.find_first_not_of('-'), name.size())));
  for (char& c : plain) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_') c = '-';
  }
  return plain;
}

bool is_left_off(std::string_view value) {
  static constexpr std::string_view kOff[] = {"false", "False", "0", "none", "None", "null"};
  return std::ranges::find(kOff, value) != std::end(kOff);
}

}  // namespace

void mark_suspicious_settings(ImportReport& report) {
  const auto& names = loaded_table<TellingNames>("recognition/telling_names");
  for (SettingNotInPlan& one : report.not_read) {
    if (!one.is_unknown_setting || one.matters != SettingImpact::kMaybe || is_left_off(one.value))
      continue;
    const std::string reason = names.reason(dashed_setting(one.name), one.value);
    if (reason.empty()) continue;
    one.matters = SettingImpact::kYes;
    one.why = reason + (one.why.empty() ? "" : "; " + one.why);
  }
}

}  // namespace stepwright::framework_files
