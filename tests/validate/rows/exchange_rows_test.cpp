#include "stepwright/validate/rows/exchange_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "stepwright/validate/validation.h"

namespace stepwright::validate {
namespace {

using ::testing::Contains;
using ::testing::Key;

Validation exchanges(const std::string& rows) {
  return compare_predictions_to_measurements(
      parse_csv(
          "id,gpu,nodes,gpus,gpus_per_node,library,collective,size_bytes,time_us,extra\n" + rows,
          "exchanges.csv"),
      {});
}

TEST(ExchangeRows, ADispatchIsPredictedByTheLawOfItsKernel) {
  const Validation v = exchanges(
      "a-1,H100-SXM-80GB,1,8,8,DeepEP,moe_dispatch,,304.6,"
      "tokens_per_rank=1024;hidden=2048;topk=8;experts=128;sms=4\n");
  ASSERT_EQ(v.results.size(), 1U);
  EXPECT_DOUBLE_EQ(v.results[0].measured, 304.6e-6);
  EXPECT_NEAR(v.results[0].error, 0, 0.03);
  EXPECT_EQ(v.results[0].groups.back(), "from 1e6 B");
}

TEST(ExchangeRows, RowsThatSayTooLittleAreSkipped) {
  const Validation v = exchanges(
      "a-1,H100-SXM-80GB,1,8,8,DeepEP,moe_combine,,300,tokens_per_rank=1024;hidden=2048;topk=8\n"
      "a-2,H100-SXM-80GB,2,16,8,DeepEP,moe_combine,,300,"
      "tokens_per_rank=1024;hidden=2048;topk=8;experts=128;sms=4\n"
      "a-3,H100-SXM-80GB,1,8,8,DeepEP,moe_combine,,nan,"
      "tokens_per_rank=1024;hidden=2048;topk=8;experts=128;sms=4\n");
  EXPECT_EQ(v.used, 0U);
  EXPECT_THAT(v.skipped, Contains(Key("the exchange says no experts in `extra`")));
  EXPECT_THAT(v.skipped, Contains(Key("an exchange over several nodes")));
  EXPECT_THAT(v.skipped, Contains(Key("no measurement")));
}

// The 2,738 measured exchanges have the mean error that docs/models.md states.
TEST(ExchangeRows, AllMeasuredExchangesAreFourPercentOff) {
  const Validation v =
      compare_predictions_to_measurements(load_csv("data/collectives/expert_exchange.csv"), {});
  EXPECT_EQ(v.used, 2738U);
  EXPECT_LT(v.errors.mean_abs, 0.045);
}

}  // namespace
}  // namespace stepwright::validate
