// Lines that tell how long a step waited for its data.
#include "stepwright/diagnose/data_load_time.h"

#include <gmock/gmock.h>

#include "stepwright/diagnose/diagnose.h"

namespace stepwright::diagnose {
namespace {

using ::testing::HasSubstr;

TEST(StepDataLoadTime, ReadsTheLinesOfEachProgram) {
  struct Line {
    std::string_view text;
    double step_s;
    double data_s;
  };
  const Line lines[] = {
      {"Epoch: [0][10/5005]\tTime 22.424 (7.498)\tData 22.372 (7.070)\tLoss 6.9 (6.9)", 22.424,
       22.372},
      {"10/30 22:18:02 - mmengine - INFO - Epoch(train) [1][200/735]  lr: 1.9870e-04  eta: 2:46:39 "
       " time: 2.8906  data_time: 0.0042  memory: 10762  loss: 2.7522",
       2.8906, 0.0042},
      {"Epoch: [0]  [10/99]  eta: 0:01:02  loss: 6.9 (6.9)  time: 0.2506  data: 0.0010  max mem: 1",
       0.2506, 0.001}};
  for (const Line& line : lines) {
    const auto time = parse_data_load_time(line.text);
    ASSERT_TRUE(time) << line.text;
    EXPECT_DOUBLE_EQ(time->step_s, line.step_s);
    EXPECT_DOUBLE_EQ(time->data_s, line.data_s);
  }
  EXPECT_FALSE(parse_data_load_time("Time 3 passed; Data is loaded"));
  EXPECT_FALSE(parse_data_load_time(" time: 1.0 data: 2.0"));
}

TEST(StepDataLoadTime, LateDataIsAFindingAndAnUsualShareIsNone) {
  const std::vector<StepDataLoadTime> late = {{1, 1.0, 0.5}, {2, 1.0, 0.1}, {3, 2.0, 0.6}};
  const std::vector<FaultFinding> findings = slow_input_data_findings(late, "job.log");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, DiagnosedFaultKind::kLateData);
  EXPECT_NEAR(findings[0].lost_s.value(), 0.4, 1e-12);  // 1.2 of 4.0 s
  EXPECT_THAT(findings[0].what, HasSubstr("400 ms of 1.33 s"));
  EXPECT_TRUE(
      slow_input_data_findings({{1, 1.0, 0.1}, {2, 1.0, 0.1}, {3, 2.0, 0.1}}, "job.log").empty());
  EXPECT_TRUE(slow_input_data_findings({{1, 1.0, 0.9}}, "job.log").empty());
}

}  // namespace
}  // namespace stepwright::diagnose
