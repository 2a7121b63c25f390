// Diagnoses of a run that are compared with its plan.
#include "stepwright/answers/planned_diagnosis.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "stepwright/answers/diagnosis_answer.h"
#include "stepwright/core/csv.h"
#include "stepwright/core/error.h"
#include "stepwright/learn/run_table.h"

namespace stepwright::answers {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr double kMiB = 1024.0 * 1024;

/// Eight stages of 16 devices (tp 8, data 2); 512 micro-batches a data rank.
constexpr std::string_view kPlan = R"(stepwright: plan/1
job:
  model: llama-3-70b
  cluster: {profile: dgx-h100, nodes: 8}
  batch: {sequences: 512, length: 8192}
parallel: {tensor: 8, pipeline: 4, data: 2}
sequence_parallel: true
micro_batch: 1
schedule: {kind: interleaved, chunks: 5}
sharding: zero1
recompute: selective
)";

UserFile text(std::string name, std::string_view content) {
  return {.name = std::move(name), .text = std::string(content), .folder = {}};
}

std::string steps(double time_s) {
  std::string log;
  for (int i = 1; i <= 30; ++i) {
    log +=
        fmt::format(" iteration {}/ 99 | elapsed time per iteration (ms): {:.1f} | lm loss: 2.0\n",
                    i, time_s * 1e3);
  }
  return log;
}

TEST(PredictionAndMeasurements, SegmentsAreThoseOfPyTorch) {
  EXPECT_EQ(allocator_segment_bytes(512), 2 * kMiB);
  EXPECT_EQ(allocator_segment_bytes(kMiB), 20 * kMiB);
  EXPECT_EQ(allocator_segment_bytes(10 * kMiB), 10 * kMiB);
  EXPECT_EQ(allocator_segment_bytes(11 * kMiB), 12 * kMiB);
}

TEST(PredictionAndMeasurements, ASlowStepIsAFindingAndAUsualOneANote) {
  const JobDiagnosisAnswer usual =
      diagnose_job_files({text("plan.yaml", kPlan), text("train.log", steps(75))});
  ASSERT_TRUE(usual.planned);
  EXPECT_TRUE(usual.diagnosis.findings.empty());
  EXPECT_THAT(usual.diagnosis.notes, Contains(HasSubstr("of the predicted rate")));
  const JobDiagnosisAnswer slow =
      diagnose_job_files({text("plan.yaml", kPlan), text("train.log", steps(300))});
  ASSERT_EQ(slow.diagnosis.findings.size(), 1u);
  const diagnose::FaultFinding& finding = slow.diagnosis.findings.front();
  EXPECT_EQ(finding.kind, diagnose::DiagnosedFaultKind::kStepTime);
  EXPECT_NEAR(finding.lost_s.value(), 300 - slow.planned->prediction.step_time_s(), 1e-9);
  EXPECT_THAT(finding.evidence, Contains(HasSubstr("256 micro-batches")));
}

TEST(PredictionAndMeasurements, ADeviceWithoutMemoryHasAStageAndRemedies) {
  const JobDiagnosisAnswer answer = diagnose_job_files(
      {text("plan.yaml", kPlan),
       text(
           "job.log",
           "[rank40]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 448.00 MiB. "
           "GPU "
           "0 has a total capacity of 79.25 GiB of which 0.25 GiB is free. Including non-PyTorch "
           "memory, this process has 79.00 GiB memory in use. Of the allocated memory 75.00 GiB is "
           "allocated by PyTorch, and 0.10 GiB is reserved by PyTorch but unallocated.\n")});
  ASSERT_TRUE(answer.planned);
  ASSERT_FALSE(answer.diagnosis.findings.empty());
  const diagnose::FaultFinding& finding = answer.diagnosis.findings.front();
  EXPECT_THAT(finding.evidence.front(), HasSubstr("Rank 40 is of stage 2 of 4"));
  EXPECT_FALSE(answer.planned->remedies.empty());
  EXPECT_THAT(finding.changes.front(), HasSubstr("predicted: a step of"));
}

TEST(PredictionAndMeasurements, RefusesTwoPlansAndAPlanAlone) {
  EXPECT_THROW(diagnose_job_files({text("plan.yaml", kPlan)}), Error);
  EXPECT_THROW(diagnose_job_files(
                   {text("a.yaml", kPlan), text("b.yaml", kPlan), text("job.log", "step 1\n")}),
               Error);
  EXPECT_THROW(
      diagnose_job_files({text("plan.yaml", kPlan), text("job.log", "step 1\n")}, "dgx-h100"),
      Error);
}

