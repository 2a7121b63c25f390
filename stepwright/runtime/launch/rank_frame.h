#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/messages/watch.h"
#include "stepwright/runtime/train_options.h"

namespace stepwright::runtime {

/// Loss, gradient norm and learning rate of a training step, over all ranks.
struct StepLearningMetrics {
  double loss = 0;  ///< Mean loss per token of the global batch.
  double gradient_norm = 0;
  double learning_rate = 0;
};

/// Time, speed, memory and loss of one training step, as one rank reports them.
struct StepReport {
  std::int64_t step = 0;  ///< Number of the training step, from 1.
  double time_s = 0;
  double tokens_per_s = 0;
  /// Most bytes that this rank had allocated at the same time; 0: not counted.
  double memory_bytes = 0;
  /// Loss, norm and learning rate; nullopt in an emulated run, which does not compute.
  std::optional<StepLearningMetrics> learned;
};
using Reporter = std::function<void(const StepReport&)>;

/// True for the one rank that reports each step: the first rank of the pipeline stage that has the
/// output head.
bool is_step_reporting_rank(const plan::Plan& plan, const plan::RankCoordinates& place);

/// Fails with `kInput` unless all ranks have the same step program, data file and options.
/// `program` and `data` are checksums; empty `data`: no data. Ranks that differ would wait forever,
/// or train nonsense.
void check_ranks_agree_on_run(const RankCommunicators::RankWorld& world,
                              const TrainOptions& options, const std::string& program,
                              const std::string& data);

/// Ends a run on all ranks: writes the file of executed messages (`--ledger`) if it was asked for,
/// and waits until the other ranks have ended.
void finish_run_on_all_ranks(RankCommunicators& groups, const RankCommunicators::RankWorld& world,
                             const TrainOptions& options);

/// Calls `act`. If it throws, tells the other ranks through `watch` why this rank ends, before the
/// objects that they wait for are destroyed.
template <class GuardedRankAction>
void tell_failure(RankWatch* watch, GuardedRankAction act) {
  try {
    act();
  } catch (const Error& error) {
    const int code = error.kind() == ErrorKind::kInput         ? 2
                     : error.kind() == ErrorKind::kUnsupported ? 3
                                                               : 1;
    if (watch != nullptr) watch->end_run_with_reason(error.what(), false, code);
    throw;
  } catch (const std::exception& error) {
    const std::string_view text = error.what();
    if (watch != nullptr)
      watch->end_run_with_reason(std::string(text.substr(0, text.find('\n'))), false, 1);
    throw;
  }
}

}  // namespace stepwright::runtime
