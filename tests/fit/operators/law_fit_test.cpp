#include "stepwright/fit/operators/law_fit.h"

#include <gtest/gtest.h>

#include "stepwright/core/error.h"

namespace stepwright::fit {
namespace {

constexpr cost::DevicePeakRates kPeaks{312e12, 2e12};

std::vector<OperatorLawFitRow> products(const cost::OperatorTimeLawConstants& law) {
  std::vector<OperatorLawFitRow> rows;
  for (std::int64_t m = 512; m <= 32768; m *= 2) {
    for (std::int64_t n = 512; n <= 16384; n = n * 3 / 2 / 64 * 64) {
      for (std::int64_t k = 256; k <= 8192; k *= 2) {
        const step::Operator op{.kind = step::OperatorKind::kLinear,
                                .shape = {.rows = m, .columns = n, .inner = k}};
        OperatorLawFitRow row{
            .work = cost::operator_pass_work_for_law(cost::OperatorClass::kProduct,
                                                     cost::OperatorPass::kForward, op, 108)};
        row.seconds = cost::fitted_law_seconds(law, row.work, kPeaks)[0];
        rows.push_back(row);
      }
    }
  }
  return rows;
}

TEST(LawFit, FindsTheConstantsThatMadeTheRows) {
  const cost::OperatorTimeLawConstants law{.start_us = 9,
                                           .arithmetic_share = 0.83,
                                           .wave_weight = 0.7,
                                           .ramp = 120,
                                           .memory_share = 0.65};
  const cost::OperatorTimeLawConstants found =
      fit_operator_law(cost::OperatorClass::kProduct, products(law), kPeaks);
  EXPECT_NEAR(found.start_us, 9, 0.2);
  EXPECT_NEAR(found.arithmetic_share, 0.83, 0.005);
  EXPECT_NEAR(found.wave_weight, 0.7, 0.02);
  EXPECT_NEAR(found.ramp, 120, 3);
  EXPECT_NEAR(found.memory_share, 0.65, 0.01);
}

TEST(LawFit, AFewWildRowsDoNotMoveIt) {
  const cost::OperatorTimeLawConstants law{.start_us = 9,
                                           .arithmetic_share = 0.83,
                                           .wave_weight = 0.7,
                                           .ramp = 120,
                                           .memory_share = 0.65};
  std::vector<OperatorLawFitRow> rows = products(law);
  for (std::size_t i = 0; i < rows.size(); i += 20) rows[i].seconds *= 3;
  EXPECT_NEAR(fit_operator_law(cost::OperatorClass::kProduct, rows, kPeaks).arithmetic_share, 0.83,
              0.02);
}

TEST(LawFit, RefusesAHandfulOfRows) {
  const std::vector<OperatorLawFitRow> rows(7);
  EXPECT_THROW((void)fit_operator_law(cost::OperatorClass::kProduct, rows, kPeaks), Error);
}

}  // namespace
}  // namespace stepwright::fit
