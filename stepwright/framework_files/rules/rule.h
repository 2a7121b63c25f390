#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/settled.h"
#include "stepwright/framework_files/rules/places.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

// A rule translates a few settings of a framework into a part of a plan or its job and back, by a
// reader function and a writer function next to each other. A setting whose value equals a plan
// field needs no function but a row of a table. Rules set typed values, so that no rule formats a
// value for another one to parse.
// A rule has no list of its keys: `FrameworkSettingsReader` records which settings a reader asks
// for, and a report lists those as read.

/// Facts about the job that are known before its settings are translated by rules, and that no rule
/// changes.
struct KnownJobFacts {
  const plan::TrainingFramework& framework;
  bool routed;  ///< True if the model is a mixture of experts.
};

/// Result of reading a framework's settings by a translation rule: the plan as earlier rules and
/// this one have set it, and remarks for the import report.
struct SettingRuleReadResult : PartialPlan {
  /// Settings of the imported file that no plan expresses exactly, each with the effect that a
  /// prediction ignores.
  std::vector<std::pair<DocumentNode, std::string>> left_out{};
  /// Notes for users about assumptions of the import, in sentences.
  std::vector<std::string> notes{};
};

/// Translation between some settings of a framework and one part of a plan or its job, in both
/// directions.
struct SettingTranslationRule {
  /// Keys of settings that each equal one plan field, as rows of the settings table `table` state;
  /// they are translated before `read` and `write` run.
  std::span<const std::string_view> rows{};
  std::string_view table = "";
  /// Function that reads the settings of this rule into `reading`. Fails with `kInput` for a value
  /// of a wrong kind. Null: `rows` are enough.
  void (*read)(const FrameworkSettingsReader& fields, const KnownJobFacts& known,
               SettingRuleReadResult& reading) = nullptr;
  /// Function that adds the settings of this rule for a plan to `fields`, in the order of a file;
  /// `release` is the framework's release. Null: `rows` are enough.
  void (*write)(const plan::PlannedJob& planned, std::string_view release,
                DocumentTree& fields) = nullptr;
};

/// Reads a framework's settings by a translation rule and returns the plan with the rule's part
/// set. `settled`: the plan as earlier rules have set it.
SettingRuleReadResult read_settings_by_rule(const SettingTranslationRule& rule,
                                            const FrameworkSettingsReader& fields,
                                            const KnownJobFacts& known, PartialPlan settled);

/// Adds to `fields` the framework's settings that express one part of a plan, by the translation
/// rule for this part.
void write_settings_by_rule(const SettingTranslationRule& rule, const plan::PlannedJob& planned,
                            std::string_view release, DocumentTree& fields);

}  // namespace stepwright::framework_files
