// Measures the speed of the planner: pricing, predicting, simulating, searching. `make bench` runs
// it; bench/README.md records the figures.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "stepwright/cluster/catalog.h"
#include "stepwright/cost/profiles/profile_catalog.h"
#include "stepwright/interleave/interleaving.h"
#include "stepwright/interleave/layer_strands.h"
#include "stepwright/model/catalog.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/enumeration.h"
#include "stepwright/tune/tune.h"

namespace stepwright {
namespace {

plan::Job job_of(const char* model, const char* cluster, std::int64_t nodes, std::int64_t sequences,
                 std::int64_t length) {
  plan::Job job;
  job.model_name = model;
  job.model = *model::built_in_model(model);
  job.cluster = *cluster::built_in_cluster(cluster, nodes);
  job.sequences = sequences;
  job.length = length;
  return job;
}

plan::Plan plan_of(const plan::Job& job, std::int64_t tensor, std::int64_t pipeline) {
  plan::Plan plan;
  plan.parallel.tensor = tensor;
  plan.parallel.pipeline = pipeline;
  plan.parallel.data = job.cluster.devices() / (tensor * pipeline);
  plan.sequence_parallel = tensor > 1;
  return plan;
}

/// Prices every plan of a grid. Appends, for each pipeline, the seconds of one plan and the number
/// of plans; building blocks counts for the pipeline that needs them first.
// NOLINTNEXTLINE(readability-function-size): one loop per level of the search.
void price_grid(const plan::Job& job, const cost::CostModel& cost, const tune::RankGridChoice& grid,
                std::vector<std::pair<double, std::int64_t>>& groups) {
  using Clock = std::chrono::steady_clock;
  simulate::PlanPricer pricer(job, cost);
  plan::Plan plan = tune::default_plan_of_rank_grid(job, grid.parallel, grid.order);
  for (const auto& [micro_batch, choices] : grid.stages->by_micro_batch) {
    for (const tune::ModelBlockChoice& block : grid.blocks) {
      for (const tune::PipelineStageChoice& choice : choices) {
        const auto start = Clock::now();
        plan.micro_batch = micro_batch;
        tune::write_choice_into_plan(block, plan);
        tune::write_choice_into_plan(choice, plan);
        const simulate::PipelineCost pipeline =
            pricer.pipeline_cost_of_plan(pricer.blocks(plan), plan);
        for (const tune::DataParallelChoice& data : grid.data->choices) {
          tune::write_choice_into_plan(data, plan);
          benchmark::DoNotOptimize(pricer.finish(pipeline, plan).seconds);
        }
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        const auto count = static_cast<std::int64_t>(grid.data->choices.size());
        groups.emplace_back(seconds / static_cast<double>(count), count);
      }
    }
  }
}

/// Prices one distinct shape: the law and its trees for the backward of a product, which is the
/// most expensive operator.
void price_one_shape(benchmark::State& state) {
  const plan::Job job = job_of("llama-3-70b", "dgx-a100-80g", 8, 512, 8192);
  const cost::ComputationCostModel cost(job);
  step::Operator op{.kind = step::OperatorKind::kLinear,
                    .phase = step::Phase::kWeightGradient,
                    .shape = {.rows = 8192, .columns = 7168, .inner = 8192}};
  for (auto _ : state) {
    op.shape.rows = op.shape.rows % 32768 + 128;
    benchmark::DoNotOptimize(cost.operator_run_seconds(op));
  }
}
BENCHMARK(price_one_shape);

/// Reads and parses the built-in profiles, which a process does once.
void read_profiles(benchmark::State& state) {
  for (auto _ : state) {
    for (const EmbeddedFile& file : cost::embedded_operator_profiles()) {
      benchmark::DoNotOptimize(
          cost::read_operator_profile(YamlJsonDocument::parse(file.text, std::string(file.name))));
    }
  }
}
BENCHMARK(read_profiles)->Unit(benchmark::kMillisecond);

/// Prices one whole plan whose summaries exist: the innermost step of a search.
void price_one_plan(benchmark::State& state) {
  const plan::Job job = job_of("llama-3.1-405b", "dgx-h100", 2048, 2048, 8192);
  const plan::Plan plan = plan_of(job, 8, 16);
  const cost::CostModel cost(job);
  simulate::PlanPricer pricer(job, cost);
  const simulate::PipelineCost pipeline = pricer.pipeline_cost_of_plan(pricer.blocks(plan), plan);
  for (auto _ : state) benchmark::DoNotOptimize(pricer.finish(pipeline, plan).seconds);
}
BENCHMARK(price_one_plan);

/// Prices one plan including the summaries of its setting.
void price_one_plan_from_nothing(benchmark::State& state) {
  const plan::Job job = job_of("llama-3.1-405b", "dgx-h100", 2048, 2048, 8192);
  const plan::Plan plan = plan_of(job, 8, 16);
  const cost::CostModel cost(job);
  for (auto _ : state) {
    simulate::PlanPricer pricer(job, cost);
    benchmark::DoNotOptimize(pricer.price(plan).seconds);
  }
}
BENCHMARK(price_one_plan_from_nothing)->Unit(benchmark::kMicrosecond);

/// Prices every plan of a sample of grids in the order of a search: blocks and pipelines are priced
/// once, and their time is shared by the plans that use them. The result is the median over plans.
void price_a_space(benchmark::State& state) {
  const plan::Job job = job_of("llama-3.1-405b", "dgx-h100", 2048, 2048, 8192);
  const cost::CostModel cost(job);
  const tune::SearchSpaceDimensions space = tune::search_space_dimensions(job);
  const tune::LegalPlanCounter enumeration(job, space);
  double median_s = 0;
  double mean_s = 0;
  for (auto _ : state) {
    std::vector<std::pair<double, std::int64_t>> groups;  // seconds of a plan, plans
    for (std::size_t i = 0; i < enumeration.grids().size(); i += 16) {
      price_grid(job, cost, enumeration.grids()[i], groups);
    }
    std::ranges::sort(groups);
    double seconds = 0;
    std::int64_t plans = 0;
    for (const auto& [each_s, count] : groups) {
      seconds += each_s * static_cast<double>(count);
      plans += count;
    }
    mean_s = seconds / static_cast<double>(plans);
    auto group = groups.begin();
    for (std::int64_t left = plans / 2; left >= group->second; ++group) left -= group->second;
    median_s = group->first;
    state.counters["plans"] = static_cast<double>(plans);
  }
  state.counters["median_us"] = 1e6 * median_s;
  state.counters["mean_us"] = 1e6 * mean_s;
}
BENCHMARK(price_a_space)->Unit(benchmark::kMillisecond)->Iterations(1);

void predict_llama_70b(benchmark::State& state) {
  const plan::Job job = job_of("llama-3-70b", "dgx-h100", 8, 512, 8192);
  const plan::PlannedJob planned{job, plan_of(job, 8, 4)};
  for (auto _ : state)
    benchmark::DoNotOptimize(simulate::predict_plan(planned).simulation.step_time_s);
}
BENCHMARK(predict_llama_70b)->Unit(benchmark::kMillisecond);

/// Simulates 64 stages x 512 micro-batches with two layers per stage.
void simulate_deep_pipeline(benchmark::State& state) {
  const plan::Job job = job_of("gpt-1t", "dgx-a100-80g", 64, 512, 2048);
  const plan::Plan plan = plan_of(job, 8, 64);
  const cost::CostModel cost(job);
  const step::StepProgram program = step::build_step_program(job, plan);
  const auto layouts = cost::rank_group_network_layouts(job.cluster, plan::RankGrid(plan));
  for (auto _ : state) {
    benchmark::DoNotOptimize(simulate::simulate(program, cost, layouts, plan).step_time_s);
  }
}
BENCHMARK(simulate_deep_pipeline)->Unit(benchmark::kMillisecond);

/// Interleaves one pair of dense layers; argument 1: the forward list may start anywhere.
void interleave_a_layer(benchmark::State& state) {
  const plan::Job job = job_of("llama-3-70b", "dgx-h100", 8, 512, 8192);
  plan::Plan plan = plan_of(job, 8, 4);
  plan.tensor_input = plan::GatheredInputPolicy::kKeep;
  const cost::CostModel cost(job);
  const interleave::ForwardBackwardOperators pair =
      interleave::layer_operator_lists(job, plan, cost, 0).pair;
  const interleave::InterleaveOptions options{.contention = cost.contention(),
                                              .rotate = state.range(0) == 1};
  for (auto _ : state) benchmark::DoNotOptimize(interleave::interleave(pair, options));
}
BENCHMARK(interleave_a_layer)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

void run_tune(benchmark::State& state, const plan::Job& job) {
  tune::TuneResult result;
  for (auto _ : state) result = tune::tune(job, tune::TuneOptions{});
  state.counters["legal"] = static_cast<double>(result.space.legal);
  state.counters["priced"] = static_cast<double>(result.space.priced);
  state.counters["gap"] = result.optimality_gap;
  state.counters["simulated"] = static_cast<double>(result.space.simulated);
}

void tune_llama_405b_on_16384_h100(benchmark::State& state) {
  run_tune(state, job_of("llama-3.1-405b", "dgx-h100", 2048, 2048, 8192));
}
BENCHMARK(tune_llama_405b_on_16384_h100)->Unit(benchmark::kMillisecond)->Iterations(3);

void tune_gpt_1t_on_512_a100(benchmark::State& state) {
  run_tune(state, job_of("gpt-1t", "dgx-a100-80g", 64, 512, 2048));
}
BENCHMARK(tune_gpt_1t_on_512_a100)->Unit(benchmark::kMillisecond)->Iterations(3);

void tune_llama_70b_on_64_h100(benchmark::State& state) {
  run_tune(state, job_of("llama-3-70b", "dgx-h100", 8, 512, 8192));
}
BENCHMARK(tune_llama_70b_on_64_h100)->Unit(benchmark::kMillisecond)->Iterations(3);

void tune_deepseek_on_2048_h100(benchmark::State& state) {
  run_tune(state, job_of("deepseek-v3", "dgx-h100", 256, 8192, 4096));
}
BENCHMARK(tune_deepseek_on_2048_h100)->Unit(benchmark::kMillisecond)->Iterations(3);

/// Tunes with the degrees of DeepSeek's technical report fixed; everything else is searched.
void tune_deepseek_on_2048_h800(benchmark::State& state) {
  plan::Job job = job_of("deepseek-v3", "h800-8gpu", 256, 15360, 4096);
  job.precision = DType::kFp8;
  job.space.tensor = {1};
  job.space.context = {1};
  job.space.pipeline = {16};
  job.space.expert = {64};
  run_tune(state, job);
}
BENCHMARK(tune_deepseek_on_2048_h800)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
}  // namespace stepwright
