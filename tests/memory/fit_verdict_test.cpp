#include "stepwright/memory/fit_verdict.h"

#include <gtest/gtest.h>

#include "stepwright/memory/memory.h"

namespace stepwright::memory {
namespace {

TEST(FitVerdict, IsTightBetweenTheConfidenceAndItsOtherEnd) {
  EXPECT_EQ(fit_verdict(0.9, 0.9), FitVerdict::kFits);
  EXPECT_EQ(fit_verdict(0.83, 0.9), FitVerdict::kTight);
  EXPECT_EQ(fit_verdict(0.11, 0.9), FitVerdict::kTight);
  EXPECT_EQ(fit_verdict(0.09, 0.9), FitVerdict::kDoesNotFit);
}

TEST(FitVerdict, MovesWithTheConfidence) {
  EXPECT_EQ(fit_verdict(0.83, 0.75), FitVerdict::kFits);
  EXPECT_EQ(fit_verdict(0.09, 0.98), FitVerdict::kTight);
  EXPECT_EQ(fit_verdict(0.3, 0.75), FitVerdict::kTight);
  EXPECT_EQ(fit_verdict(0.2, 0.75), FitVerdict::kDoesNotFit);
}

TEST(FitVerdict, HasNoMiddleAtAHalfAndBelow) {
  for (const double confidence : {0.5, 0.3, 0.1}) {
    EXPECT_EQ(fit_verdict(confidence, confidence), FitVerdict::kFits) << confidence;
    EXPECT_EQ(fit_verdict(confidence - 0.01, confidence), FitVerdict::kDoesNotFit) << confidence;
  }
}

MemoryReport report(double peak_bytes, double p_fits) {
  MemoryReport report;
  report.peak_bytes = peak_bytes;
  report.capacity_bytes = 100;
  report.reserve_bytes = 10;
  report.confidence = 0.9;
  report.p_fits = p_fits;
  return report;
}

TEST(FitVerdict, OfAReportAgreesWithWhetherItFits) {
  EXPECT_EQ(report(90, 0.9).verdict(), FitVerdict::kFits);
  EXPECT_EQ(report(91, 0.9).verdict(), FitVerdict::kTight) << "the last byte decides";
  EXPECT_EQ(report(110, 0.05).verdict(), FitVerdict::kDoesNotFit);
}

TEST(FitVerdict, OfAStatedLimitHasNoMiddle) {
  MemoryReport stated = report(91, 0.8);
  stated.confidence = 0;
  EXPECT_EQ(stated.verdict(), FitVerdict::kDoesNotFit);
}

TEST(FitVerdict, OfAHostWithoutRoomDoesNotFit) {
  MemoryReport full = report(50, 0.99);
  full.host_bytes = 11;
  full.host_capacity_bytes = 10;
  EXPECT_EQ(full.verdict(), FitVerdict::kDoesNotFit);
  full.host_capacity_bytes = 0;
  EXPECT_EQ(full.verdict(), FitVerdict::kFits) << "what nobody knows forbids nothing";
}

}  // namespace
}  // namespace stepwright::memory
