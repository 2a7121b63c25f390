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

/// Whether a setting that a plan does not take can change time, memory or messages of a step.
enum class Matters : std::uint8_t { kNo, kMaybe, kYes };
inline constexpr Named<Matters> kMattersNames[] = {
    {Matters::kNo, "no"}, {Matters::kMaybe, "unknown"}, {Matters::kYes, "yes"}};

/// The frameworks that a row does not name.
inline constexpr std::string_view kOtherFrameworks = "others";

/// A word for all frameworks, or for each that runs a program another way and for the others.
struct ByFramework {
  /// Frameworks and their words; `others` comes last.
  std::vector<std::pair<std::string_view, std::string_view>> words{};

  /// True if a row has such a word.
  [[nodiscard]] bool said() const { return !words.empty(); }
  /// The word for a framework; empty if it has none.
  [[nodiscard]] std::string_view word_for(std::string_view framework) const;
};

/// A setting of a framework, as tables know it.
struct KnownSetting {
  /// Dotted path in a file; with `*` at the end, all settings that begin so.
  std::string_view name;
  /// Field of a plan file that the setting sets: "parallel.tensor", "job.batch.length",
  /// "job.model"; empty: nothing, as no plan says it.
  std::string_view field;
  /// Weight of a setting that sets nothing, or that no reader took though it leaves something out.
  Matters matters = Matters::kNo;
  /// Part that a prediction leaves out then, if the setting matters.
  std::string_view leaves_out{};
  std::string_view harmless{};  ///< The value, beside those of "off", that changes nothing.
  std::vector<std::string_view> taken{};  ///< Values that a plan takes as they are, unasked.
  std::string_view source{};  ///< Where the program defines it; empty: its table says it.
  ByFramework usual{};        ///< The value where a file is silent; empty: a file must say it.
  ByFramework needs{};        ///< The switch that must be on beside it; empty: none.
  std::string_view when{};    ///< The place that plans must have that say it; empty: none.
  bool always = false;        ///< True if files say the usual value, too.
};

/// A setting that a plan or its job took from a file.
struct ReadSetting {
  std::string name, value, file;
  std::uint32_t line = 0;  ///< From 1; 0: of no line.
  std::string field;       ///< Field of the plan, as in `KnownSetting`.
};

/// A field of the plan that no setting says.
struct AssumedField {
  std::string field, value, why;
};

/// A setting of a file that no plan takes.
struct UnreadSetting {
  std::string name, value, file;
  std::uint32_t line = 0;
  Matters matters = Matters::kMaybe;
  std::string why;  ///< Part that a prediction leaves out without the setting; may be empty.
  /// Arguments that hang on an open condition; empty for any other setting.
  std::vector<std::string> arguments{};
  bool unheard_of = false;  ///< True if no table of the program has it: it may end at it.
};

/// The fate of each setting of the files that were imported.
struct ImportReport {
  std::vector<ReadSetting> read;  ///< In the order of a plan file, degrees first.
  std::vector<AssumedField> assumed;
  std::vector<UnreadSetting> not_read;  ///< Settings that no plan takes, the weightiest first.
  std::size_t guesses = 0;              ///< Names that were compared with all known ones.
  bool strict_parser = false;      ///< True if the program ends at any setting that is unheard of.
  std::vector<std::string> notes;  ///< Assumptions, in sentences for people.
  /// Scripts that the first one goes on with and that were not given, with where it does.
  std::vector<std::pair<std::string, std::string>> missing;
  /// Values that a script leaves open, and what says each: "$1", "--set TP=VALUE".
  std::vector<std::pair<std::string, std::string>> open_values;

  /// Lists a setting as one that no plan takes as it is: `why` says what is left out.
  void leave_out(Node setting, std::string why);
  /// Does the same for a setting whose file is gone, which is no longer among those that were read.
  void leave_out(UnreadSetting setting, std::string why);
  /// Says why the plan has what it has in a field that no file states.
  void assume(std::string field, std::string why) {
    assumed.push_back({std::move(field), "", std::move(why)});
  }

  /// Counts a guess at what an unknown name means; false once a file has had its share of them.
  bool may_guess() {
    constexpr std::size_t kMostGuesses = 100;
    return ++guesses <= kMostGuesses;
  }
};

/// Visits each setting of a report, read or not, as `visit(setting)`, which may rename it.
template <class Visit>
void each_setting(ImportReport& report, const Visit& visit) {
  std::ranges::for_each(report.read, visit);
  std::ranges::for_each(report.not_read, visit);
}

/// Finds a setting by its dotted path; null if none is known.
const KnownSetting* known_setting(std::span<const KnownSetting> known, std::string_view name);

/// The value of a setting as reports write it: of a list its items, shortened.
std::string setting_text(Node value);

/// A setting that a plan may not take, as its report names it.
UnreadSetting unread_setting(Node setting);

/// Adds each setting of a mapping to what was read, if a reader asked for it, or to what was not.
/// Settings that the report lists as not read already stay listed so. Settings that a reader left
/// out (`Fields::leave_out`) matter.
/// `fields`: the whole of a file, after its reader is through.
void list_settings(const Fields& fields, const std::string& file,
                   std::span<const KnownSetting> known, ImportReport& report);

/// Completes a report with what the plan says and no file does: `report.assumed` has reasons of
/// some, the others are defaults of the job's framework.
void settle_report(const plan::PlannedJob& planned, ImportReport& report);

/// Fails with `kInput` where a setting that was not read matters, or may, naming each.
void check_all_read(const ImportReport& report);

}  // namespace stepwright::framework_files
