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

/// The results of learning in a step, over all ranks.
struct LearnedMeasures {
  double loss = 0;  ///< Mean loss over the tokens of the batch.
  double gradient_norm = 0;
  double learning_rate = 0;
};

/// The report of a rank after a step.
struct StepReport {
  std::int64_t step = 0;  ///< Number of the step, from 1.
  double time_s = 0;
  double tokens_per_s = 0;
  double memory_bytes = 0;  ///< Most bytes that this rank had allocated at once; 0: not counted.
  /// Results of learning; nullopt in a held run, which does not compute.
  std::optional<LearnedMeasures> learned;
};
using Reporter = std::function<void(const StepReport&)>;

/// True if a rank reports steps: the first rank of the position with the head.
bool reports(const plan::Plan& plan, const plan::Coordinates& place);

/// Fails with `kInput` unless all ranks have the same program, data (as checksums; empty: no data)
/// and options: otherwise they would wait for messages that never come, or learn nonsense.
void check_same_run(const Groups::World& world, const TrainOptions& options,
                    const std::string& program, const std::string& data);

/// Ends a run on all ranks: writes the ledger if one was asked for, and waits for the other ranks.
void finish_together(Groups& groups, const Groups::World& world, const TrainOptions& options);

/// Calls `act`; if it throws, tells the other ranks why this one ends, while the objects that they
/// wait for still exist.
template <class Act>
void tell_failure(RankWatch* watch, Act act) {
  try {
    act();
  } catch (const Error& error) {
    const int code = error.kind() == ErrorKind::kInput         ? 2
                     : error.kind() == ErrorKind::kUnsupported ? 3
                                                               : 1;
    if (watch != nullptr) watch->give_up(error.what(), false, code);
    throw;
  } catch (const std::exception& error) {
    const std::string_view text = error.what();
    if (watch != nullptr) watch->give_up(std::string(text.substr(0, text.find('\n'))), false, 1);
    throw;
  }
}

}  // namespace stepwright::runtime
