#include "stepwright/memory/fit_verdict.h"

#include <gtest/gtest.h>

#include "stepwright/memory/memory.h"

namespace stepwright::memory {
namespace {

TEST(MemoryFitVerdict, IsTightBetweenTheConfidenceAndItsOtherEnd) {
  EXPECT_EQ(memory_fit_verdict(0.9, 0.9), MemoryFitVerdict::kFits);
  EXPECT_EQ(memory_fit_verdict(0.83, 0.9), MemoryFitVerdict::kTight);
  EXPECT_EQ(memory_fit_verdict(0.11, 0.9), MemoryFitVerdict::kTight);
  EXPECT_EQ(memory_fit_verdict(0.09, 0.9), MemoryFitVerdict::kDoesNotFit);
}

TEST(MemoryFitVerdict, MovesWithTheConfidence) {
  EXPECT_EQ(memory_fit_verdict(0.83, 0.75), MemoryFitVerdict::kFits);
  EXPECT_EQ(memory_fit_verdict(0.09, 0.98), MemoryFitVerdict::kTight);
  EXPECT_EQ(memory_fit_verdict(0.3, 0.75), MemoryFitVerdict::kTight);
  EXPECT_EQ(memory_fit_verdict(0.2, 0.75), MemoryFitVerdict::kDoesNotFit);
}

TEST(MemoryFitVerdict, HasNoMiddleAtAHalfAndBelow) {
  for (const double confidence : {0.5, 0.3, 0.1}) {
    EXPECT_EQ(memory_fit_verdict(confidence, confidence), MemoryFitVerdict::kFits) << confidence;
    EXPECT_EQ(memory_fit_verdict(confidence - 0.01, confidence), MemoryFitVerdict::kDoesNotFit)
        << confidence;
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

TEST(MemoryFitVerdict, OfAReportAgreesWithWhetherItFits) {
  EXPECT_EQ(report(90, 0.9).memory_fit_verdict_of_job(), MemoryFitVerdict::kFits);
  EXPECT_EQ(report(91, 0.9).memory_fit_verdict_of_job(), MemoryFitVerdict::kTight)
      << "the last byte decides";
  EXPECT_EQ(report(110, 0.05).memory_fit_verdict_of_job(), MemoryFitVerdict::kDoesNotFit);
}

TEST(MemoryFitVerdict, OfAStatedLimitHasNoMiddle) {
  MemoryReport stated = report(91, 0.8);
  stated.confidence = 0;
  EXPECT_EQ(stated.memory_fit_verdict_of_job(), MemoryFitVerdict::kDoesNotFit);
}

TEST(MemoryFitVerdict, OfAHostWithoutRoomDoesNotFit) {
  MemoryReport full = report(50, 0.99);
  full.host_bytes = 11;
  full.host_capacity_bytes = 10;
  EXPECT_EQ(full.memory_fit_verdict_of_job(), MemoryFitVerdict::kDoesNotFit);
  full.host_capacity_bytes = 0;
  EXPECT_EQ(full.memory_fit_verdict_of_job(), MemoryFitVerdict::kFits)
      << "what nobody knows forbids nothing";
}

}  // namespace
}  // namespace stepwright::memory
