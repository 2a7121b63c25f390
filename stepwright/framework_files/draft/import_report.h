#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// Whether a setting that a plan cannot express changes time, memory or communication of a training
/// step: no, perhaps, yes.
enum class SettingImpact : std::uint8_t { kNo, kMaybe, kYes };
inline constexpr Named<SettingImpact> kSettingImpactNames[] = {
    {SettingImpact::kNo, "no"}, {SettingImpact::kMaybe, "unknown"}, {SettingImpact::kYes, "yes"}};

/// Key for all frameworks that are not named themselves, in a settings table's mapping from
/// frameworks to texts.
inline constexpr std::string_view kOtherFrameworksKey = "others";

/// A text in a settings table, such as a default value: one for all frameworks, or one for each
/// framework that is built on the program.
struct PerFrameworkText {
  /// Pairs of framework and text; the last pair has the key `others`. Empty: the table has no text.
  std::vector<std::pair<std::string_view, std::string_view>> words{};

  /// True if the table row has a text for any framework.
  [[nodiscard]] bool has_text_for_any_framework() const { return !words.empty(); }
  /// Returns the text for a framework, else the one for `others`; empty if there is neither.
  [[nodiscard]] std::string_view text_for_framework(std::string_view framework) const;
};

/// A row of a settings table: a setting of a framework, the plan field that it sets, its default
/// and its effect.
struct KnownSetting {
  /// Dotted path of the setting in a file; `*` stands for any number of characters.
  std::string_view name;
  /// Field of a plan file that the setting sets: "parallel.tensor", "job.batch.length",
  /// "job.model"; empty: no field, because plans do not express the setting.
  std::string_view field;
  /// Whether the setting changes a step's time, memory or communication although plans cannot
  /// express it.
  SettingImpact matters = SettingImpact::kNo;
  /// The effect of the setting that predictions ignore; empty: none, or unknown.
  std::string_view leaves_out{};
  /// Value with which the setting changes nothing in a step; empty: false, 0, none or an empty
  /// value.
  std::string_view harmless{};
  /// Values of the setting that every plan has anyway, so that import reports list the setting as
  /// read although no code reads it.
  std::vector<std::string_view> taken{};
  /// Repository and file where the program defines the setting; empty: stated once for the whole
  /// table.
  std::string_view source{};
  /// Default value if a file lacks the setting; empty: no default is recorded.
  PerFrameworkText usual{};
  /// Name of another setting that must be on for this one to have an effect; empty: none.
  PerFrameworkText needs{};
  /// Plan field that must be on, or above 1, for the setting to be written into a launch file;
  /// empty: none.
  std::string_view when{};
  /// True if written launch files state the setting even at its default value.
  bool always = false;
};

/// A setting in a file from which a field of the plan or job was read.
struct ImportedSetting {
  std::string name, value, file;
  std::uint32_t line = 0;  ///< Line of the setting in its file, from 1; 0: no line.
  /// Field of the plan that the setting sets: "parallel.tensor"; empty: none.
  std::string field;
};

/// A field of the plan that no file states, with its assumed value and the reason.
struct AssumedPlanField {
  std::string field, value, why;
};

/// A setting of a file that the plan does not express.
struct SettingNotInPlan {
  std::string name, value, file;
  std::uint32_t line = 0;
  SettingImpact matters = SettingImpact::kMaybe;
  std::string why;  ///< The effect of the setting that predictions ignore; empty: none, or unknown.
  /// Command-line arguments that depend on a shell condition of unknown outcome, if this entry is
  /// such a condition; empty otherwise.
  std::vector<std::string> arguments{};
  /// True if the setting is unknown here, so that the program itself may refuse it.
  bool is_unknown_setting = false;
};

/// Report of an import: which settings of the files were read, and which plan fields assumed.
struct ImportReport {
  /// Settings that were read, in the order of a plan file's fields: parallel degrees first.
  std::vector<ImportedSetting> read;
  std::vector<AssumedPlanField> assumed;
  /// Settings that no plan expresses, the most important first.
  std::vector<SettingNotInPlan> not_read;
  /// Number of unknown setting names in the imported files for which a similar known name was
  /// searched; limited to bound the time.
  std::size_t guesses = 0;
  /// True if the training program refuses to start with any setting that it does not know.
  bool strict_parser = false;
  std::vector<std::string> notes;  ///< Notes about assumptions, in sentences for people.
  /// Scripts that the user did not give: path, and position in another script that runs it
  /// ("run.sh:12").
  std::vector<std::pair<std::string, std::string>> missing;
  /// Values that are unknown because a script does not set them, each with the option that states
  /// it: "$1", "--set TP=VALUE".
  std::vector<std::pair<std::string, std::string>> open_values;

  /// Adds a setting to `not_read` as important; `why` is the effect that predictions ignore.
  void add_unmodelled_setting(DocumentNode setting, std::string why);
  /// Adds a setting to `not_read` as important, and removes it from `read`; `why` is the effect
  /// that predictions ignore.
  void add_unmodelled_setting(SettingNotInPlan setting, std::string why);
  /// Records why a plan field that no file states has its value.
  void add_assumption(std::string field, std::string why) {
    assumed.push_back({std::move(field), "", std::move(why)});
  }

  /// Counts one search for a known name similar to an unknown setting; false after 100 searches,
  /// when no more are made.
  bool count_similar_name_search() {
    constexpr std::size_t kMostGuesses = 100;
    return ++guesses <= kMostGuesses;
  }
};

/// Calls `visit(setting)` for each setting of a report, read or not; `visit` can rename the
/// setting.
template <class VisitorCallback>
void each_setting(ImportReport& report, const VisitorCallback& visit) {
  std::ranges::for_each(report.read, visit);
  std::ranges::for_each(report.not_read, visit);
}

/// Returns the first row of a settings table whose name matches this dotted path; null if there is
/// none.
const KnownSetting* find_known_setting(std::span<const KnownSetting> known, std::string_view name);

/// Returns a setting's value as reports print it: a scalar or the items of a list, shortened; the
/// number of keys of a mapping.
std::string setting_value_text(DocumentNode value);

/// Returns an entry for `ImportReport::not_read` with a setting's path, value and line.
SettingNotInPlan make_unread_setting(DocumentNode setting);

/// Adds each setting of a file to `report.read` if its reader has read it, else to
/// `report.not_read`. Settings recorded by `FrameworkSettingsReader::record_unmodelled_setting` are
/// listed as important. `fields` is the root of the file, after its reader has finished.
void report_read_and_unread_settings(const FrameworkSettingsReader& fields, const std::string& file,
                                     std::span<const KnownSetting> known, ImportReport& report);

/// Fills `report.assumed` with all plan fields that no file states, with their values; a field
/// without a recorded reason is reported as the framework's default.
void complete_import_report(const plan::PlannedJob& planned, ImportReport& report);

/// Fails with `kInput`, naming them, if settings that can change time, memory or communication were
/// not read (`--strict`).
void check_all_settings_read(const ImportReport& report);

}  // namespace stepwright::framework_files
