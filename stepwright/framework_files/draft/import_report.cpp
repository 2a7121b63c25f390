#include "stepwright/framework_files/draft/import_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "stepwright/core/error.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/recognition/marks.h"
#include "stepwright/plan/files.h"

namespace stepwright::framework_files {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestValue = 120;

std::string shortened(std::string_view text) {
  return one_line_printable_text(text, kLongestValue);
}

/// True if a file sets a value that switches a setting off or has no effect.
bool is_off(DocumentNode value, std::string_view harmless) {
  static constexpr std::string_view kWords[] = {"false", "False", "0",  "0.0", "none",
                                                "None",  "no",    "NO", ""};
  if (value.is_sequence()) return value.size() == 0;
  if (!value.is_scalar()) return false;
  if (!harmless.empty()) return value.text() == harmless;
  return std::ranges::find(kWords, value.text()) != std::end(kWords);
}

/// Sorts the settings of a file into those that its reader has read and the others.
class Sorter {
 public:
  Sorter(const FrameworkSettingsReader& fields, const std::string& file,
         std::span<const KnownSetting> known, ImportReport& report)
      : fields_(fields), file_(file), known_(known), report_(report) {
    for (const KnownSetting& one : known) {
      if (!one.field.empty()) taken_.push_back(one.name);
    }
  }

  void walk(DocumentNode node, const std::string& prefix) {
    for (const auto& [key, value] : node.mapping_members()) {
      const std::string path = prefix + key;
      if (value.is_null()) continue;
      if (fields_.was_setting_read(path) || is_taken(path, value)) {
        add_read(path, value);
      } else if (value.is_mapping() && (find(path) == nullptr || asked_below(value, path))) {
        walk(value, path + ".");
      } else {
        add_unread(path, value);
      }
    }
  }

 private:
  [[nodiscard]] const KnownSetting* find(std::string_view name) const {
    return find_known_setting(known_, name);
  }

  [[nodiscard]] bool is_taken(std::string_view path, DocumentNode value) const {
    const KnownSetting* known = value.is_scalar() ? find(path) : nullptr;
    return known != nullptr && std::ranges::find(known->taken, value.text()) != known->taken.end();
  }

  /// True if a value directly below a mapping was read, or has a table row with values that count
  /// as read (`taken`).
  [[nodiscard]] bool asked_below(DocumentNode mapping, const std::string& path) const {
    return std::ranges::any_of(mapping.mapping_members(), [&](const auto& member) {
      const std::string inner = fmt::format("{}.{}", path, member.first);
      const KnownSetting* known = find(inner);
      return fields_.was_setting_read(inner) || (known != nullptr && !known->taken.empty());
    });
  }

  void add_read(const std::string& path, DocumentNode value) {
    const std::string name = one_line_printable_text(path);
    const bool left_out = std::ranges::any_of(report_.not_read, [&](const SettingNotInPlan& one) {
      return one.name == name && one.file == file_ && one.line == value.source_line();
    });
    if (left_out) return;
    const KnownSetting* known = find(path);
    report_.read.push_back({name, setting_value_text(value), file_, value.source_line(),
                            std::string(known == nullptr ? "" : known->field)});
  }

  void add_unread(const std::string& path, DocumentNode value) {
    SettingNotInPlan unread{one_line_printable_text(path), setting_value_text(value), file_,
                            value.source_line(),           SettingImpact::kMaybe,     ""};
    if (const KnownSetting* known = find(path)) {
      const bool usual = is_off(value, known->harmless);
      const bool matters = (known->field.empty() || !known->leaves_out.empty()) && !usual;
      unread.matters = matters ? known->matters : SettingImpact::kNo;
      if (matters) unread.why = known->leaves_out;
    } else {
      unread.is_unknown_setting = true;
      if (report_.count_similar_name_search()) unread.why = spelling_hint(path, taken_);
      if (unread.why.starts_with("; ")) unread.why.erase(0, 2);
    }
    report_.not_read.push_back(std::move(unread));
  }

  const FrameworkSettingsReader& fields_;
  const std::string& file_;
  std::span<const KnownSetting> known_;
  ImportReport& report_;
  std::vector<std::string_view> taken_;
};

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Returns the fields and values of a plan in the order of its file, those of the job last.
std::vector<std::pair<std::string, std::string>> fields_of(const plan::PlannedJob& planned) {
  static constexpr std::string_view kOfJob[] = {"model",     "cluster",    "batch",    "precision",
                                                "optimizer", "dispatcher", "adapters", "frozen"};
  const Json file = plan::plan_json(planned);
  std::vector<std::pair<std::string, std::string>> found;
  const auto add = [&](const std::string& place, const Json& value) {
    if (!value.is_object() || place == "job.cluster" || place == "job.model") {
      if (!value.is_null()) found.emplace_back(place, text_of(value));
      return;
    }
    for (const auto& [key, inner] : value.items()) {
      if (!inner.is_null()) found.emplace_back(place + "." + key, text_of(inner));
    }
  };
  for (const auto& [key, value] : file.items()) {
    if (key != "stepwright" && key != "job") add(key, value);
  }
  const Json& job = file["job"];
  for (const std::string_view key : kOfJob) {
    if (job.contains(key)) add(fmt::format("job.{}", key), job[key]);
  }
  if (planned.job.method.kind != plan::TrainingMethodKind::kPretrain) {
    add("job.objective", job["objective"]);
  }
  if (job["kernels"].contains("attention")) {
    found.emplace_back("job.kernels.attention", text_of(job["kernels"]["attention"]));
  }
  return found;
}

/// True if the plan field `set` is the field `place`, or a mapping that contains it.
bool covers(std::string_view set, std::string_view place) {
  if (set.empty() || !place.starts_with(set)) return false;
  return place.size() == set.size() || place[set.size()] == '.';
}

}  // namespace

