#include "stepwright/runtime/launch/trainer.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/plan/canonical.h"
#include "stepwright/plan/files.h"
#include "stepwright/runtime/checkpoints/checkpointer.h"
#include "stepwright/runtime/checkpoints/initial_weights.h"
#include "stepwright/runtime/checkpoints/whole_model.h"
#include "stepwright/runtime/data/batches.h"
#include "stepwright/runtime/execute/clocked_performer.h"
#include "stepwright/runtime/execute/executor.h"
#include "stepwright/runtime/execute/paced_performer.h"
#include "stepwright/runtime/execute/tensor_performer.h"
#include "stepwright/runtime/launch/launch.h"
#include "stepwright/runtime/launch/rank_frame.h"
#include "stepwright/runtime/measure/logits_file.h"
#include "stepwright/runtime/measure/memory_counter.h"
#include "stepwright/runtime/messages/watch.h"
#include "stepwright/step/program_json.h"

namespace stepwright::runtime {
namespace {

/// Opens the device that the options ask for; of the devices on this machine, this rank's.
std::unique_ptr<RankDevice> open_device(const TrainOptions& options) {
  const std::string& asked = options.device;
  const bool paced = options.pace > 1;
  if (asked == "cpu" || (asked == "auto" && (paced || !has_cuda_device()))) return cpu_device();
  return cuda_device(rank_on_this_machine());
}

StepReport report_of(const RankState& rank, double time_s, double memory_bytes) {
  const double loss = rank.sums.loss[0].item<double>() / rank.sums.loss[1].item<double>();
  const double norm =
      std::sqrt(rank.sums.dense_square.item<double>() + rank.sums.expert_square.item<double>());
  return {.step = rank.step + 1,
          .time_s = time_s,
          .tokens_per_s = rank.job.tokens() / time_s,
          .memory_bytes = memory_bytes,
          .learned = StepLearningMetrics{.loss = loss,
                                         .gradient_norm = norm,
                                         .learning_rate = learning_rate(rank.options, rank.step)}};
}

/// Returns the names of this rank's parameters whose gradient is not finite.
std::string broken_gradients(RankState& rank) {
  std::string names;
  for (const StoredParameter* parameter : rank.store.trained_parameters_with_own_states()) {
    if (at::isfinite(parameter->gradient).all().item<bool>()) continue;
    if (!names.empty()) return names + ", ...";
    names = parameter->slice.name;
  }
  return names.empty() ? "none of this rank" : names;
}

/// Fails if the norm of the gradients is not finite. Every rank knows the norm, and none has made
/// the update in that case.
void check_numbers(RankState& rank) {
  const double norm =
      rank.sums.dense_square.item<double>() + rank.sums.expert_square.item<double>();
  if (std::isfinite(norm) || rank.options.skip_nan) return;
  throw Error(
      ErrorKind::kRuntime,
      fmt::format("step {}: the gradients are not numbers (norm {}, loss on this rank {}); first "
                  "in {}; the update was not made (--skip-nan skips the update and continues)",
                  rank.step + 1, std::sqrt(norm),
                  rank.sums.loss[0].item<double>() / rank.sums.loss[1].item<double>(),
                  broken_gradients(rank)));
}

void finish(RankState& rank, const RankCommunicators::RankWorld& world) {
  const TrainOptions& options = rank.options;
  if (!options.gradients.empty()) {
    assemble_and_write_whole_model(rank, world, WholeState::kGradients, options.gradients);
  }
  if (!options.weights.empty()) {
    assemble_and_write_whole_model(rank, world, WholeState::kWeights, options.weights);
  }
  finish_run_on_all_ranks(rank.groups, world, options);
}

/// The objects that a step needs in addition to the rank's state.
struct Loop {
  StageStepExecutor& executor;
  TensorOperatorRunner& performer;
  MicroBatchSlicer& batches;
  Checkpointer* checkpointer;  ///< Checkpointer of the run; null: no checkpoints.
  const std::function<void(const StepReport&)>& report;
};

void write_last_logits(const RankState& rank, MicroBatchSlicer& batches) {
  if (rank.logits == nullptr) {
    fail_input("--logits: no step was left to train after the checkpoint");
  }
  std::vector<MicroBatch> last;
  for (const auto& [micro_batch, values] : *rank.logits) {
    last.push_back(batches.of(rank.options.steps - 1, micro_batch));
  }
  write_logits(*rank.logits, last, rank.job.length, rank.options.logits);
}

/// Runs the steps, and returns the memory that the last one held.
CountedPeakMemory run_steps(RankState& rank, const RankCommunicators::RankWorld& world,
                            const Loop& loop) {
  const TrainOptions& options = rank.options;
  CountedPeakMemory memory;
  std::map<std::int32_t, at::Tensor> logits;
  for (; rank.step < options.steps; ++rank.step) {
    if (!options.logits.empty() && rank.step + 1 == options.steps) rank.logits = &logits;
    if (world.watch != nullptr) world.watch->begin_step(rank.step + 1);
    const auto begin = std::chrono::steady_clock::now();
    rank.sums = make_zero_loss_and_norm_sums(rank);
    rank.store.zero_gradients();
    const std::int64_t before = begin_step_memory_count();
    loop.executor.run_training_step();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    memory = count_peak_memory(rank, loop.performer.tensor_bytes_at_step_memory_peak(), before);
    check_numbers(rank);
    if (is_step_reporting_rank(rank.plan, rank.place)) {
      loop.report(report_of(rank, time.count(), memory.allocated_bytes()));
    }
    if (loop.checkpointer == nullptr) continue;
    loop.checkpointer->check();
    const std::int64_t done = rank.step + 1;
    const bool due = options.checkpoint_every > 0 && done % options.checkpoint_every == 0;
    if (due || done == options.steps) loop.checkpointer->start_checkpoint(done);
  }
  if (!options.logits.empty()) write_last_logits(rank, loop.batches);
  rank.logits = nullptr;
  if (loop.checkpointer != nullptr) loop.checkpointer->finish();
  return memory;
}

/// Returns a path in the form that a checkpoint stores, as text.
std::string absolute_path(const std::string& path) {
  return one_line_printable_text(std::filesystem::absolute(path).lexically_normal().string(),
                                 std::string::npos);
}

/// Returns the source of the frozen weights, which a checkpoint does not hold; empty: none.
std::string frozen_base(const TrainOptions& options, const plan::Job& job) {
  if (!job.model.has_frozen_weights() || options.weights_from.empty()) return {};
  return absolute_path(options.weights_from);
}

void train_rank(const plan::PlannedJob& given, const TrainOptions& options, const std::string& file,
                const RankCommunicators::RankWorld& world, const TrainCallbacks& told) {
  plan::PlannedJob planned = given;
  planned.plan = plan::with_canonical_sharding(given.job, given.plan);
  const auto& [job, plan] = planned;
  const TokenFile tokens(options.data, data_file_token_format(options.data, options.data_format),
                         job.model.vocabulary);
  ShuffledSamples samples(tokens, job.length, options.seed, options.data);
  const step::StepProgram program = step::build_step_program(job, plan);
  const std::string hash = checkpoint::checksum(step::step_program_json(program).dump());
  check_ranks_agree_on_run(world, options, hash, tokens.sum());
  const plan::RankGrid grid(plan);
  const plan::RankCoordinates place = grid.coordinates(world.rank);
  const step::PipelineStageProgram& stage =
      program.stages[static_cast<std::size_t>(place.pipeline)];
  const step::StepBuildSettings setting = step::make_setting(job, plan);
  const std::unique_ptr<RankDevice> device = open_device(options);
  ParameterStore store({setting, plan, job.optimizer, grid, world.rank, device->torch_device()},
                       program, stage, options.seed);
  if (!options.weights_from.empty()) {
    load_weights(store, huggingface::HuggingFaceWeights(options.weights_from, job.model));
  }
  if (!options.adapters_from.empty()) {
    load_adapters(store, huggingface::HuggingFaceWeights::open_lora_adapters(
                             options.adapters_from, options.weights_from, job.model));
  }
  RankCommunicators groups(world, planned, program, stage, *device);
  RankState rank{job, plan, options, setting, place, store, groups, *device};
  std::unique_ptr<Checkpointer> checkpointer;
  if (!options.checkpoint.empty()) {
    checkpointer = std::make_unique<Checkpointer>(
        rank, world,
        checkpoint::CheckpointRunFacts{.seed = options.seed,
                                       .length = job.length,
                                       .tokens = tokens.size(),
                                       .data = absolute_path(options.data),
                                       .data_sum = tokens.sum(),
                                       .plan = plan::plan_yaml(planned),
                                       .program = hash,
                                       .base = frozen_base(options, job)});
    const std::string note = options.resume ? checkpointer->resume_from_last_checkpoint() : "";
    if (world.rank == 0 && !note.empty()) told.note(note);
  }
  MicroBatchSlicer batches(tokens, std::move(samples), job, plan, place);
  TensorOperatorRunner performer(rank,
                                 [&](std::int64_t micro) { return batches.of(rank.step, micro); });
  PacedOperatorRunner paced(performer, options.pace);
  const bool timed = !file.empty() && !device->starts_operators_asynchronously();
  const OperatorTimes times = timed ? load_operator_times(file, program) : OperatorTimes{};
  TimingOperatorRunner clocked(paced, times);
  StageStepExecutor executor(program, stage, timed ? static_cast<OperatorRunner&>(clocked) : paced,
                             device->starts_operators_asynchronously()
                                 ? RankStreams::Compute::kThread
                                 : RankStreams::Compute::kWhereIssued,
                             *device);
  tell_failure(world.watch, [&] {
    CountedPeakMemory memory =
        run_steps(rank, world, {executor, performer, batches, checkpointer.get(), told.step});
    if (timed && is_step_reporting_rank(plan, place)) told.end(clocked.mean_step_time_summary());
    if (!options.memory.empty()) {
      memory.predicted = memory::memory_report(job, program)
                             .stages[static_cast<std::size_t>(place.pipeline)]
                             .kinds;
      write_counted_memory(world, memory, options.memory);
    }
    finish(rank, world);
  });
}

}  // namespace

void train(const plan::PlannedJob& planned, const TrainOptions& options, const std::string& times,
           const RankCommunicators::RankWorld& world, const TrainCallbacks& reports) {
  tell_failure(world.watch, [&] { train_rank(planned, options, times, world, reports); });
}

}  // namespace stepwright::runtime
