#include "stepwright/study/schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "stepwright/core/error.h"
#include "stepwright/plan/laws/laws.h"
#include "stepwright/schedule/found/all_turns.h"
#include "stepwright/schedule/found/found.h"
#include "stepwright/schedule/turn_play.h"

namespace stepwright::study {
namespace {

/// A time of a stage, and the option that sets it.
struct StageTime {
  const char* option;
  double seconds;
  bool may_be_none = false;
};

void check_times(const schedule::UniformPipeline& pipeline) {
  const StageTime times[] = {{"--forward", pipeline.forward_s},
                             {"--backward", pipeline.backward_s},
                             {"--weight", pipeline.weight_s, true},
                             {"--paired", pipeline.paired_s.value_or(0), true}};
  StageTime shortest = times[0];
  StageTime longest = times[0];
  for (const StageTime& time : times) {
    const bool known = time.may_be_none ? time.seconds >= 0 : time.seconds > 0;
    if (!known || !(time.seconds <= kLongestStage)) {
      fail_input(fmt::format("{}: {} s is not a time {} 0, at most {:.0f} s", time.option,
                             time.seconds, time.may_be_none ? "from" : "above", kLongestStage));
    }
    if (time.seconds == 0) continue;
    if (time.seconds < shortest.seconds) shortest = time;
    if (time.seconds > longest.seconds) longest = time;
  }
  if (longest.seconds <= kLargestRatio * shortest.seconds) return;
  fail_input(fmt::format("{}: {} s is more than {:.0f} times the {} s of {}", longest.option,
                         longest.seconds, kLargestRatio, shortest.seconds, shortest.option));
}

void check(const schedule::UniformPipeline& pipeline) {
  if (pipeline.stages < 1 || pipeline.stages > kMostStages) {
    fail_input(
        fmt::format("--stages: must be from 1 to {}; it is {}", kMostStages, pipeline.stages));
  }
  if (pipeline.micro_batches < 1) {
    fail_input(
        fmt::format("--micro-batches: must be at least 1; it is {}", pipeline.micro_batches));
  }
  if (pipeline.chunks < 2) {
    fail_input(
        fmt::format("--chunks: must be at least 2, as in schedules with several chunks; it is {}",
                    pipeline.chunks));
  }
  check_times(pipeline);
  if (pipeline.weight_s > pipeline.backward_s) {
    fail_input(
        fmt::format("--weight: {} s are more than the {} s of --backward, which includes them",
                    pipeline.weight_s, pipeline.backward_s));
  }
  const std::int64_t most = kMaxStudiedScheduleItems / 3 / pipeline.chunks;
  if (pipeline.stages > most || pipeline.micro_batches > most / pipeline.stages) {
    fail_input(fmt::format("--stages {} x --micro-batches {} x --chunks {} must be at most {}",
                           pipeline.stages, pipeline.micro_batches, pipeline.chunks,
                           kMaxStudiedScheduleItems));
  }
}

/// Returns a plan that has only the pipeline, with a matching job.
plan::PlannedJob bare(const schedule::UniformPipeline& pipeline,
                      const schedule::PipelineSchedule& schedule) {
  plan::PlannedJob bare;
  bare.plan.parallel.pipeline = pipeline.stages;
  bare.plan.schedule = schedule;
  bare.job.model.layers = pipeline.stages * schedule.chunks;
  bare.job.sequences = pipeline.micro_batches;
  return bare;
}

std::string refusal(const plan::PlannedJob& planned) {
  if (schedule::traits_of(planned.plan.schedule.kind).spreads_vocabulary) {
    return "positions share the embedding and the head, of which equal stages have none";
  }
  for (const plan::PlanRuleDefinition& law : plan::pipeline_schedule_rules()) {
    if (law.broken(planned.job, planned.plan)) return law.values(planned.job, planned.plan);
  }
  return {};
}

/// Returns how many chunks a micro-batch passes on each pipeline position: all chunks there, or
/// half of them if every chunk is on two positions, because a micro-batch uses only one of the two.
double passes_of(const schedule::UniformPipeline& pipeline,
                 const schedule::PipelineSchedule& schedule) {
  return static_cast<double>(
             schedule::model_chunk_placement(schedule, pipeline.stages).model_chunk_count()) /
         static_cast<double>(pipeline.stages);
}

schedule::PipelineScheduleSeconds seconds_of(const schedule::UniformPipeline& pipeline,
                                             const schedule::PipelineSchedule& schedule) {
  const double chunks = passes_of(pipeline, schedule);
  schedule::ModelChunkWorkSeconds part{.forward = pipeline.forward_s / chunks,
                                       .backward = pipeline.backward_s / chunks,
                                       .data = (pipeline.backward_s - pipeline.weight_s) / chunks,
                                       .weight = pipeline.weight_s / chunks};
  if (pipeline.paired_s) {
    const auto each = static_cast<std::size_t>(schedule.chunks);
    const double whole = *pipeline.paired_s / chunks;
    part.beside.backward.assign(each, whole);
    part.beside.data.assign(each, std::max({part.forward, part.data, whole - part.weight}));
  }
  const std::vector<schedule::ModelChunkWorkSeconds> position(
      static_cast<std::size_t>(schedule.chunks), part);
  return {.parts = {static_cast<std::size_t>(pipeline.stages), position}, .hop_s = 0};
}

void time_turns(PipelineScheduleSimulation& play,
                const schedule::PipelineScheduleSeconds& seconds) {
  for (std::size_t position = 0; position < play.turns.size(); ++position) {
    std::vector<double>& starts = play.starts_s.emplace_back();
    double busy_s = 0;
    for (std::size_t i = 0; i < play.turns[position].size(); ++i) {
      const double turn_s = seconds.of(position, play.turns[position][i]);
      starts.push_back(play.ends_s[position][i] - turn_s);
      busy_s += turn_s;
    }
    play.idle_s.push_back(play.makespan_s - busy_s);
  }
}

std::vector<schedule::Turns> turns_of(const schedule::UniformPipeline& pipeline,
                                      const schedule::PipelineSchedule& schedule,
                                      const schedule::PipelineScheduleSeconds& seconds) {
  if (!schedule::traits_of(schedule.kind).found) {
    return schedule::schedule_turns_of_positions(schedule, pipeline.stages, pipeline.micro_batches);
  }
  return schedule::find_shortest_schedule_turns(schedule::activation_limited_pipeline(
      schedule::model_chunk_placement(schedule, pipeline.stages), pipeline.micro_batches, seconds,
      static_cast<double>(pipeline.stages)));
}

PipelineScheduleSimulation play_of(const schedule::UniformPipeline& pipeline,
                                   const schedule::PipelineSchedule& schedule) {
  PipelineScheduleSimulation play;
  play.schedule = schedule;
  const plan::PlannedJob planned = bare(pipeline, schedule);
  play.refused = refusal(planned);
  if (!play.refused.empty()) return play;
  const schedule::PipelineScheduleSeconds seconds = seconds_of(pipeline, schedule);
  play.turns = turns_of(pipeline, schedule, seconds);
  schedule::ScheduleTurnSimulator player;
  play.ends_s =
      player.turn_end_seconds(play.turns, plan::model_chunk_placement(planned.plan), seconds);
  play.makespan_s = schedule::makespan_s(play.ends_s);
  time_turns(play, seconds);
  play.peak_activations =
      schedule::peak_kept_micro_batches_by_position(play.turns, passes_of(pipeline, schedule));
  schedule::UniformPipeline chunked = pipeline;
  chunked.chunks = schedule.chunks;
  play.closed_form_s = schedule::schedule_closed_form_s(schedule.kind, chunked);
  return play;
}

}  // namespace

std::vector<PipelineScheduleSimulation> study_pipeline_schedules(
    const schedule::UniformPipeline& pipeline, bool finds) {
  check(pipeline);
  std::vector<PipelineScheduleSimulation> plays;
  for (const auto& [kind, name] : schedule::kScheduleKindNames) {
    const bool found = schedule::traits_of(kind).found;
    if (found && !finds) continue;
    const schedule::ChunksPerPositionRange range = schedule::chunk_range(kind, pipeline.stages);
    const std::int64_t chunks = std::clamp(pipeline.chunks, range.least, range.most);
    plays.push_back(play_of(pipeline, {.kind = kind, .chunks = chunks}));
    if (!found || range.least == range.most) continue;
    PipelineScheduleSimulation straight = play_of(pipeline, {.kind = kind, .chunks = range.least});
    const bool shorter = straight.makespan_s < plays.back().makespan_s;
    if (straight.refused.empty() && shorter) plays.back() = std::move(straight);
  }
  return plays;
}

nlohmann::ordered_json schedules_study_json(const std::vector<PipelineScheduleSimulation>& plays) {
  auto schedules = nlohmann::ordered_json::array();
  for (const PipelineScheduleSimulation& play : plays) {
    nlohmann::ordered_json entry{
        {"schedule", name_of(schedule::kScheduleKindNames, play.schedule.kind)}};
    if (!play.refused.empty()) {
      entry["refused"] = play.refused;
    } else {
      entry["chunks"] = play.schedule.chunks;
      entry["makespan_s"] = play.makespan_s;
      entry["idle_s"] = play.idle_s;
      entry["peak_activations"] = play.peak_activations;
      if (play.closed_form_s) entry["closed_form_s"] = *play.closed_form_s;
    }
    schedules.push_back(std::move(entry));
  }
  return {{"schedules", std::move(schedules)}};
}

}  // namespace stepwright::study
