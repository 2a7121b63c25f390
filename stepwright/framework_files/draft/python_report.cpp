#include "stepwright/framework_files/draft/python_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/launch_scripts/capture_advice.h"

namespace stepwright::framework_files {
namespace {

/// Returns the value at a dotted path, which can be null; nullopt if there is none.
std::optional<DocumentNode> node_at(DocumentNode node, std::string_view path) {
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const auto below = node.is_mapping() ? node.find(path.substr(0, dot)) : std::nullopt;
    if (!below) return std::nullopt;
    node = *below;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return node;
}

/// True if a setting, or one below it, sets a field of a plan.
bool sets_something(std::span<const KnownSetting> known, std::string_view name) {
  return std::ranges::any_of(known, [&](const KnownSetting& one) {
    const bool within = one.name.starts_with(name) &&
                        (one.name.size() == name.size() || one.name[name.size()] == '.');
    return within && !one.field.empty();
  });
}

/// True if a plan field is a degree of parallelism or a batch size.
bool shapes_plan(std::string_view field) {
  return field.starts_with("parallel.") || field.starts_with("job.batch") ||
         field == "micro_batch" || field == "schedule.chunks";
}

}  // namespace

void report_unread_python_values(const launch_scripts::PythonConfig& config,
                                 const YamlJsonDocument& document,
                                 std::span<const KnownSetting> known, ImportReport& report,
                                 std::span<const KnownSetting> fields) {
  for (const launch_scripts::UnknownPythonValue& one : config.unread) {
    const auto there = node_at(document.root(), one.name);
    if (there && !there->is_null()) continue;
    SettingNotInPlan unread{one_line_printable_text(one.name),
                            one_line_printable_text(one.expression, 120),
                            document.document_name(),
                            one.line,
                            SettingImpact::kMaybe,
                            ""};
    const KnownSetting* setting = find_known_setting(known, one.name);
    const KnownSetting* field =
        find_known_setting(fields, one.name.substr(one.name.rfind('.') + 1));
    if (field != nullptr && !field->field.empty()) {
      if (shapes_plan(field->field) && there) {
        fail_input(
            fmt::format("{}:{}: {} is '{}', and Stepwright executes no code: state the value with "
                        "--set {}=VALUE{}",
                        document.document_name(), one.line, unread.name, unread.value, unread.name,
                        launch_scripts::computed_configuration_advice(one.expression, one.line)));
      }
      unread.matters = SettingImpact::kYes;
      unread.why = "its value is not a literal";
      report.not_read.push_back(std::move(unread));
      continue;
    }
    if (sets_something(known, one.name)) {
      unread.matters = SettingImpact::kYes;
      unread.why = "its value is not a literal";
    } else if (setting != nullptr) {
      unread.matters = setting->matters;
      unread.why = setting->leaves_out;
    }
    report.not_read.push_back(std::move(unread));
  }
}

}  // namespace stepwright::framework_files
