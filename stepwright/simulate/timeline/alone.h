#pragma once

#include <array>
#include <span>
#include <vector>

#include "stepwright/simulate/timeline/compile.h"
#include "stepwright/simulate/timeline/player.h"

namespace stepwright::simulate {

/// Seconds of a template or sequence of operators that one stage runs alone.
struct IsolatedStageSeconds {
  double duration_s = 0;  ///< Seconds until all operators of the template or sequence have ended.
  /// Seconds until the compute stream has ended; messages may still run then.
  double compute_end_s = 0;
  double compute_s = 0;  ///< Predicted seconds of computation, without slow-down by messages.
  /// Seconds of exposed communication by `step::ParallelismScheme`, including the time by which
  /// messages slow computation down.
  std::array<double, kSchemes> exposed_s{};
  /// Seconds in which each link class carries a message (even sharing wastes no time, so this is
  /// the sum of its messages).
  std::array<double, cost::kLinkClasses> link_busy_s{};
};

/// Simulates pieces of a step on one stage by the rules of `simulate_step_program`, but without
/// other stages: receives end at once, sends reach no stage, and collectives over several stages do
/// not wait. Reuses its memory between runs; use one object per thread.
class IsolatedStageSimulator {
 public:
  /// Simulates one template (operators of a block in one direction) alone. `times`: for each
  /// operator, its time.
  IsolatedStageSeconds simulate_template_in_isolation(
      const step::OperatorTemplate& piece, std::span<const cost::OperatorTime> times,
      const cost::OverlapSlowdownFactors& contention);
  /// Simulates one sequence of a program's templates alone. `prices`: times of all operators of the
  /// program.
  IsolatedStageSeconds simulate_template_in_isolation(
      const step::StepProgram& program, const step::TemplateSequence& sequence,
      const Prices& prices, const cost::OverlapSlowdownFactors& contention);

 private:
  IsolatedStageSeconds play(const cost::OverlapSlowdownFactors& contention);

  TaskQueueCompiler compiler_{{.merge = true, .meetings = false, .arrivals = false}};
  std::vector<SimulatedStageNotice> notices_;
  std::array<step::TemplateSequenceItem, 1> item_;
};

/// Simulates one template alone, with a new `IsolatedStageSimulator`. `times` has an entry for each
/// operator.
IsolatedStageSeconds simulate_template_alone(const step::OperatorTemplate& piece,
                                             std::span<const cost::OperatorTime> times,
                                             const cost::OverlapSlowdownFactors& contention);

}  // namespace stepwright::simulate
