#pragma once

#include <array>
#include <span>
#include <vector>

#include "stepwright/simulate/timeline/compile.h"
#include "stepwright/simulate/timeline/player.h"

namespace stepwright::simulate {

/// The seconds of a template or sequence when one stage runs nothing else.
struct Alone {
  double duration_s = 0;     ///< Until everything has ended.
  double compute_end_s = 0;  ///< Until the compute stream has ended; messages may go on.
  double compute_s = 0;      ///< Priced seconds of computation.
  /// Exposed seconds by Scheme, and what computation loses beside messages.
  std::array<double, kSchemes> exposed_s{};
  std::array<double, cost::kLinkClasses> link_busy_s{};  ///< Seconds in which the class carries
                                                         ///< something (even sharing wastes
                                                         ///< nothing: the sum of its messages).
};

/// Plays pieces of a step on one stage by the rules of `simulate`: receives end at once, sends go
/// nowhere, collectives over several stages wait for nobody. Keeps its memory between runs; one
/// object per thread.
class AloneRunner {
 public:
  /// One template. `times` holds an entry for each operator.
  Alone run(const step::Template& piece, std::span<const cost::OperatorTime> times,
            const cost::Contention& contention);
  /// A sequence of a program's templates, priced as in `play`.
  Alone run(const step::StepProgram& program, const step::Sequence& sequence, const Prices& prices,
            const cost::Contention& contention);

 private:
  Alone play(const cost::Contention& contention);

  Compiler compiler_{{.merge = true, .meetings = false, .arrivals = false}};
  std::vector<Notice> notices_;
  std::array<step::Item, 1> item_;
};

/// Runs a single template alone.
Alone run_alone(const step::Template& piece, std::span<const cost::OperatorTime> times,
                const cost::Contention& contention);

}  // namespace stepwright::simulate
