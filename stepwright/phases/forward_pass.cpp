#include "stepwright/phases/forward_pass.h"

#include <map>
#include <memory>

#include "stepwright/cost/cost_model.h"
#include "stepwright/memory/memory.h"
#include "stepwright/simulate/price/uneven.h"
#include "stepwright/simulate/timeline/prices.h"
#include "stepwright/simulate/timeline/simulation.h"
#include "stepwright/step/forwards.h"

namespace stepwright {
namespace {

class Forwards {
 public:
  explicit Forwards(const PlannedJob& planned)
      : job_(planned.job),
        plan_(planned.plan),
        cost_(job_),
        layouts_(group_layouts(job_.cluster, Grid(plan_))) {
    plan_.schedule.strands = 1;
  }

  /// A pipeline fills once: each further batch adds what the second one does.
  [[nodiscard]] double seconds(std::int64_t batches) const {
    const double one = played_s(1);
    const double all =
        batches == 1 ? one : one + static_cast<double>(batches - 1) * (played_s(2) - one);
    return all + waits_s(batches);
  }

  [[nodiscard]] std::vector<double> peaks() const {
    const StepProgram program = forwards_of(job_, plan_);
    std::vector<double> bytes;
    for (const StageMemory& stage : memory_report(job_, program).stages) {
      bytes.push_back(stage.peak_bytes);
    }
    return bytes;
  }

 private:
  [[nodiscard]] Job of_batches(std::int64_t batches) const {
    Job job = job_;
    job.sequences *= batches;
    return job;
  }

  [[nodiscard]] StepProgram program(const Job& job) const {
    return forwards_of(job, plan_,
                       job.documents ? MicroBatchSize::kMean : MicroBatchSize::kLargest);
  }

  [[nodiscard]] double played_s(std::int64_t batches) const {
    return simulate(program(of_batches(batches)), cost_, layouts_, plan_).step_time_s;
  }

  /// Of the position with most work, what goes by pairs of documents and what by tokens.
  [[nodiscard]] MicroBatchSeconds slowest() const {
    const StepProgram forwards = program(job_);
    const Prices prices = price_operators(forwards, cost_, layouts_, plan_.collectives);
    MicroBatchSeconds slowest;
    for (const Stage& stage : forwards.stages) {
      std::map<std::int32_t, const Sequence*> of_chunk;
      for (const Sequence& sequence : stage.sequences) {
        if (sequence.direction == Direction::kForward) of_chunk[sequence.chunk] = &sequence;
      }
      MicroBatchSeconds seconds;
      for (const auto& [chunk, sequence] : of_chunk) add(seconds, *sequence, forwards, prices);
      if (seconds.attention + seconds.rest > slowest.attention + slowest.rest) slowest = seconds;
    }
    return slowest;
  }

  static void add(MicroBatchSeconds& seconds, const Sequence& sequence, const StepProgram& forwards,
                  const Prices& prices) {
    for (const Item& item : sequence.items) {
      const auto which = static_cast<std::size_t>(item.which);
      const std::vector<Operator>& operators = forwards.templates[which].operators;
      for (std::size_t i = 0; i < operators.size(); ++i) {
        if (operators[i].stream != Stream::kCompute) continue;
        const bool pairs = operators[i].shape.pairs > 0;
        (pairs ? seconds.attention : seconds.rest) += prices[which][i].seconds;
      }
    }
  }

  [[nodiscard]] double waits_s(std::int64_t batches) const {
    if (!job_.documents) return 0;
    const Job all = of_batches(batches);
    return UnevenSteps(all, std::make_shared<ScheduleStore>()).of(plan_, slowest()).waits_s;
  }

  Job job_;
  Plan plan_;
  CostModel cost_;
  std::array<GroupLayout, kGroupKinds> layouts_;
};

}  // namespace

ForwardPass forward_pass(const PlannedJob& planned, std::int64_t batches) {
  const Forwards forwards(planned);
  return {.seconds = forwards.seconds(batches), .peak_bytes = forwards.peaks()};
}

}  // namespace stepwright