/// Output of nccl-tests for an all-reduce of 1 GiB over two nodes in 0.65 s: 3.1 GB/s.
std::string all_reduce_perf() {
  std::string log;
  for (int rank = 0; rank < 16; ++rank)
    log += fmt::format("#  Rank {} Group 0 Pid 7 on n{} device {} [0x1b] H100\n", rank, rank / 8,
                       rank % 8);
  return log +
         "./all_reduce_perf\n# size count type redop root time algbw busbw\n"
         " 1073741824 268435456 float sum -1 650000.0 1.65 3.10 0\n";
}

TEST(PredictionAndMeasurements, SlowMessagesAreFoundWhereTheClusterIsKnown) {
  const UserFile perf = text("perf.txt", all_reduce_perf());
  EXPECT_THAT(diagnose_job_files({perf}).diagnosis.notes, Contains(HasSubstr("--cluster")));
  const UserFile job = text("job.yaml",
                            "stepwright: job/2\nmodel: llama-3-8b\ncluster: {profile: dgx-h100, "
                            "nodes: 2}\nbatch: {sequences: 16, length: 8192}\n");
  for (const auto& [files, cluster] :
       {std::pair<std::vector<UserFile>, std::string>{{text("plan.yaml", kPlan), perf}, ""},
        {{job, perf}, ""},
        {{perf}, "dgx-h100:2"}}) {
    const JobDiagnosisAnswer answer = diagnose_job_files(files, cluster);
    ASSERT_EQ(answer.diagnosis.findings.size(), 1u) << cluster;
    EXPECT_EQ(answer.diagnosis.findings.front().kind, diagnose::DiagnosedFaultKind::kSlowLink);
  }
}

/// The row that a diagnosis writes is read back as a run of the same job with the same plan.
TEST(PredictionAndMeasurements, TheRowOfARunIsReadAgain) {
  const JobDiagnosisAnswer answer =
      diagnose_job_files({text("plan.yaml", kPlan), text("train.log", steps(75))});
  const plan::PlannedJob& planned = answer.planned->prediction.planned;
  const std::string first = measured_run_row(answer, "", "runs.csv");
  const std::string both = first + measured_run_row(answer, first, "runs.csv");
  const learn::MeasuredRunTable runs =
      learn::read_measured_runs(parse_csv(both, "runs.csv"), &planned.job);
  ASSERT_EQ(runs.runs.size(), 2u) << both;
  EXPECT_EQ(runs.runs[0].outcome, learn::MeasuredRunOutcome::kOk);
  EXPECT_NEAR(runs.runs[1].seconds, 75, 1e-9);
  EXPECT_EQ(runs.plans[0].plan, planned.plan);
  EXPECT_EQ(runs.plans[0].job.model, planned.job.model);
  // `fit --runs` reads it without a job.
  EXPECT_EQ(learn::read_measured_runs(parse_csv(first, "runs.csv"), nullptr).runs.size(), 1u);
}

TEST(PredictionAndMeasurements, ARunWithoutMemoryHasNoTime) {
  const JobDiagnosisAnswer answer = diagnose_job_files(
      {text("plan.yaml", kPlan),
       text("job.log", steps(75) + "CUDA out of memory. Tried to allocate 2.00 GiB.\n")});
  EXPECT_THAT(measured_run_row(answer, "", "runs.csv"), HasSubstr(",oom,,"));
}

TEST(PredictionAndMeasurements, RowsNeedAPlanAStepAndTheColumns) {
  const JobDiagnosisAnswer planless = diagnose_job_files({text("train.log", steps(75))});
  EXPECT_THROW(measured_run_row(planless, "", "runs.csv"), Error);
  const JobDiagnosisAnswer stepless =
      diagnose_job_files({text("plan.yaml", kPlan), text("job.log", "hello\n")});
  EXPECT_THROW(measured_run_row(stepless, "", "runs.csv"), Error);
  const JobDiagnosisAnswer good =
      diagnose_job_files({text("plan.yaml", kPlan), text("train.log", steps(75))});
  EXPECT_THROW(measured_run_row(good, "id,tp\n", "runs.csv"), Error);
}

}  // namespace
}  // namespace stepwright::answers
