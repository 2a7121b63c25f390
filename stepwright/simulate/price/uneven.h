#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "stepwright/packing/largest_of.h"
#include "stepwright/plan/job.h"
#include "stepwright/schedule/turn_play.h"
#include "stepwright/simulate/price/schedule_store.h"

namespace stepwright::simulate {

/// By how much the position with most work takes longer for one micro-batch, both ways, with more
/// query-key pairs of documents and with more tokens, over their share more (`token_growth.h`).
struct MicroBatchSeconds {
  double pairs = 0;
  double tokens = 0;
};

/// Waits and spread of a step with unequal micro-batches, against a step in which all are the mean
/// one.
struct Uneven {
  double waits_s = 0;  ///< Expected: ranks wait for the slowest, positions for each other.
  double low_s = 0;    ///< One step of ten is shorter by more than this.
  double high_s = 0;   ///< One of ten is longer by more.
};

/// The law of steps with unequal micro-batches. Data-parallel ranks wait for the slowest at the end
/// of a step; those whose parameters are gathered, whose gradients leave each backward or whose
/// experts are shared wait for each other in every micro-batch. On a pipeline the chain of waits is
/// as long as its turns make it: they are played with seeded sizes. Keeps what it played.
class UnevenSteps {
 public:
  UnevenSteps(const plan::Job& job, std::shared_ptr<ScheduleStore> schedules)
      : job_(job), schedules_(std::move(schedules)) {}

  /// Waits and spread of a plan whose job has documents.
  Uneven of(const plan::Plan& plan, const MicroBatchSeconds& seconds);

 private:
  /// How much longer than with equal micro-batches a pipeline takes, in deviations of one.
  struct Makespan {
    double mean = 0;
    double variance = 0;
  };
  struct Key {
    ScheduleStore::Key schedule;
    std::int64_t skew_steps = 0;
    auto operator<=>(const Key&) const = default;
  };
  Makespan makespan(const plan::Plan& plan, double skewness);
  Makespan played(const Key& key);
  [[nodiscard]] double dealt(const plan::Plan& plan, double skewness) const;
  /// `packing::largest_of`, computed once; the reference lasts as long as this.
  const packing::Largest& largest_of(std::int64_t count, double skewness, double most);

  const plan::Job& job_;
  std::shared_ptr<ScheduleStore> schedules_;
  schedule::TurnPlayer player_;
  std::map<Key, Makespan> known_;
  std::map<std::tuple<std::int64_t, double, double>, packing::Largest> largest_;
};

}  // namespace stepwright::simulate
