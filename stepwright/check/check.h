#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/check/remedies.h"
#include "stepwright/core/named.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/against.h"

namespace stepwright::check {

/// The fullest device of a plan: where memory runs out first.
struct FullestStage {
  std::int64_t stage = 0;       ///< Pipeline position of the stage.
  std::int64_t first_rank = 0;  ///< The lowest rank there; all ranks of a stage hold the same.
};

FullestStage fullest_stage(const simulate::Prediction& prediction);

/// Whether a job starts, as far as its files say. kUnknown: something in them is unheard of, and
/// nobody knows whether its program takes it.
enum class Starts : std::uint8_t { kNo, kUnknown, kYes };
inline constexpr Named<Starts> kStartsNames[] = {
    {Starts::kNo, "NO"}, {Starts::kUnknown, "unknown"}, {Starts::kYes, "yes"}};

/// Result of checking a job before it is queued.
struct JobCheck {
  /// Imported files; without a target where a plan file was given.
  framework_files::ImportedPlan imported;
  std::optional<simulate::Prediction> prediction;  ///< Prediction of a plan that starts.
  FullestStage fullest;
  /// The way to the best plan that the framework runs; nullopt if the plan does not start, or the
  /// framework is known to run no legal plan of the job.
  std::optional<tune::Against> better;
  /// Changes that let the job fit. Empty: the job fits, or no change helps.
  std::vector<SaidRemedy> remedies;
  /// The lines of the imported files that each change of `better` sets. Empty: they are not known.
  std::vector<std::vector<std::string>> in_files;

  [[nodiscard]] Starts starts() const;
  /// Why `starts()` is not kYes; empty otherwise.
  [[nodiscard]] std::string start_doubt() const;
  /// True if the plan is one, so that there is a prediction.
  [[nodiscard]] bool legal() const { return !imported.refused; }
  [[nodiscard]] bool fits() const { return prediction && prediction->memory.fits(); }
  /// The share of the step that the changes save; 0 where nothing does.
  [[nodiscard]] double gain() const;
};

/// Predicts a plan, and looks for a better one of the same job under the same framework. Fails with
/// `kInput` where its job says what no search can take.
JobCheck check_job(framework_files::ImportedPlan imported, const tune::TuneOptions& options = {});

/// Why the job should not be queued, in one sentence: it does not start, does not fit (what is
/// tight may), is not known to start, or leaves `most_gain` of a step or more on the table; empty:
/// it should.
std::string fault_of(const JobCheck& check, std::optional<double> most_gain);

/// The document of `check --json`; keys as in docs/formats.md, "Check".
nlohmann::ordered_json check_json(const JobCheck& check, const std::string& fault);

}  // namespace stepwright::check
