#pragma once

#include <array>
#include <span>
#include <vector>

#include "stepwright/simulate/timeline/compile.h"
#include "stepwright/simulate/timeline/player.h"

namespace stepwright::simulate {

/// The seconds of a template or sequence when one stage runs nothing else.
struct IsolatedSeconds {
  double duration_s = 0;  ///< Seconds until all operators have ended.
  /// Seconds until the compute stream has ended; messages may still run.
  double compute_end_s = 0;
  double compute_s = 0;  ///< Priced seconds of computation.
  /// Exposed seconds by Scheme, including the time that computation loses beside messages.
  std::array<double, kSchemes> exposed_s{};
  /// Seconds in which a link class carries something (even sharing wastes nothing, so this is the
  /// sum of its messages).
  std::array<double, cost::kLinkClasses> link_busy_s{};
};

/// Simulates pieces of a step on one stage by the rules of `simulate`: receives end at once, sends
/// reach no stage, collectives over several stages do not wait. Reuses its memory between runs; use
/// one object per thread.
class AloneRunner {
 public:
  /// Runs one template. `times` has an entry for each operator.
  IsolatedSeconds run(const step::Template& piece, std::span<const cost::OperatorTime> times,
                      const cost::Contention& contention);
  /// Runs a sequence of a program's templates, priced as for `play`.
  IsolatedSeconds run(const step::StepProgram& program, const step::Sequence& sequence,
                      const Prices& prices, const cost::Contention& contention);

 private:
  IsolatedSeconds play(const cost::Contention& contention);

  Compiler compiler_{{.merge = true, .meetings = false, .arrivals = false}};
  std::vector<StageNotice> notices_;
  std::array<step::Item, 1> item_;
};

/// Runs a single template alone.
IsolatedSeconds run_alone(const step::Template& piece, std::span<const cost::OperatorTime> times,
                          const cost::Contention& contention);

}  // namespace stepwright::simulate
