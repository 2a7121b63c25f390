#include "stepwright/validate/label_conflict.h"

#include <gtest/gtest.h>

#include "tests/validate/rows/table_rows.h"

namespace stepwright {
namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// Pairs of two labels of the small row, the first OOM, the second changed and fitting.
Pairs conflicts(void (*change)(RunRow& row), double capacity_bytes = 80e9) {
  const RunRow oom = small_row();
  RunRow fits = oom;
  fits.id = "hand-0002";
  change(fits);
  const std::vector<Label> labels = {{&oom, false, 80e9}, {&fits, true, capacity_bytes}};
  return label_conflicts(labels);
}

const Pairs kOne = {{0, 1}};

TEST(LabelConflict, OneConfigurationWithBothLabels) {
  EXPECT_EQ(conflicts([](RunRow&) {}), kOne);
}

TEST(LabelConflict, TheOneThatFitsNeedsMore) {
  EXPECT_EQ(conflicts([](RunRow& row) { row.micro_batch = 4; }), kOne);
  EXPECT_EQ(conflicts([](RunRow& row) { row.recompute = "none"; }), kOne);
  EXPECT_EQ(conflicts([](RunRow& row) { row.gpu = "A100-SXM-40GB"; }, 40e9), kOne);
}

TEST(LabelConflict, TheCapacityInTheNameOfADeviceTellsNoConfigurations) {
  const auto named = [](const char* oom, const char* fits) {
    RunRow one = small_row(), other = small_row();
    one.gpu = oom;
    other.gpu = fits;
    const std::vector<Label> labels = {{&one, false, 80e9}, {&other, true, 80e9}};
    return label_conflicts(labels);
  };
  EXPECT_EQ(named("A100-SXM-80GB", "A100-SXM"), kOne);
  EXPECT_EQ(named("A100-SXM 80g", "A100-SXM_40 gB"), kOne);
  EXPECT_EQ(named("H100-80GB", "A100-80GB"), Pairs{});
  EXPECT_EQ(named("A100-80", "A100"), Pairs{});
  EXPECT_EQ(named("GB", "B"), Pairs{});
}

TEST(LabelConflict, TheOneThatFitsMayNeedLess) {
  EXPECT_EQ(conflicts([](RunRow& row) { row.micro_batch = 1; }), Pairs{});
  EXPECT_EQ(conflicts([](RunRow& row) { row.tensor = 1; }), Pairs{});
  EXPECT_EQ(conflicts([](RunRow& row) { row.notes = "another kernel"; }), Pairs{});
  EXPECT_EQ(conflicts([](RunRow&) {}, 141e9), Pairs{});
}

}  // namespace
}  // namespace stepwright
