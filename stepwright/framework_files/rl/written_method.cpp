#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/rl/methods.h"

namespace stepwright::framework_files {

std::int64_t answers_per_prompt(std::int64_t sequences) {
  constexpr std::int64_t kMostAnswers = 16;
  for (std::int64_t count = kMostAnswers; count > 1; --count) {
    if (sequences % count == 0) return count;
  }
  fail_unsupported(
      fmt::format("{} sequences of an update, which no group of 2 to {} answers divides: the "
                  "program learns from "
                  "groups of equal size",
                  sequences, kMostAnswers));
}

std::int64_t largest_prompt_tokens(const plan::Job& job) {
  const double said = job.method.rollout ? job.method.rollout->prompt : 0;
  const double tokens = said > 0 ? std::round(said) : static_cast<double>(job.length) / 4;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(tokens), 1,
                                  std::max<std::int64_t>(1, job.length - 1));
}

}  // namespace stepwright::framework_files
