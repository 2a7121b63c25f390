#include "stepwright/phases/forward_pass.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "stepwright/core/divide_up.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/memory/memory.h"
#include "stepwright/simulate/price/uneven.h"
#include "stepwright/simulate/timeline/prices.h"
#include "stepwright/simulate/timeline/simulation.h"
#include "stepwright/step/document_sizes.h"
#include "stepwright/step/forwards.h"
#include "stepwright/step/token_growth.h"

namespace stepwright::phases {
namespace {

class Forwards {
 public:
  explicit Forwards(const plan::PlannedJob& planned)
      : job_(planned.job),
        plan_(planned.plan),
        cost_(job_),
        layouts_(cost::rank_group_network_layouts(job_.cluster, plan::RankGrid(plan_))) {
    plan_.schedule.strands = 1;
  }

  /// Forwards of the same sequences in micro-batches of another size, with as many micro-batches as
  /// fill all ranks and positions.
  Forwards(const plan::PlannedJob& planned, std::int64_t micro_batch) : Forwards(planned) {
    plan_.micro_batch = micro_batch;
    job_.sequences = plan_.parallel.data * plan_.parallel.pipeline * micro_batch;
  }

  /// Returns the seconds of several batches. The pipeline fills only once: each further batch adds
  /// what the second one adds.
  [[nodiscard]] double seconds(std::int64_t batches) const {
    const double one = played_s(1);
    const double all =
        batches == 1 ? one : one + static_cast<double>(batches - 1) * (played_s(2) - one);
    return all + waits_s(batches);
  }

  [[nodiscard]] std::vector<double> peaks() const {
    const step::StepProgram program = step::forward_only_program(job_, plan_);
    std::vector<double> bytes;
    for (const memory::StageMemory& stage : memory::memory_report(job_, program).stages) {
      bytes.push_back(stage.peak_bytes);
    }
    return bytes;
  }

 private:
  [[nodiscard]] plan::Job of_batches(std::int64_t batches) const {
    plan::Job job = job_;
    job.sequences *= batches;
    return job;
  }

  [[nodiscard]] step::StepProgram program(const plan::Job& job) const {
    return step::forward_only_program(job, plan_,
                                      job.documents ? step::RepresentativeMicroBatch::kMean
                                                    : step::RepresentativeMicroBatch::kLargest);
  }

  [[nodiscard]] double played_s(std::int64_t batches) const {
    return simulate::simulate_step_program(program(of_batches(batches)), cost_, layouts_, plan_)
        .step_time_s;
  }

  /// Growth of the seconds of the position with the most work, with more query-key pairs of
  /// documents and with more tokens.
  [[nodiscard]] simulate::MicroBatchGrowthSeconds slowest() const {
    const step::StepProgram forwards = program(job_);
    const std::vector<double> own = passes(forwards);
    const std::vector<double> of_pairs =
        passes(grown(forwards, step::scale_template_query_key_pairs));
    std::vector<double> of_tokens = own;
    if (step::has_unequal_lengths(job_))
      of_tokens = passes(grown(forwards, step::scale_template_tokens));
    const auto most = static_cast<std::size_t>(std::ranges::max_element(own) - own.begin());
    const auto growth = [&](const std::vector<double>& larger) {
      return std::max(0.0, larger[most] - own[most]) / (step::kMicroBatchGrowthFactor - 1);
    };
    return {.pairs = growth(of_pairs), .tokens = growth(of_tokens)};
  }

  template <class Grow>
  static step::StepProgram grown(step::StepProgram forwards, Grow grow) {
    for (step::OperatorTemplate& piece : forwards.templates)
      piece = grow(std::move(piece), step::kMicroBatchGrowthFactor);
    return forwards;
  }

  /// Seconds of each position's compute stream for one micro-batch.
  [[nodiscard]] std::vector<double> passes(const step::StepProgram& forwards) const {
    const simulate::Prices prices =
        simulate::price_operators(forwards, cost_, layouts_, plan_.collectives);
    std::vector<double> all;
    for (const step::PipelineStageProgram& stage : forwards.stages) {
      std::map<std::int32_t, const step::TemplateSequence*> of_chunk;
      for (const step::TemplateSequence& sequence : stage.sequences) {
        if (sequence.direction == schedule::Direction::kForward)
          of_chunk[sequence.chunk] = &sequence;
      }
      double& own_s = all.emplace_back();
      for (const auto& [chunk, sequence] : of_chunk) {
        own_s += compute_s(*sequence, forwards, prices);
      }
    }
    return all;
  }

  static double compute_s(const step::TemplateSequence& sequence, const step::StepProgram& forwards,
                          const simulate::Prices& prices) {
    double sum_s = 0;
    for (const step::TemplateSequenceItem& item : sequence.items) {
      const auto which = static_cast<std::size_t>(item.which);
      const std::vector<step::Operator>& operators = forwards.templates[which].operators;
      for (std::size_t i = 0; i < operators.size(); ++i) {
        if (operators[i].stream == step::DeviceStream::kCompute) sum_s += prices[which][i].seconds;
      }
    }
    return sum_s;
  }

  [[nodiscard]] double waits_s(std::int64_t batches) const {
    if (!job_.documents) return 0;
    const plan::Job all = of_batches(batches);
    return simulate::UnevenMicroBatchWaitModel(all,
                                               std::make_shared<simulate::SimulatedScheduleCache>())
        .expected_waits_of_plan(plan_, slowest())
        .waits_s;
  }

  plan::Job job_;
  plan::Plan plan_;
  cost::CostModel cost_;
  std::array<cluster::GroupLayout, plan::kGroupKinds> layouts_;
};

}  // namespace

ForwardPassPrediction predict_forward_passes(const plan::PlannedJob& planned,
                                             std::int64_t batches) {
  const std::int64_t own = planned.job.method.forward_micro_batch;
  if (own == 0 || own == planned.plan.micro_batch) {
    const Forwards forwards(planned);
    return {.seconds = forwards.seconds(batches), .peak_bytes = forwards.peaks()};
  }
  const Forwards forwards(planned, own);
  const std::int64_t all = planned.job.sequences * batches;
  const std::int64_t together = planned.plan.parallel.data * planned.plan.parallel.pipeline * own;
  return {.seconds = forwards.seconds(ceil_divide(all, together)), .peak_bytes = forwards.peaks()};
}

}  // namespace stepwright::phases
