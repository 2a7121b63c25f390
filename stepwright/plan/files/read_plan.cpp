#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stepwright/plan/choices/plan_table.h"
#include "stepwright/plan/choices/read_choices.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/files/read_job.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/grid.h"
#include "stepwright/plan/laws/legality.h"

namespace stepwright::plan {
namespace {

/// Upper limit of the bytes that a file may let a position keep.
constexpr std::int64_t kMostKeptBytes = std::int64_t{1} << 50;

/// Default number of chunks of a schedule kind: the only possible one, or 1.
std::int64_t usual_chunks(schedule::PipelineScheduleKind kind) {
  return schedule::supports_several_chunk_counts(kind) ? 1 : schedule::traits_of(kind).least_chunks;
}

/// Returns the results of `read` for each entry of a list.
template <class Read>
auto read_each(DocumentNode node, std::string_view what, Read read) {
  std::vector<decltype(read(node))> values;
  if (!node.is_sequence()) node.fail(fmt::format("must be a list, one entry for each {}", what));
  for (std::size_t i = 0; i < node.size(); ++i) values.push_back(read(node.at(i)));
  return values;
}

std::int64_t read_kept(DocumentNode node) { return node.integer(0, kMostKeptBytes); }

/// Reads the durations of each chunk, and the bytes that it keeps.
std::vector<schedule::ModelChunkTimeAndMemory> read_loads(DocumentNode durations,
                                                          DocumentNode kept) {
  std::vector<schedule::ModelChunkTimeAndMemory> chunks =
      read_each(durations, "chunk", [](DocumentNode chunk) {
        if (!chunk.is_sequence() || chunk.size() != 4)
          chunk.fail("must be [forward, data gradients, weight gradients, whole backward]");
        return schedule::ModelChunkTimeAndMemory{.forward_ns = read_nanoseconds(chunk.at(0)),
                                                 .data_ns = read_nanoseconds(chunk.at(1)),
                                                 .weight_ns = read_nanoseconds(chunk.at(2)),
                                                 .backward_ns = read_nanoseconds(chunk.at(3))};
      });
  if (!kept.is_sequence() || kept.size() != chunks.size())
    kept.fail("must be a list with an entry for each of durations_ns");
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const DocumentNode chunk = kept.at(i);
    if (!chunk.is_sequence() || chunk.size() != 2)
      chunk.fail("must be [until the backward, until the weight gradients]");
    chunks[i].forward_bytes = read_kept(chunk.at(0));
    chunks[i].weight_bytes = read_kept(chunk.at(1));
  }
  return chunks;
}

constexpr std::string_view kScheduleKeys[] = {"group",      "placement", "durations_ns",
                                              "kept_bytes", "hop_ns",    "room_bytes"};

/// Reads the placement of chunks for which an order is to be found.
void read_placement(DocumentNode node, schedule::PipelineSchedule& schedule) {
  const auto placement = node.is_mapping() ? node.find("placement") : std::nullopt;
  if (!placement) return;
  if (!schedule::traits_of(schedule.kind).found)
    placement->fail("only the schedule auto has a placement");
  if (schedule.chunks == 1) placement->fail("one chunk of a position lies one way: needs chunks 2");
  schedule.placement = placement->choice(schedule::kSearchableChunkPlacements);
}

/// Reads the keys of a schedule that no search chooses.
void read_schedule_rest(DocumentNode node, schedule::PipelineSchedule& schedule) {
  if (!node.is_mapping() || !node.find("chunks")) schedule.chunks = usual_chunks(schedule.kind);
  if (const auto group = node.is_mapping() ? node.find("group") : std::nullopt) {
    if (!schedule::traits_of(schedule.kind).groups) {
      group->fail("only the schedules interleaved and paired have groups of micro-batches");
    }
    schedule.group = read_positive_number(*group);
  }
  const auto durations = node.is_mapping() ? node.find("durations_ns") : std::nullopt;
  if (!durations) return read_placement(node, schedule);
  if (!schedule::traits_of(schedule.kind).found)
    durations->fail("only the schedule auto has durations");
  schedule.basis = {.chunks = read_loads(*durations, node.get("kept_bytes")),
                    .hop_ns = read_nanoseconds(node.get("hop_ns")),
                    .room_bytes = read_each(node.get("room_bytes"), "position", read_kept)};
  if (const auto placement = node.find("placement")) {
    schedule.basis.placement = placement->choice(schedule::kSearchableChunkPlacements);
  }
}

/// Fails unless a found order has the plan's numbers of chunks and positions.
void check_basis(DocumentNode node, const Plan& plan) {
  const schedule::OrderSearchBasis& basis = plan.schedule.basis;
  if (basis.chunks.empty() || schedule::fits(basis, model_chunk_placement(plan))) return;
  node.fail(
      fmt::format("durations_ns has {} chunks and room_bytes {} positions, and the plan has {} and "
                  "{}; without durations_ns, kept_bytes, hop_ns and room_bytes an order is found "
                  "anew",
                  basis.chunks.size(), basis.room_bytes.size(),
                  model_chunk_placement(plan).model_chunk_count(), plan.parallel.pipeline));
}

/// True if the plan's ranks fill the cluster, so that groups inside a node can be counted.
bool fills_cluster(const Job& job, const Plan& plan) {
  const ParallelismDegrees& degrees = plan.parallel;
  std::int64_t rest = job.cluster.devices();
  for (const std::int64_t size :
       {degrees.tensor, degrees.context, degrees.data, degrees.pipeline}) {
    if (rest % size != 0) return false;
    rest /= size;
  }
  return rest == 1 && degrees.expert_data_degree() > 0;
}

/// Replaces the word `node`, the default of groups, by the number that it means in this plan.
void resolve_groups(const Job& job, Plan& plan) {
  Sharding& sharding = plan.sharding;
  const bool used = sharding.uses(StateShardingScope::kInner);
  const bool routed = used && job.model.experts.has_value();
  // Without a grid the plan is illegal and its groups cannot be counted.
  const bool grid = fills_cluster(job, plan);
  if (sharding.group == kNodeSizedShardingGroup) {
    sharding.group = used && grid ? node_sharding_group_size(job.cluster, plan) : 1;
  }
  if (sharding.expert_group == kNodeSizedShardingGroup) {
    sharding.expert_group = routed && grid ? node_expert_sharding_group_size(job.cluster, plan) : 1;
  }
}

/// Sets choices that a file leaves out to the framework's defaults; called when all others are
/// known.
void set_defaults(DocumentNode node, const Job& job, Plan& plan) {
  if (plan.sequence_parallel && !node.find("tensor_input")) {
    plan.tensor_input = default_gathered_input_policy(job);
  }
  if (!node.find("layers")) plan.layers = default_stage_layers(job, plan);
  plan.overlap = default_overlap(job, plan);
  if (const auto given = node.find("overlap"))
    plan.overlap = read_overlap_flags(*given, plan.overlap);
  if (!fills_cluster(job, plan)) return;
  if (!node.find("accumulate")) plan.accumulate = default_gradient_type(job, plan);
  const BucketSizes usual = default_bucket_sizes(job, plan);
  if (!find_choice_node(node, "buckets.gradients")) plan.gradient_bucket = usual.gradients;
  if (find_choice_node(node, "buckets.parameters")) return;
  const BucketSizes beside{plan.gradient_bucket, usual.parameters};
  plan.parameter_bucket = fixed_bucket_sizes(job.framework, job, plan, beside).parameters;
}

Plan read_choices(DocumentNode node, const PlanFileReading& reading, const Job& job) {
  Plan plan;
  plan.accumulate = default_gradient_type(job);
  plan.sharding.group = plan.sharding.expert_group = kNodeSizedShardingGroup;
  check_plan_part_keys(node, kScheduleKeys);
  const auto sharding = node.find("sharding");
  if (sharding && sharding->is_mapping()) static_cast<void>(sharding->get("states"));
  each_choice([&](const auto& choice) {
    if (const auto given = find_choice_node(node, choice.place)) {
      put(choice, plan, choice.read(*given, reading));
    }
  });
  if (const auto given = node.find("schedule")) {
    read_schedule_rest(*given, plan.schedule);
    check_basis(*given, plan);
  }
  resolve_groups(job, plan);
  set_defaults(node, job, plan);
  if (const auto given = node.find("collectives")) reject_pipeline_algorithm(*given, reading);
  return plan;
}

/// For files of version 1: sets algorithms that cannot carry out a message to the library, instead
/// of refusing them.
void settle_collectives(PlannedJob& planned) {
  collective::CollectiveAlgorithm& data = planned.plan.collectives.data;
  if (data != collective::CollectiveAlgorithm::kTwoLevel &&
      data != collective::CollectiveAlgorithm::kHoRing)
    return;
  if (first_broken_rule(planned.job, planned.plan) == PlanLegalityRule::kDataCollectives)
    data = collective::CollectiveAlgorithm::kLibrary;
}

}  // namespace

PlannedJob read_plan(const YamlJsonDocument& document, const std::filesystem::path& directory,
                     const TrainingFramework& unsaid) {
  const DocumentNode root = document.root();
  const PlanFileVersion version = read_stepwright_file_version(root, "plan");
  check_plan_key_places(root, kJobFileOnlyKeys);
  check_allowed_keys(root, {kPlanFileKeys, kAllPlanFileKeys});
  PlannedJob planned;
  const DocumentNode job = root.get("job");
  planned.job = read_job_mapping(job, directory, version, unsaid);
  planned.plan = read_choices(root, {version, planned.job.notes}, planned.job);
  if (version == PlanFileVersion::kOne) settle_collectives(planned);
  return planned;
}

PlannedJob load_plan(const std::filesystem::path& path) {
  return read_plan(YamlJsonDocument::load(path), path.parent_path());
}

}  // namespace stepwright::plan
