// Lines about training steps, as the programs print them.
#include "stepwright/diagnose/training_log.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "stepwright/diagnose/diagnose.h"

namespace stepwright::diagnose {
namespace {

using ::testing::HasSubstr;

struct Line {
  std::string text;
  LoggedTrainingProgram program;
  std::int64_t number;
  double step_time_s;
  double tokens_per_s;
};

TEST(TrainingLog, ReadsTheLinesOfEachProgram) {
  const Line lines[] = {{" [2026-01-02 03:04:05] iteration      100/    1000 | consumed samples:   "
                         "     25600 | elapsed time per iteration "
                         "(ms): 1234.5 | throughput per GPU (TFLOP/s/GPU): 400.1 | learning rate: "
                         "1.0E-04 | global batch size:   256 | lm loss: 2.3E+00 |",
                         LoggedTrainingProgram::kMegatron, 100, 1.2345, -1},
                        {"[titan] 2026-01-02 03:04:05,678 - root - INFO - \x1b[31mstep: 10  "
                         "\x1b[32mloss:  5.1234  \x1b[38;2;180;60;0mgrad_norm:  1.2  "
                         "\x1b[38;2;54;234;195mmemory: 43.45GiB(45.74%)  \x1b[34mtps: 1,876  "
                         "\x1b[36mtflops: 200.0  \x1b[35mmfu: 20.00%\x1b[39m",
                         LoggedTrainingProgram::kTorchtitan, 10, -1, 1876},
                        {"Training epoch 0, iteration 7/999 | lr: 2e-06 | global_batch_size: 256 | "
                         "global_step: 7 | reduced_train_loss: 9.1 | "
                         "train_step_timing in s: 3.14 | consumed_samples: 2048",
                         LoggedTrainingProgram::kNemo, 7, 3.14, -1},
                        {"steps: 30 loss: 2.3456 iter time (s): 1.25 samples/sec: 204.8",
                         LoggedTrainingProgram::kDeepSpeed, 30, 1.25, -1},
                        {"step:4 - global_seqlen/min:100 - actor/pg_loss:0.1 - timing_s/gen:10.0 - "
                         "timing_s/step:23.5 - perf/throughput:900",
                         LoggedTrainingProgram::kVerl, 4, 23.5, -1},
                        {" 12%|#2        | 120/1000 [02:03<15:00,  1.02s/it]",
                         LoggedTrainingProgram::kProgressBar, 120, 1.02, -1},
                        {"  1%|          | 1/100 [00:01<1:00, 1.9s/it]\r 50%|#####     | 50/100 "
                         "[00:25<00:25, 4.00it/s]",
                         LoggedTrainingProgram::kProgressBar, 50, 0.25, -1}};
  for (const Line& line : lines) {
    const auto step = read_step_line(line.text);
    ASSERT_TRUE(step) << line.text;
    EXPECT_EQ(step->first, line.program) << line.text;
    EXPECT_EQ(step->second.number, line.number) << line.text;
    EXPECT_NEAR(step->second.step_time_s, line.step_time_s, 1e-12) << line.text;
    EXPECT_DOUBLE_EQ(step->second.tokens_per_s, line.tokens_per_s) << line.text;
  }
  EXPECT_FALSE(read_step_line("loss: 3 step: x"));
  EXPECT_FALSE(read_step_line("elapsed time per iteration (ms): nan | iteration 3"));
}

/// Lines of public logs that were not used when the readers were written, each with its address.
TEST(TrainingLog, ReadsLinesOfPublicLogs) {
  struct Public {
    std::string_view source;
    std::string_view text;
    LoggedTrainingProgram program;
    std::int64_t number;
    double step_time_s;
    double tokens_per_s;
    double loss;
  };
  const Public lines[] = {
      {"https://github.com/pytorch/torchtitan/pull/1287",
       "[rank0]:[titan] 2025-06-16 22:31:04,970 - root - INFO - step: 210  loss:  6.0388  memory: "
       "49.66GiB(52.28%)  tps: 5,593  tflops: 323.92  mfu: 32.75%",
       LoggedTrainingProgram::kTorchtitan, 210, -1, 5593, 6.0388},
      {"https://github.com/NVIDIA/Megatron-LM/issues/1570",
       " [2025-05-09 06:22:40] iteration        1/      10 | consumed samples:           32 | "
       "elapsed time per iteration (ms): 21648.3 | throughput per GPU (TFLOP/s/GPU): 17.7 | "
       "learning rate: 3.333333E-05 | global batch size:    32 | lm loss: 1.186509E+01 | "
       "load_balancing_loss: 8.778212E-01 | loss scale: 1.0 | grad norm: 3.759 | num zeros: 0 |",
       LoggedTrainingProgram::kMegatron, 1, 21.6483, -1, 11.86509},
      {"https://github.com/epfLLM/Megatron-LLM/issues/11",
       " iteration      182/  250000 | consumed samples:       186368 | elapsed time per iteration "
       "(ms): 126995.3 | learning rate: 1.365E-05 | global batch size:  1024 | lm loss: "
       "2.382640E+00 | loss scale: 1.0 | grad norm: 0.227 |",
       LoggedTrainingProgram::kMegatron, 182, 126.9953, -1, 2.38264},
      {"https://github.com/EleutherAI/gpt-neox/issues/947",
       " samples/sec: 2.721 | iteration        2/   55000 | elapsed time per iteration (ms): "
       "11761.2 | learning rate: 2.424E-09 | approx flops per GPU: 9.1TFLOPS | lm_loss: "
       "1.105449E+01 | number of skipped iterations:   0 | number of nan iterations:   0 |",
       LoggedTrainingProgram::kMegatron, 2, 11.7612, -1, 11.05449},
      {"https://github.com/InternLM/xtuner/issues/187",
       "10/30 22:18:02 - mmengine - INFO - Epoch(train) [1][200/735]  lr: 1.9870e-04  eta: 2:46:39 "
       " time: 2.8906  data_time: 0.0042  memory: 10762  loss: 2.7522  grad_norm: 3.0608",
       LoggedTrainingProgram::kMmengine, 200, 2.8906, -1, 2.7522}};
  for (const Public& line : lines) {
    const auto step = read_step_line(line.text);
    ASSERT_TRUE(step) << line.source;
    EXPECT_EQ(step->first, line.program) << line.source;
    EXPECT_EQ(step->second.number, line.number) << line.source;
    EXPECT_NEAR(step->second.step_time_s, line.step_time_s, 1e-9) << line.source;
    EXPECT_DOUBLE_EQ(step->second.tokens_per_s, line.tokens_per_s) << line.source;
    const auto loss = read_loss_line(line.text);
    ASSERT_TRUE(loss) << line.source;
    EXPECT_DOUBLE_EQ(loss->loss, line.loss) << line.source;
  }
  // A second epoch continues the count of the first and is no restart.
  EXPECT_EQ(read_step_line("Epoch(train) [2][10/735]  time: 2.9  loss: 2.7")->second.number, 745);
}

/// A norm that is not a number while the loss still is one, as xtuner and LLaMA-Factory printed it.
TEST(TrainingLog, NormsOfPublicLogsThatAreNoNumbers) {
  for (const std::string_view log :
       {"10/30 22:19:28 - mmengine - INFO - Epoch(train) [1][230/735]  time: 2.8833  data_time: "
        "0.0040  loss: 2.7682  grad_norm: 2.5099\n10/30 22:19:57 - mmengine - INFO - Epoch(train) "
        "[1][240/735]  time: 2.8874  data_time: 0.0042  loss: 2.5128  grad_norm: nan\n",
        "{'loss': 4.6758, 'grad_norm': nan, 'learning_rate': 0.0001, 'epoch': 0.05}\n"}) {
    std::vector<logs::FileByteReader> files;
    files.emplace_back(log, "train.log");
    const Diagnosis found = diagnose_files(files);
    ASSERT_EQ(found.findings.size(), 1u) << log;
    EXPECT_EQ(found.findings.front().kind, DiagnosedFaultKind::kLoss);
    EXPECT_THAT(found.findings.front().what, HasSubstr("norm of the gradients is not a number"));
  }
}

/// Returns a log with steps of 2 s; `time_s` gives other times by step number.
std::string megatron_log(std::int64_t steps, const std::function<double(std::int64_t)>& time_s) {
  std::string text;
  for (std::int64_t step = 1; step <= steps; ++step) {
    text += fmt::format(
        " iteration {:8}/ 1000 | elapsed time per iteration (ms): {:.1f} | lm loss: 2.0\n", step,
        time_s(step) * 1e3);
  }
  return text;
}

Diagnosis of_text(const std::string& text) {
  std::vector<logs::FileByteReader> files;
  files.emplace_back(text, "train.log");
  return diagnose_files(files);
}

TEST(TrainingLog, SteadyStepsAreNoFinding) {
  const Diagnosis found =
      of_text(megatron_log(100, [](std::int64_t step) { return step < 5 ? 30.0 : 2.0; }));
  EXPECT_TRUE(found.findings.empty());
  EXPECT_EQ(found.files.front().steps, 100);
  EXPECT_THAT(found.files.front().what,
              HasSubstr("100 steps of Megatron-LM, 2.00 s in the median"));
}

TEST(TrainingLog, SlowStepsAtEqualDistances) {
  const Diagnosis found =
      of_text(megatron_log(100, [](std::int64_t step) { return step % 20 == 0 ? 12.0 : 2.0; }));
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_EQ(found.findings.front().kind, DiagnosedFaultKind::kCheckpoint);
  EXPECT_THAT(found.findings.front().what, HasSubstr("Every 20 steps one is 6.0 times"));
  // Five slow steps of 90, each 10 s longer.
  EXPECT_NEAR(found.findings.front().lost_s.value(), 50.0 / 90, 1e-9);
}

TEST(TrainingLog, StepsThatGetSlower) {
  const Diagnosis found = of_text(
      megatron_log(100, [](std::int64_t step) { return 2.0 + 0.01 * static_cast<double>(step); }));
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_EQ(found.findings.front().kind, DiagnosedFaultKind::kDrift);
  EXPECT_GT(found.findings.front().lost_s.value(), 0.5);
}

TEST(TrainingLog, ARestartIsCounted) {
  const std::string log = megatron_log(30, [](std::int64_t) { return 2.0; });
  EXPECT_THAT(of_text(log + log).files.front().what, HasSubstr("1 restart"));
}

}  // namespace
}  // namespace stepwright::diagnose
