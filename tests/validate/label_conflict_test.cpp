#include "stepwright/validate/rows/label_conflict.h"

#include <gtest/gtest.h>

#include "stepwright/validate/rows/row_plan.h"
#include "tests/validate/rows/table_rows.h"

namespace stepwright::validate {
namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

MemoryFitLabel label(const PublishedRunRow& row, bool fits, double capacity_bytes) {
  MemoryFitLabel made =
      memory_fit_label(row.id, std::get<TableRowPlan>(job_and_plan_of_row(row)).planned, row.gpu);
  made.fits = fits;
  made.capacity_bytes = capacity_bytes;
  return made;
}

/// Returns conflicts between two labels of the small row: the first OOM, the second changed and
/// fitting.
Pairs conflicts(void (*change)(PublishedRunRow& row), double capacity_bytes = 80e9) {
  PublishedRunRow row = small_row();
  row.gpu = "A100-SXM-80GB";
  const MemoryFitLabel oom = label(row, false, 80e9);
  row.id = "hand-0002";
  change(row);
  const std::vector<MemoryFitLabel> labels = {oom, label(row, true, capacity_bytes)};
  return memory_fit_label_conflicts(labels);
}

const Pairs kOne = {{0, 1}};

TEST(LabelConflict, OneConfigurationWithBothLabels) {
  EXPECT_EQ(conflicts([](PublishedRunRow&) {}), kOne);
}

TEST(LabelConflict, TheOneThatFitsNeedsMore) {
  EXPECT_EQ(conflicts([](PublishedRunRow& row) { row.micro_batch = 4; }), kOne);
  EXPECT_EQ(conflicts([](PublishedRunRow& row) { row.plan = "{sharding: NNN, recompute: none}"; }),
            kOne);
  EXPECT_EQ(conflicts([](PublishedRunRow& row) { row.gpu = "A100-SXM-40GB"; }, 40e9), kOne);
}

TEST(LabelConflict, TheCapacityInTheNameOfADeviceTellsNoConfigurations) {
  const auto named = [](const char* oom, const char* fits) {
    PublishedRunRow one = small_row(), other = small_row();
    one.gpu = oom;
    other.gpu = fits;
    const std::vector<MemoryFitLabel> labels = {label(one, false, 80e9), label(other, true, 80e9)};
    return memory_fit_label_conflicts(labels);
  };
  EXPECT_EQ(named("A100-SXM-80GB", "A100-SXM"), kOne);
  EXPECT_EQ(named("A100-SXM 80g", "A100-SXM_40 gB"), kOne);
  EXPECT_EQ(named("H100-80GB", "A100-80GB"), Pairs{});
  EXPECT_EQ(named("A100-80", "A100"), Pairs{});
  EXPECT_EQ(named("GB", "B"), Pairs{});
}

TEST(LabelConflict, TheOneThatFitsMayNeedLess) {
  EXPECT_EQ(conflicts([](PublishedRunRow& row) { row.micro_batch = 1; }), Pairs{});
  EXPECT_EQ(conflicts([](PublishedRunRow& row) { row.tensor = 1; }), Pairs{});
  EXPECT_EQ(
      conflicts([](PublishedRunRow& row) { row.plan = "{sharding: NNN, recompute: {every: 2}}"; }),
      Pairs{});
  EXPECT_EQ(conflicts([](PublishedRunRow& row) { row.job += "  # another kernel"; }), kOne);
  EXPECT_EQ(conflicts([](PublishedRunRow& row) {
              row.job =
                  "{framework: megatron-lm, precision: fp16, kernels: {attention: flash2}, "
                  "model: {base: gpt3-175b, head_dim: 64}}";
            }),
            Pairs{});
  EXPECT_EQ(conflicts([](PublishedRunRow&) {}, 141e9), Pairs{});
}

}  // namespace
}  // namespace stepwright::validate
