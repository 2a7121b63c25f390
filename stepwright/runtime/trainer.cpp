#include "stepwright/runtime/trainer.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "stepwright/core/error.h"
#include "stepwright/plan/files.h"
#include "stepwright/runtime/batches.h"
#include "stepwright/runtime/checkpointer.h"
#include "stepwright/runtime/executor.h"
#include "stepwright/runtime/initial_weights.h"
#include "stepwright/runtime/logits_file.h"
#include "stepwright/runtime/memory_counter.h"
#include "stepwright/runtime/train_flags.h"
#include "stepwright/runtime/watch.h"
#include "stepwright/runtime/whole_model.h"
#include "stepwright/step/program_json.h"

namespace stepwright {
namespace {

StepSums no_sums(const Setting& setting) {
  const auto zeros = [&](std::int64_t n) {
    return at::zeros({n}, at::TensorOptions(scalar_type(setting.exact)));
  };
  return {.loss = zeros(2), .dense_square = zeros(1), .expert_square = zeros(1)};
}

/// Collects what all ranks sent at rank 0, which writes the file.
void write_ledger(RankState& rank, const Groups::World& world, std::int64_t steps) {
  const std::string own = communicators_json(rank.groups.logs()).dump();
  const auto key = [](std::int64_t r) { return fmt::format("ledger/{}", r); };
  world.store->set(key(world.rank), std::vector<std::uint8_t>(own.begin(), own.end()));
  if (world.rank != 0) return;
  nlohmann::ordered_json all = executed_ledger_json({}, world.size, steps);
  for (std::int64_t r = 0; r < world.size; ++r) {
    const std::vector<std::uint8_t> text = world.store->get(key(r));
    for (auto& one : nlohmann::ordered_json::parse(text)) all["communicators"].push_back(one);
  }
  std::ofstream out(rank.options.ledger);
  out << all.dump(1) << '\n';
  if (!out.flush()) {
    throw Error(ErrorKind::kRuntime, rank.options.ledger + ": cannot be written");
  }
}

StepReport report_of(const RankState& rank, double time_s, double memory_bytes) {
  const double loss = rank.sums.loss[0].item<double>() / rank.sums.loss[1].item<double>();
  const double norm =
      std::sqrt(rank.sums.dense_square.item<double>() + rank.sums.expert_square.item<double>());
  return {.step = rank.step + 1,
          .loss = loss,
          .gradient_norm = norm,
          .learning_rate = learning_rate(rank.options, rank.step),
          .time_s = time_s,
          .tokens_per_s = rank.job.tokens() / time_s,
          .memory_bytes = memory_bytes};
}

bool reports(const RankState& rank) {
  return rank.place.pipeline + 1 == rank.plan.parallel.pipeline && rank.place.tensor == 0 &&
         rank.place.context == 0 && rank.place.data == 0;
}

/// Options that have to be the same on every rank, as text.
std::string common_options(TrainOptions options) {
  for (std::string* own :
       {&options.plan, &options.data, &options.ledger, &options.metrics, &options.weights,
        &options.gradients, &options.logits, &options.memory}) {
    own->clear();
  }
  if (!options.weights_from.empty()) options.weights_from = "given";
  std::string text;
  for (const std::string& word : train_arguments(options)) text += word + "\n";
  return text;
}

/// Ranks that hold different plans would wait for messages that never come, or learn nonsense.
void check_same_program(const Groups::World& world, const TrainOptions& options,
                        const std::string& program) {
  const auto compare = [&](const char* what, const std::string& own) {
    const std::vector<std::string> all = exchange(world, what, own);
    for (std::size_t r = 1; r < all.size(); ++r) {
      if (all[r] == all.front()) continue;
      fail_input(
          fmt::format("rank {} has another {} than rank 0 ({}, {})", r, what, all[r], all.front()));
    }
  };
  compare("program of its plan", program);
  compare("set of training options", checksum(common_options(options)));
}

/// The parameters of this rank whose gradient is no number.
std::string broken_gradients(RankState& rank) {
  std::string names;
  for (const std::int32_t id : rank.store.order()) {
    for (const StoredParameter& parameter : rank.store.unit(id).parameters) {
      const at::Tensor& gradient = parameter.gradient;
      if (parameter.owner != nullptr || !gradient.defined()) continue;
      if (at::isfinite(gradient).all().item<bool>()) continue;
      if (!names.empty()) return names + ", ...";
      names = parameter.slice.name;
    }
  }
  return names.empty() ? "none of this rank" : names;
}

/// Every rank knows the norm; none has made the update when it is no number.
void check_numbers(RankState& rank) {
  const double norm =
      rank.sums.dense_square.item<double>() + rank.sums.expert_square.item<double>();
  if (std::isfinite(norm) || rank.options.skip_nan) return;
  throw Error(ErrorKind::kRuntime,
              fmt::format("step {}: the gradients are no numbers (norm {}, loss on this rank {}); "
                          "first in {}; the update was not made (--skip-nan goes on without it)",
                          rank.step + 1, std::sqrt(norm),
                          rank.sums.loss[0].item<double>() / rank.sums.loss[1].item<double>(),
                          broken_gradients(rank)));
}

void finish(RankState& rank, const Groups::World& world) {
  const TrainOptions& options = rank.options;
  if (!options.gradients.empty()) {
    write_whole_model(rank, world, WholeState::kGradients, options.gradients);
  }
  if (!options.weights.empty()) {
    write_whole_model(rank, world, WholeState::kWeights, options.weights);
  }
  if (!options.ledger.empty()) write_ledger(rank, world, options.steps);
  if (world.watch != nullptr) world.watch->stop();
  if (rank.groups.control() != nullptr) rank.groups.control()->barrier()->wait();
}

/// What a step needs beyond the states of the rank.
struct Loop {
  Executor& executor;
  Batches& batches;
  Checkpointer* checkpointer;  ///< Null: no checkpoints.
  const std::function<void(const StepReport&)>& report;
};

void write_last_logits(const RankState& rank, Batches& batches) {
  if (rank.logits == nullptr) {
    fail_input("--logits: no step was left to train after the checkpoint");
  }
  std::vector<MicroBatch> last;
  for (const auto& [micro_batch, values] : *rank.logits) {
    last.push_back(batches.of(rank.options.steps - 1, micro_batch));
  }
  write_logits(*rank.logits, last, rank.job.length, rank.options.logits);
}

/// Returns what the last step held.
CountedMemory run_steps(RankState& rank, const Groups::World& world, const Loop& loop) {
  const TrainOptions& options = rank.options;
  CountedMemory memory;
  std::map<std::int32_t, at::Tensor> logits;
  for (; rank.step < options.steps; ++rank.step) {
    if (!options.logits.empty() && rank.step + 1 == options.steps) rank.logits = &logits;
    if (world.watch != nullptr) world.watch->begin_step(rank.step + 1);
    const auto begin = std::chrono::steady_clock::now();
    rank.sums = no_sums(rank.setting);
    rank.store.zero_gradients();
    const std::int64_t before = begin_memory_count();
    loop.executor.run_step([&](std::int64_t micro) { return loop.batches.of(rank.step, micro); });
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    memory = count_memory(rank, loop.executor.held_at_peak(), before);
    check_numbers(rank);
    if (reports(rank)) loop.report(report_of(rank, time.count(), memory.allocated_bytes()));
    if (loop.checkpointer == nullptr) continue;
    loop.checkpointer->check();
    const std::int64_t done = rank.step + 1;
    const bool due = options.checkpoint_every > 0 && done % options.checkpoint_every == 0;
    if (due || done == options.steps) loop.checkpointer->save(done);
  }
  if (!options.logits.empty()) write_last_logits(rank, loop.batches);
  rank.logits = nullptr;
  if (loop.checkpointer != nullptr) loop.checkpointer->finish();
  return memory;
}

/// Tells the other ranks why this one ends, while what they wait for is still there.
template <class Act>
void tell_failure(Watch* watch, Act act) {
  try {
    act();
  } catch (const Error& error) {
    const int code = error.kind() == ErrorKind::kInput         ? 2
                     : error.kind() == ErrorKind::kUnsupported ? 3
                                                               : 1;
    if (watch != nullptr) watch->give_up(error.what(), false, code);
    throw;
  } catch (const std::exception& error) {
    const std::string_view text = error.what();
    if (watch != nullptr) watch->give_up(std::string(text.substr(0, text.find('\n'))), false, 1);
    throw;
  }
}

void train_rank(const PlannedJob& planned, const TrainOptions& options, const Groups::World& world,
                const std::function<void(const StepReport&)>& report) {
  const auto& [job, plan] = planned;
  const TokenFile tokens(options.data, token_format(options.data, options.data_format),
                         job.model.vocabulary);
  Samples samples(tokens, job.length, options.seed, options.data);
  const StepProgram program = build_program(job, plan);
  const std::string hash = checksum(program_json(program).dump());
  check_same_program(world, options, hash);
  const Grid grid(plan);
  const Coordinates place = grid.coordinates(world.rank);
  const Stage& stage = program.stages[static_cast<std::size_t>(place.pipeline)];
  const Setting setting = make_setting(job, plan);
  ParameterStore store({setting, plan, job.optimizer, grid, world.rank}, program, stage,
                       options.seed);
  if (!options.weights_from.empty()) {
    load_weights(store, HuggingFaceWeights(options.weights_from, job.model));
  }
  Groups groups(world, grid, program, stage);
  RankState rank{job, plan, options, setting, place, store, groups};
  std::unique_ptr<Checkpointer> checkpointer;
  if (!options.checkpoint.empty()) {
    checkpointer = std::make_unique<Checkpointer>(rank, world,
                                                  CheckpointRun{.seed = options.seed,
                                                                .length = job.length,
                                                                .tokens = tokens.size(),
                                                                .plan = plan_yaml(planned),
                                                                .program = hash});
    if (options.resume) checkpointer->resume();
  }
  Batches batches(tokens, std::move(samples), job, plan, place);
  Executor executor(program, stage, rank);
  tell_failure(world.watch, [&] {
    CountedMemory memory = run_steps(rank, world, {executor, batches, checkpointer.get(), report});
    if (!options.memory.empty()) {
      memory.predicted =
          memory_report(job, program).stages[static_cast<std::size_t>(place.pipeline)].kinds;
      write_memory(world, memory, options.memory);
    }
    finish(rank, world);
  });
}

}  // namespace

void train(const PlannedJob& planned, const TrainOptions& options, const Groups::World& world,
           const std::function<void(const StepReport&)>& report) {
  tell_failure(world.watch, [&] { train_rank(planned, options, world, report); });
}

}  // namespace stepwright
