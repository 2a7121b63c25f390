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

/// Whether a setting that plans do not express can change time, memory or messages of a step.
enum class SettingImpact : std::uint8_t { kNo, kMaybe, kYes };
inline constexpr Named<SettingImpact> kSettingImpactNames[] = {
    {SettingImpact::kNo, "no"}, {SettingImpact::kMaybe, "unknown"}, {SettingImpact::kYes, "yes"}};

/// Key for all frameworks that a table row does not name.
inline constexpr std::string_view kOtherFrameworks = "others";

/// A word that holds for all frameworks, or differs between frameworks that run the same program.
struct FrameworkWord {
  /// Frameworks and their words; `others` comes last.
  std::vector<std::pair<std::string_view, std::string_view>> words{};

  /// True if a table row has such a word.
  [[nodiscard]] bool said() const { return !words.empty(); }
  /// Returns the word for a framework; empty if it has none.
  [[nodiscard]] std::string_view framework_word(std::string_view framework) const;
};

/// A setting of a framework, with everything that the tables know about it.
struct KnownSetting {
  /// Dotted path in a file; with `*` at its end, all settings that begin so.
  std::string_view name;
  /// Field of a plan file that the setting sets: "parallel.tensor", "job.batch.length",
  /// "job.model"; empty: no field, because plans do not express the setting.
  std::string_view field;
  /// Importance of the setting if it sets no field, or if a reader left it out.
  SettingImpact matters = SettingImpact::kNo;
  /// The effect that a prediction ignores if the setting matters.
  std::string_view leaves_out{};
  /// The value that has no effect; empty: false, 0, none or empty.
  std::string_view harmless{};
  /// Values that agree with every plan, so that no reader needs to ask for them.
  std::vector<std::string_view> taken{};
  std::string_view source{};  ///< Where the program defines the setting; empty: its table says so.
  FrameworkWord usual{};      ///< Value if a file has no such key; empty: the key is required.
  /// Switch that must also be on for the setting to have an effect; empty: none.
  FrameworkWord needs{};
  /// Plan field that must be set for the setting to be written; empty: none.
  std::string_view when{};
  bool always = false;  ///< True if files state the setting even at its default.
};

/// A setting that a plan or its job took from a file.
struct ReadSetting {
  std::string name, value, file;
  std::uint32_t line = 0;  ///< Line of the setting in its file, from 1; 0: no line.
  std::string field;       ///< Field of the plan that the setting sets, as in `KnownSetting`.
};

/// A field of the plan that no setting states.
struct AssumedField {
  std::string field, value, why;
};

/// A setting of a file that the plan does not express.
struct UnreadSetting {
  std::string name, value, file;
  std::uint32_t line = 0;
  SettingImpact matters = SettingImpact::kMaybe;
  std::string why;  ///< The effect that a prediction ignores; can be empty.
  /// Arguments that depend on an undetermined condition; empty for any other setting.
  std::vector<std::string> arguments{};
  /// True if no table of the program knows the setting, so that the program can refuse it.
  bool unheard_of = false;
};

/// The result of an import for each setting of the files.
struct ImportReport {
  /// Settings that were read, in the order of a plan file, degrees first.
  std::vector<ReadSetting> read;
  std::vector<AssumedField> assumed;
  /// Settings that no plan expresses, the most important first.
  std::vector<UnreadSetting> not_read;
  /// Number of unknown names that were compared with all known ones.
  std::size_t guesses = 0;
  /// True if the program refuses any setting that it does not know.
  bool strict_parser = false;
  std::vector<std::string> notes;  ///< Notes about assumptions, in sentences for people.
  /// Scripts that were not given, each with the position where another script runs it.
  std::vector<std::pair<std::string, std::string>> missing;
  /// Values that a script leaves open, each with the option that states it: "$1", "--set TP=VALUE".
  std::vector<std::pair<std::string, std::string>> open_values;

  /// Lists a setting as one that no plan expresses exactly; `why` is the effect that is ignored.
  void leave_out(Node setting, std::string why);
  /// Lists such a setting by name and value, and removes it from the settings that were read.
  void leave_out(UnreadSetting setting, std::string why);
  /// Records the reason for a plan field that no file states.
  void add_assumption(std::string field, std::string why) {
    assumed.push_back({std::move(field), "", std::move(why)});
  }

  /// Counts a comparison of an unknown name with known ones; false once a file has used up its
  /// share.
  bool count_guess() {
    constexpr std::size_t kMostGuesses = 100;
    return ++guesses <= kMostGuesses;
  }
};

/// Calls `visit(setting)` for each setting of a report, read or not; `visit` can rename the
/// setting.
template <class Visit>
void each_setting(ImportReport& report, const Visit& visit) {
  std::ranges::for_each(report.read, visit);
  std::ranges::for_each(report.not_read, visit);
}

/// Returns the table row for a setting's dotted path; null if there is none.
const KnownSetting* known_setting(std::span<const KnownSetting> known, std::string_view name);

/// Returns the value of a setting as reports print it; a list as its items, shortened.
std::string setting_text(Node value);

/// Returns a setting in the form in which reports list unread ones.
UnreadSetting unread_setting(Node setting);

/// Adds each setting of a mapping to `report.read` if a reader asked for it, else to
/// `report.not_read`. A setting that is already listed as not read stays listed so. A setting that
/// a reader left out (`Fields::leave_out`) is listed as one that matters. `fields` is the root of a
/// file, after its reader has finished.
void list_settings(const Fields& fields, const std::string& file,
                   std::span<const KnownSetting> known, ImportReport& report);

/// Adds the plan fields that no file states to a report. `report.assumed` has reasons for some of
/// them; the others are defaults of the job's framework.
void complete_import_report(const plan::PlannedJob& planned, ImportReport& report);

/// Fails with `kInput` if a setting that was not read matters or can matter, naming each.
void check_all_read(const ImportReport& report);

}  // namespace stepwright::framework_files
