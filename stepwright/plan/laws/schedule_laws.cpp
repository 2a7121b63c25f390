#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include "stepwright/plan/laws/laws.h"
#include "stepwright/plan/laws/repair.h"
#include "stepwright/plan/placement.h"

namespace stepwright {
namespace {

bool interleaved(const Plan& plan) { return plan.schedule.kind == ScheduleKind::kInterleaved; }

/// The plan without virtual stages.
Plan plain(Plan plan) {
  plan.schedule = {.kind = ScheduleKind::kOneForwardOneBackward, .chunks = 1};
  return plan;
}

/// Chunks per pipeline rank that leave a layer to each, from 1 on.
std::vector<std::int64_t> possible_chunks(const Job& job, const Plan& plan) {
  const std::int64_t most = job.model.layers / plan.parallel.pipeline;
  std::vector<std::int64_t> chunks(static_cast<std::size_t>(most));
  std::iota(chunks.begin(), chunks.end(), 1);
  return chunks;
}

// --- Layers. ---

bool too_many_stages(const Job& job, const Plan& plan) {
  return plan.schedule.chunks > job.model.layers / plan.parallel.pipeline;
}

std::string stages_values(const Job& job, const Plan& plan) {
  return fmt::format("pipeline {} x chunks {} are more than the {} layers", plan.parallel.pipeline,
                     plan.schedule.chunks, job.model.layers);
}

void repair_stages(Repairs& repairs) {
  repairs.values(kChunksKnob, possible_chunks(repairs.job(), repairs.plan()));
  repairs.values(kPipelineKnob, legal_pipeline_sizes(repairs.job()));
}

bool wrong_split(const Job& job, const Plan& plan) {
  if (plan.layers.empty()) return false;
  const std::int64_t chunks = placement_of(plan).model_chunks();
  if (std::ssize(plan.layers) != chunks) return true;
  std::int64_t rest = job.model.layers;
  for (const std::int64_t layers : plan.layers) {
    if (layers < 1 || layers > rest) return true;
    rest -= layers;
  }
  return rest != 0;
}

std::string split_values(const Job& job, const Plan& plan) {
  return fmt::format(
      "layers [{}] do not split {} layers into {} chunks (pipeline {} x chunks {}) of 1 or more",
      fmt::join(plan.layers, ", "), job.model.layers, placement_of(plan).model_chunks(),
      plan.parallel.pipeline, plan.schedule.chunks);
}

void repair_split(Repairs& repairs) {
  Plan plan = repairs.plan();
  plan.layers.clear();
  repairs.plans({plan});
}

// --- Interleaving. ---

bool chunks_not_interleaved(const Job& /*job*/, const Plan& plan) {
  return plan.schedule.chunks > 1 && !interleaved(plan);
}

std::string chunks_values(const Job& /*job*/, const Plan& plan) {
  return fmt::format("{} chunks need the interleaved schedule, and it is {}", plan.schedule.chunks,
                     name_of(kScheduleNames, plan.schedule.kind));
}

void repair_chunks(Repairs& repairs) {
  Plan one = repairs.plan();
  one.schedule.chunks = 1;
  Plan more = repairs.plan();
  more.schedule.kind = ScheduleKind::kInterleaved;
  repairs.plans({one, more});
}

bool one_chunk_interleaved(const Job& /*job*/, const Plan& plan) {
  return interleaved(plan) && plan.schedule.chunks == 1;
}

std::string one_chunk_values(const Job& /*job*/, const Plan& /*plan*/) {
  return "an interleaved schedule has at least 2 chunks, and chunks is 1";
}

void repair_one_chunk(Repairs& repairs) {
  Plan two = repairs.plan();
  two.schedule.chunks = 2;
  repairs.plans({plain(repairs.plan()), two});
}

bool interleaved_alone(const Job& /*job*/, const Plan& plan) {
  return interleaved(plan) && plan.parallel.pipeline == 1;
}

std::string interleaved_alone_values(const Job& /*job*/, const Plan& /*plan*/) {
  return "an interleaved schedule needs a pipeline, and pipeline is 1";
}

void repair_to_plain(Repairs& repairs) { repairs.plans({plain(repairs.plan())}); }

bool zero_bubble_alone(const Job& /*job*/, const Plan& plan) {
  return plan.schedule.kind == ScheduleKind::kZeroBubbleH1 && plan.parallel.pipeline == 1;
}

std::string zero_bubble_alone_values(const Job& /*job*/, const Plan& /*plan*/) {
  return "a zero-bubble schedule needs a pipeline, and pipeline is 1";
}

// --- Batch. ---

bool batch_cut(const Job& job, const Plan& plan) {
  const std::int64_t data = plan.parallel.data;
  return job.sequences % data != 0 || job.sequences / data % plan.micro_batch != 0;
}

std::string batch_values(const Job& job, const Plan& plan) {
  return fmt::format("{} sequences are not a multiple of data {} x micro_batch {}", job.sequences,
                     plan.parallel.data, plan.micro_batch);
}

void repair_batch(Repairs& repairs) {
  const Job& job = repairs.job();
  repairs.values(kMicroBatchKnob, legal_micro_batches(job, repairs.plan().parallel.data));
  repairs.values(kDataKnob, divisors(std::gcd(job.sequences, job.cluster.devices())));
}

bool rounds_cut(const Job& job, const Plan& plan) {
  return interleaved(plan) && micro_batches(job, plan) % plan.parallel.pipeline != 0;
}

std::string rounds_values(const Job& job, const Plan& plan) {
  return fmt::format("{} micro-batches are not a multiple of pipeline {} (interleaved)",
                     micro_batches(job, plan), plan.parallel.pipeline);
}

void repair_rounds(Repairs& repairs) {
  repairs.values(kMicroBatchKnob, legal_micro_batches(repairs.job(), repairs.plan().parallel.data));
  repair_to_plain(repairs);
}

constexpr Law kScheduleLaws[] = {
    {Rule::kStagesWithinLayers, too_many_stages, stages_values, repair_stages},
    {Rule::kLayerSplit, wrong_split, split_values, repair_split},
    {Rule::kChunksNeedInterleaving, chunks_not_interleaved, chunks_values, repair_chunks},
    {Rule::kInterleavingNeedsChunks, one_chunk_interleaved, one_chunk_values, repair_one_chunk},
    {Rule::kInterleavingNeedsPipeline, interleaved_alone, interleaved_alone_values,
     repair_to_plain},
    {Rule::kZeroBubbleNeedsPipeline, zero_bubble_alone, zero_bubble_alone_values, repair_to_plain},
    {Rule::kBatchDivides, batch_cut, batch_values, repair_batch},
    {Rule::kInterleavingNeedsGroups, rounds_cut, rounds_values, repair_rounds}};

}  // namespace

std::span<const Law> schedule_laws() { return kScheduleLaws; }

}  // namespace stepwright