std::string_view PerFrameworkText::text_for_framework(std::string_view framework) const {
  const auto found = std::ranges::find_if(words, [&](const auto& each) {
    return each.first == framework || each.first == kOtherFrameworksKey;
  });
  return found == words.end() ? std::string_view() : found->second;
}

const KnownSetting* find_known_setting(std::span<const KnownSetting> known, std::string_view name) {
  const auto found = std::ranges::find_if(
      known, [&](const KnownSetting& one) { return matches_wildcard_pattern(one.name, name); });
  return found == known.end() ? nullptr : &*found;
}

std::string setting_value_text(DocumentNode value) {
  if (value.is_scalar()) return shortened(value.text());
  if (!value.is_sequence()) return fmt::format("{} keys", value.size());
  std::string text;
  for (std::size_t i = 0; i < value.size() && text.size() <= kLongestValue; ++i) {
    const DocumentNode item = value.at(i);
    text += (i > 0 ? ", " : "") + (item.is_scalar() ? item.text() : "...");
  }
  return shortened("[" + text + "]");
}

SettingNotInPlan make_unread_setting(DocumentNode setting) {
  return {one_line_printable_text(setting.dotted_path()),
          setting_value_text(setting),
          setting.file(),
          setting.source_line(),
          SettingImpact::kMaybe,
          ""};
}

void ImportReport::add_unmodelled_setting(DocumentNode setting, std::string why) {
  add_unmodelled_setting(make_unread_setting(setting), std::move(why));
}

void ImportReport::add_unmodelled_setting(SettingNotInPlan setting, std::string why) {
  std::erase_if(read, [&](const ImportedSetting& one) {
    return one.name == setting.name && one.file == setting.file && one.line == setting.line;
  });
  setting.matters = SettingImpact::kYes;
  setting.why = std::move(why);
  not_read.push_back(std::move(setting));
}

void report_read_and_unread_settings(const FrameworkSettingsReader& fields, const std::string& file,
                                     std::span<const KnownSetting> known, ImportReport& report) {
  if (fields.node().is_mapping()) Sorter(fields, file, known, report).walk(fields.node(), "");
  for (const UnmodelledSetting& one : fields.unmodelled_settings()) {
    const auto listed = std::ranges::find(report.not_read, one.name, &SettingNotInPlan::name);
    if (listed == report.not_read.end()) {
      report.not_read.push_back(
          {one_line_printable_text(one.name),
           one.place.is_scalar() ? one_line_printable_text(one.place.text()) : "", file,
           one.place.source_line(), SettingImpact::kYes, one.why});
    } else {
      listed->matters = SettingImpact::kYes;
      listed->why = one.why;
    }
  }
}

void complete_import_report(const plan::PlannedJob& planned, ImportReport& report) {
  std::map<std::string, std::string> reasons;
  for (const AssumedPlanField& one : report.assumed) reasons[one.field] = one.why;
  report.assumed.clear();
  const auto fields = fields_of(planned);
  const plan::TrainingFramework& framework = planned.job.framework;
  const std::string& program = framework.variant.empty() ? framework.name : framework.variant;
  const std::string usual =
      program.empty() ? std::string("default") : fmt::format("default of {}", program);
  for (const auto& [place, value] : fields) {
    const bool read = std::ranges::any_of(
        report.read,
        [&, at = &place](const ImportedSetting& one) { return covers(one.field, *at); });
    // A reason for a whole mapping does not apply to parts of it that files state.
    auto reason = reasons.find(place);
    const bool stated =
        std::ranges::find(report.read, place, &ImportedSetting::field) != report.read.end();
    if (reason == reasons.end() && !(stated && place.starts_with("job.adapters."))) {
      reason = std::ranges::find_if(
          reasons, [&, at = &place](const auto& one) { return covers(one.first, *at); });
    }
    if (reason != reasons.end()) {
      report.assumed.push_back({place, shortened(value), reason->second});
    } else if (!read) {
      report.assumed.push_back({place, shortened(value), usual});
    }
  }
  const auto order = [&](const ImportedSetting& one) {
    return std::ranges::find_if(fields,
                                [&](const auto& field) { return covers(one.field, field.first); }) -
           fields.begin();
  };
  std::ranges::stable_sort(report.read, {}, order);
  std::ranges::stable_sort(report.not_read, std::greater<>{}, &SettingNotInPlan::matters);
}

void check_all_settings_read(const ImportReport& report) {
  std::vector<std::string> open;
  for (const SettingNotInPlan& one : report.not_read) {
    if (one.matters == SettingImpact::kNo) continue;
    open.push_back(fmt::format("{} ({}:{})", one.name, one.file, one.line));
  }
  if (open.empty()) return;
  fail_input(fmt::format("--strict: not read, and may change time, memory or messages: {}",
                         fmt::join(open, ", ")));
}

}  // namespace stepwright::framework_files
