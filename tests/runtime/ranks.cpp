#include "tests/runtime/ranks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>

namespace stepwright::testing {

std::ostream& operator<<(std::ostream& out, const RankCase& one) { return out << one.name; }

std::vector<std::string> sharding_strategies() {
  return {"NNN", "NNI", "NNG", "NII", "NIG", "NGG", "INI",
          "ING", "III", "IIG", "IGG", "GNG", "GIG", "GGG"};
}

void expect_same(const Trained& alone, const Trained& together) {
  ASSERT_EQ(alone.exit_code, 0) << alone.errors;
  ASSERT_EQ(together.exit_code, 0) << together.errors;
  ASSERT_EQ(alone.losses.size(), together.losses.size());
  for (std::size_t i = 0; i < alone.losses.size(); ++i) {
    EXPECT_NEAR(alone.losses[i], together.losses[i], kBound * (1 + alone.losses[i]));
    EXPECT_NEAR(alone.norms[i], together.norms[i], kBound * (1 + alone.norms[i]));
  }
  EXPECT_LE(distance(alone.gradients, together.gradients), kBound);
  EXPECT_LE(distance(alone.weights, together.weights), kBound);
  EXPECT_EQ(all_zero(together.gradients), all_zero(alone.gradients));  // of frozen ones
  EXPECT_NE(together.comparison.find("; the run differs in 0."), std::string::npos)
      << together.comparison;
}

void expect_what_one_process_learns(const RankCase& one) {
  static std::map<std::string, Trained> remembered;
  const std::string job = fmt::format("  optimizer: {}\n{}", one.optimizer, one.job);
  const std::string text = plan_text_of({.model = one.model, .job = job, .batch = one.batch});
  const auto [alone, fresh] = remembered.try_emplace(text);
  if (fresh) alone->second = train({.plan = text});
  expect_same(alone->second, train({.plan = plan_text_of({.model = one.model,
                                                          .job = job,
                                                          .choices = one.choices,
                                                          .ranks = one.ranks,
                                                          .batch = one.batch})}));
}

}  // namespace stepwright::testing
