#include "stepwright/sample/operator_sampler.h"

#include <fmt/format.h>

#include <numeric>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/plan/files.h"
#include "stepwright/runtime/execute/executor.h"
#include "stepwright/runtime/execute/paced_performer.h"
#include "stepwright/runtime/execute/tensor_performer.h"
#include "stepwright/runtime/messages/watch.h"
#include "stepwright/sample/timed_performer.h"
#include "stepwright/step/work.h"

namespace stepwright::sample {
namespace {

/// A model, and the micro-batch to train it with.
struct Sampled {
  std::int64_t hidden;
  std::int64_t vocabulary;
  std::int64_t sequences;
  std::int64_t length;
  const char* family;
};

constexpr const char* kLlama = "norm: rmsnorm, gated: true, position: rope, tied: false";
constexpr const char* kGpt =
    "norm: layernorm, gated: false, position: learned, positions: 2048, bias: true, tied: true";

/// Sizes and shapes in which every dimension varies independently.
constexpr Sampled kSampled[] = {
    {64, 256, 2, 64, kLlama},    {128, 256, 2, 64, kLlama},   {128, 1024, 4, 128, kGpt},
    {256, 256, 1, 64, kLlama},   {256, 256, 4, 128, kLlama},  {256, 4096, 2, 128, kLlama},
    {256, 1024, 2, 256, kGpt},   {512, 256, 1, 128, kLlama},  {512, 1024, 2, 128, kLlama},
    {512, 1024, 2, 512, kLlama}, {512, 8192, 1, 128, kLlama}, {768, 1024, 1, 256, kGpt},
    {1024, 256, 1, 64, kLlama},  {1024, 1024, 2, 128, kLlama}};

/// Number of steps for each model; the first is not counted.
constexpr int kSteps = 8;

std::string plan_of(const Sampled& s, DType precision) {
  return fmt::format(
      "stepwright: plan/1\njob:\n"
      "  model: {{layers: 2, hidden: {}, heads: {}, ffn: {}, vocab: {}, {}}}\n"
      "  cluster: {{name: here, device: {{name: cpu, memory: 64e9, memory_bandwidth: 20e9, "
      "peak: {{fp64: 1e11, fp32: 1e11, bf16: 1e11}}}}, devices_per_node: 1, devices: 1, "
      "levels: []}}\n"
      "  batch: {{sequences: {}, length: {}}}\n  precision: {}\nmicro_batch: {}\n",
      s.hidden, s.hidden / 64, s.hidden * 5 / 2, s.vocabulary, s.family, 2 * s.sequences, s.length,
      name_of(kDTypeNames, precision), s.sequences);
}

runtime::MicroBatch random_batch(const plan::Job& job, const plan::Plan& plan) {
  const std::int64_t tokens = plan.micro_batch * job.length;
  const at::Tensor drawn = at::randint(job.model.vocabulary, {tokens + 1}, at::kLong);
  return {.tokens = drawn.narrow(0, 0, tokens),
          .targets = drawn.narrow(0, 1, tokens),
          .positions = at::arange(job.length).repeat({plan.micro_batch})};
}

/// Trains a model for some steps in this process and times its operators.
void run(const plan::PlannedJob& planned, double pace, OperatorSeconds& seconds) {
  const auto& [job, plan] = planned;
  const step::StepProgram program = step::build_step_program(job, plan);
  const plan::RankGrid grid(plan);
  const step::PipelineStageProgram& stage = program.stages.front();
  const step::StepBuildSettings setting = step::make_setting(job, plan);
  const std::unique_ptr<runtime::RankDevice> device = runtime::cpu_device();
  runtime::ParameterStore store({setting, plan, job.optimizer, grid, 0, device->torch_device()},
                                program, stage, 1);
  runtime::RankCommunicators groups({}, planned, program, stage, *device);
  const runtime::TrainOptions options;
  runtime::RankState rank{job, plan, options, setting, grid.coordinates(0), store, groups, *device};
  runtime::TensorOperatorRunner tensors(rank,
                                        [&](std::int64_t) { return random_batch(job, plan); });
  runtime::PacedOperatorRunner paced(tensors, pace);
  TimedOperatorPerformer timed(paced, seconds);
  runtime::StageStepExecutor executor(program, stage, timed,
                                      runtime::RankStreams::Compute::kWhereIssued, *device);
  for (rank.step = 0; rank.step < kSteps; ++rank.step) {
    rank.sums = runtime::make_zero_loss_and_norm_sums(rank);
    store.zero_gradients();
    executor.run_training_step();
    if (rank.step == 0) seconds.clear();  // the first step allocates memory
  }
}

std::string shape_text(const step::OperatorShape& s) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {}", s.rows, s.columns, s.inner, s.batch,
                     s.heads, s.kv_heads, s.queries, s.keys, s.head_dim, s.value_dim, s.pairs);
}

/// The mean, not the median: if processes share a core, only few runs are delayed, but those by
/// much.
double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

void measure_operators(const runtime::RankCommunicators::RankWorld& world, DType precision,
                       double pace, std::ostream& out) {
  std::vector<std::int64_t> all;
  for (std::int64_t r = 0; r < world.size; ++r) all.push_back(r);
  const auto control =
      world.size > 1 ? runtime::create_gloo_process_group(world, "sample/control", all) : nullptr;
  for (const Sampled& sampled : kSampled) {
    if (control) {
      runtime::wait_for_message(world.watch, "the start of a measurement", *control->barrier());
    }
    const plan::PlannedJob planned =
        plan::read_plan(YamlJsonDocument::parse(plan_of(sampled, precision), "sampled model"), ".");
    OperatorSeconds seconds;
    run(planned, pace, seconds);
    if (world.rank != 0) continue;
    for (const auto& [key, times] : seconds) {
      const step::Operator op = key.example_operator();
      out << fmt::format("{},{},{},{},{:.0f},{:.0f},{:.6g}\n",
                         name_of(step::kOperatorNames, op.kind),
                         name_of(step::kPhaseNames, op.phase), name_of(kDTypeNames, op.dtype),
                         shape_text(op.shape), step::operator_flops(op),
                         step::device_memory_traffic_bytes(op), mean(times));
    }
  }
}

}  // namespace stepwright::sample
