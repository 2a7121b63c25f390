#include "stepwright/runtime/trainer.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "stepwright/core/error.h"
#include "stepwright/plan/files.h"
#include "stepwright/runtime/batches.h"
#include "stepwright/runtime/executor.h"
#include "stepwright/runtime/whole_model.h"

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

/// Ranks that hold different plans would wait for each other for ever.
void check_same_plan(const PlannedJob& planned, const TrainOptions& o, const Groups::World& world) {
  const std::string own = fmt::format("{}steps {}\nseed {}\nlearning rate {}\n", plan_yaml(planned),
                                      o.steps, o.seed, o.learning_rate);
  if (world.rank == 0) {
    world.store->set("plan", std::vector<std::uint8_t>(own.begin(), own.end()));
    return;
  }
  const std::vector<std::uint8_t> first = world.store->get("plan");
  if (std::string(first.begin(), first.end()) == own) return;
  fail_input(fmt::format("{}: rank {} has another plan, or other options, than rank 0", o.plan,
                         world.rank));
}

StepReport report_of(const RankState& rank, double time_s) {
  const double loss = rank.sums.loss[0].item<double>() / rank.sums.loss[1].item<double>();
  const double norm =
      std::sqrt(rank.sums.dense_square.item<double>() + rank.sums.expert_square.item<double>());
  return {.step = rank.step + 1,
          .loss = loss,
          .gradient_norm = norm,
          .learning_rate = learning_rate(rank.options, rank.step),
          .time_s = time_s,
          .tokens_per_s = rank.job.tokens() / time_s};
}

bool reports(const RankState& rank) {
  return rank.place.pipeline + 1 == rank.plan.parallel.pipeline && rank.place.tensor == 0 &&
         rank.place.context == 0 && rank.place.data == 0;
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
  if (rank.groups.control() != nullptr) rank.groups.control()->barrier()->wait();
}

}  // namespace

void train(const PlannedJob& planned, const TrainOptions& options, const Groups::World& world,
           const std::function<void(const StepReport&)>& report) {
  const auto& [job, plan] = planned;
  const TokenFile tokens(options.data, token_format(options.data, options.data_format),
                         job.model.vocabulary);
  Samples samples(tokens, job.length, options.seed, options.data);
  check_same_plan(planned, options, world);
  const StepProgram program = build_program(job, plan);
  const Grid grid(plan);
  const Coordinates place = grid.coordinates(world.rank);
  const Stage& stage = program.stages[static_cast<std::size_t>(place.pipeline)];
  const Setting setting = make_setting(job, plan);
  ParameterStore store({setting, plan, job.optimizer, grid, world.rank}, program, stage,
                       options.seed);
  Groups groups(world, grid, program, stage);
  RankState rank{job, plan, options, setting, place, store, groups};
  Batches batches(tokens, std::move(samples), job, plan, place);
  Executor executor(program, stage, rank);
  for (; rank.step < options.steps; ++rank.step) {
    const auto begin = std::chrono::steady_clock::now();
    rank.sums = no_sums(setting);
    store.zero_gradients();
    executor.run_step([&](std::int64_t micro) { return batches.of(rank.step, micro); });
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    if (reports(rank)) report(report_of(rank, time.count()));
  }
  finish(rank, world);
}

}  // namespace stepwright
