#pragma once

#include <array>
#include <string>
#include <string_view>

#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright {

/// One term of a breakdown and what people call it.
struct Term {
  std::string_view name;
  double seconds = 0;
};
inline constexpr int kTerms = 8;

/// The terms in the order in which they are shown.
std::array<Term, kTerms> terms(const Breakdown& breakdown);

/// A table of term, time and share of the step, computation by kind too; terms of zero are left
/// out.
std::string breakdown_text(const Breakdown& breakdown);

/// A table of both and the difference, term by term and in all.
std::string difference_text(const Breakdown& before, const Breakdown& after);

}  // namespace stepwright
