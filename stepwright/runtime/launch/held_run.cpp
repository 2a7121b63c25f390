#include "stepwright/runtime/launch/held_run.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "stepwright/checkpoint/durable_file.h"
#include "stepwright/runtime/execute/compute_clock.h"
#include "stepwright/runtime/execute/executor.h"
#include "stepwright/runtime/execute/held_performer.h"
#include "stepwright/runtime/measure/operator_times.h"
#include "stepwright/step/program_json.h"

namespace stepwright::runtime {
namespace {

/// Waits until all ranks have connected, so that no step begins before.
void begin_together(RankCommunicators& groups, RankWatch* watch) {
  if (groups.control_process_group() == nullptr) return;
  wait_for_message(watch, "the start of the steps", *groups.control_process_group()->barrier());
}

void hold_steps(StageStepExecutor& executor, const EmulatedRankProgram& held,
                const TrainOptions& options, RankWatch* watch,
                const std::function<void(std::int64_t, double)>& done) {
  for (std::int64_t step = 1; step <= options.steps; ++step) {
    if (watch != nullptr) watch->begin_step(step);
    const auto begin = std::chrono::steady_clock::now();
    executor.run_training_step();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    if (is_step_reporting_rank(held.plan, held.place)) done(step, time.count());
  }
}

void hold_rank(const plan::PlannedJob& planned, const TrainOptions& options,
               const std::string& file, const RankCommunicators::RankWorld& world,
               const Reporter& report) {
  const auto& [job, plan] = planned;
  const step::StepProgram program = step::build_step_program(job, plan);
  check_ranks_agree_on_run(world, options,
                           checkpoint::checksum(step::step_program_json(program).dump()), "");
  const OperatorTimes times = load_operator_times(file, program);
  const plan::RankGrid grid(plan);
  const plan::RankCoordinates place = grid.coordinates(world.rank);
  const step::PipelineStageProgram& stage =
      program.stages[static_cast<std::size_t>(place.pipeline)];
  RankCommunicators::RankWorld scaled = world;
  scaled.payload = Communicator::RecordedPayload::kOfOperator;
  const std::unique_ptr<RankDevice> device = cpu_device();
  RankCommunicators groups(scaled, planned, program, stage, *device);
  const EmulatedRankProgram held{
      .program = program, .plan = plan, .times = times, .scale = options.scale, .place = place};
  SleepingOperatorRunner performer(held, groups);
  StageStepExecutor executor(program, stage, performer, RankStreams::Compute::kThread, *device);
  tell_failure(world.watch, [&] {
    begin_together(groups, world.watch);
    hold_steps(executor, held, options, world.watch, [&](std::int64_t step, double time_s) {
      report({.step = step, .time_s = time_s, .tokens_per_s = job.tokens() / time_s});
    });
    finish_run_on_all_ranks(groups, world, options);
  });
}

}  // namespace

void run_emulated_rank(const plan::PlannedJob& planned, const TrainOptions& options,
                       const std::string& times, const RankCommunicators::RankWorld& world,
                       const Reporter& report) {
  enable_precise_sleep();
  tell_failure(world.watch, [&] { hold_rank(planned, options, times, world, report); });
}

}  // namespace stepwright::runtime
