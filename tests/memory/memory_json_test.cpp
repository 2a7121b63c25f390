#include "stepwright/memory/memory_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace stepwright::memory {
namespace {

MemoryReport report_of_two_stages() {
  MemoryReport report;
  report.stages.resize(2);
  report.stages[0] = {.peak_bytes = 36, .kinds = {1, 2, 3, 4, 5, 6, 7, 8}};
  report.stages[1] = {.peak_bytes = 20, .kinds = {0, 0, 20, 0, 0, 0, 0, 0}};
  report.peak_bytes = 36;
  report.capacity_bytes = 40;
  return report;
}

TEST(MemoryJson, HasTheDocumentedKeys) {
  EXPECT_EQ(
      memory_json(report_of_two_stages()).dump(),
      R"({"peak_memory_bytes":36,"stages":[{"stage":0,"peak_memory_bytes":36,"kinds":{"parameters":1,)"
      R"("gradients":2,"optimizer":3,"activations":4,"logits":5,"gathered_parameters":6,)"
      R"("communication_buffers":7,"framework_reserve":8}},{"stage":1,"peak_memory_bytes":20,)"
      R"("kinds":{"parameters":0,"gradients":0,"optimizer":20,"activations":0,"logits":0,)"
      R"("gathered_parameters":0,"communication_buffers":0,"framework_reserve":0}}],)"
      R"("fits":true,"verdict":"fits","p_fits":1.0,"capacity_bytes":40,"reserve_bytes":0})");
}

TEST(MemoryJson, HasWhatTheAllocatorCountsWhereItIsGiven) {
  const PyTorchAllocatedMemory allocated[] = {{.after_step_bytes = 11, .peak_bytes = 30}, {}};
  const nlohmann::ordered_json stage =
      memory_json(report_of_two_stages(), allocated)["stages"].front();
  EXPECT_EQ(stage["allocated_after_step_bytes"], 11);
  EXPECT_EQ(stage["allocated_peak_bytes"], 30);
}

TEST(MemoryJson, SaysByHowMuchItDoesNotFitAndWhatIsLargest) {
  MemoryReport report = report_of_two_stages();
  report.capacity_bytes = 30;
  const nlohmann::ordered_json found = memory_json(report);
  EXPECT_FALSE(found["fits"]);
  EXPECT_EQ(found["verdict"], "does_not_fit");
  EXPECT_EQ(found["largest_kind"], "framework_reserve");
  EXPECT_EQ(found["over_by_bytes"], 6);
}

}  // namespace
}  // namespace stepwright::memory
