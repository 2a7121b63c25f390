#include "stepwright/learn/learnable_constants.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stepwright/cluster/catalog.h"

namespace stepwright::learn {
namespace {

template <class Conditions, std::size_t kCount>
void expect_within(const LearnableConstant& constant,
                   const cost::ConditionField<Conditions> (&fields)[kCount]) {
  for (const cost::ConditionField<Conditions>& field : fields) {
    if (field.key != constant.key) continue;
    EXPECT_GE(constant.value, field.low) << constant.key;
    EXPECT_LE(constant.value, field.high) << constant.key;
  }
}

/// Rounding moves the logarithms of 0.1 and 1e6 outside of the limits.
TEST(LearnableConstants, KeepsRoundedLogarithmsWithinTheLimitsOfFiles) {
  plan::Job job;
  job.cluster.device = cluster::built_in_device("a100-sxm-80g");
  job.framework.name = "megatron-lm";
  const plan::Job* const jobs[] = {&job};
  const LearnableConstants learnable(cost::built_in_training_conditions(), jobs);
  ASSERT_GT(learnable.size(), 0);
  for (Eigen::Index i = 0; i < learnable.size(); ++i) {
    for (const double end : {learnable.prior().least[i], learnable.prior().most[i]}) {
      for (const double rounded : {std::floor(1e3 * end) / 1e3, std::ceil(1e3 * end) / 1e3}) {
        const LearnableConstant constant = learnable.constant_with_logarithm(i, rounded);
        if (learnable.of_device(i)) {
          expect_within(constant, cost::kDeviceFields);
        } else {
          expect_within(constant, cost::kFrameworkFields);
        }
      }
    }
  }
}

}  // namespace
}  // namespace stepwright::learn
