#include "stepwright/cost/laws/expert_exchange.h"

#include <gtest/gtest.h>

namespace stepwright::cost {
namespace {

constexpr double kNvlink = 450e9;

// 1,024 rows of 2,048 bytes that meet 5 of 8 ranks, 4 multiprocessors: 2.097e6 bytes of its own
// take 2.097 * (5 * 20.1 + 77.4) = 373.1 us, rows 1.024 * 5 * 128 = 655.4 us, by four 257.1 us;
// links 2.097e6 * 5 * 7/8 / 325.8e9 = 28.2 us, which vanish beside them.
TEST(DeepEpExchange, ADispatchIsBoundByItsMultiprocessors) {
  const double seconds = deepep_exchange_s(
      {.tokens = 1024, .width = 2048, .bytes = 1, .ranks = 8, .met_ranks = 5, .multiprocessors = 4},
      kNvlink);
  EXPECT_NEAR(seconds, 290.1e-6, 0.2e-6);
}

// 65,536 rows of 7,168 elements: 939.5e6 bytes * 5 * 7/8 / (.7 * 450e9) = 13.05 ms of links.
TEST(DeepEpExchange, ManyMultiprocessorsAreBoundByLinks) {
  DeepEpExchange exchange{.combines = true,
                          .tokens = 65536,
                          .width = 7168,
                          .bytes = 2,
                          .ranks = 8,
                          .met_ranks = 5,
                          .multiprocessors = 1000};
  EXPECT_NEAR(deepep_exchange_s(exchange, kNvlink), 13.05e-3 + 53e-6, 0.02e-3);
  exchange.met_ranks = 1;
  EXPECT_LT(deepep_exchange_s(exchange, kNvlink), 3e-3);
}

}  // namespace
}  // namespace stepwright::cost
