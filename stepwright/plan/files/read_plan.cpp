#include <fmt/format.h>

#include "stepwright/plan/files.h"
#include "stepwright/plan/files/read_choices.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/grid.h"
#include "stepwright/plan/legality.h"
#include "stepwright/plan/placement.h"

namespace stepwright {
namespace {

Parallel read_parallel(Node node) {
  node.allow_only(kDegreeKeys);
  Parallel parallel;
  const auto read = [node](std::string_view key, std::int64_t& degree) {
    if (const auto given = node.find(key)) degree = read_degree(*given);
  };
  read("tensor", parallel.tensor);
  read("pipeline", parallel.pipeline);
  read("context", parallel.context);
  read("expert", parallel.expert);
  read("expert_tensor", parallel.expert_tensor);
  read("data", parallel.data);
  return parallel;
}

/// Bytes that a file may let a position keep: more than there are.
constexpr std::int64_t kMostKeptBytes = std::int64_t{1} << 50;

/// Chunks where a file says nothing: the only number of the kind, or 1.
std::int64_t usual_chunks(ScheduleKind kind) {
  return has_chunk_choice(kind) ? 1 : traits_of(kind).least_chunks;
}

/// What `read` makes of each entry of a list.
template <class Read>
auto read_each(Node node, std::string_view what, Read read) {
  std::vector<decltype(read(node))> values;
  if (!node.is_sequence()) node.fail(fmt::format("must be a list, one entry for each {}", what));
  for (std::size_t i = 0; i < node.size(); ++i) values.push_back(read(node.at(i)));
  return values;
}

std::int64_t read_kept(Node node) { return node.integer(0, kMostKeptBytes); }

/// Durations of each chunk, and what it keeps.
std::vector<ChunkLoad> read_loads(Node durations, Node kept) {
  std::vector<ChunkLoad> chunks = read_each(durations, "chunk", [](Node chunk) {
    if (!chunk.is_sequence() || chunk.size() != 4)
      chunk.fail("must be [forward, data gradients, weight gradients, whole backward]");
    return ChunkLoad{.forward_ns = read_nanoseconds(chunk.at(0)),
                     .data_ns = read_nanoseconds(chunk.at(1)),
                     .weight_ns = read_nanoseconds(chunk.at(2)),
                     .backward_ns = read_nanoseconds(chunk.at(3))};
  });
  if (!kept.is_sequence() || kept.size() != chunks.size())
    kept.fail("must be a list with an entry for each of durations_ns");
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const Node chunk = kept.at(i);
    if (!chunk.is_sequence() || chunk.size() != 2)
      chunk.fail("must be [until the backward, until the weight gradients]");
    chunks[i].forward_bytes = read_kept(chunk.at(0));
    chunks[i].weight_bytes = read_kept(chunk.at(1));
  }
  return chunks;
}

Schedule read_schedule(Node node) {
  Schedule schedule;
  if (!node.is_mapping()) {
    schedule.kind = read_schedule_kind(node);
    schedule.chunks = usual_chunks(schedule.kind);
    return schedule;
  }
  node.allow_only({"kind", "chunks", "strands", "placement", "durations_ns", "kept_bytes", "hop_ns",
                   "room_bytes"});
  if (const auto kind = node.find("kind")) schedule.kind = read_schedule_kind(*kind);
  schedule.chunks = usual_chunks(schedule.kind);
  if (const auto chunks = node.find("chunks")) schedule.chunks = read_degree(*chunks);
  if (const auto strands = node.find("strands")) schedule.strands = read_strands(*strands);
  const auto durations = node.find("durations_ns");
  if (!durations) return schedule;
  if (!traits_of(schedule.kind).found) durations->fail("only the schedule auto has durations");
  schedule.basis = {.chunks = read_loads(*durations, node.get("kept_bytes")),
                    .hop_ns = read_nanoseconds(node.get("hop_ns")),
                    .room_bytes = read_each(node.get("room_bytes"), "position", read_kept)};
  if (const auto placement = node.find("placement")) {
    schedule.basis.placement = placement->choice(kFoundPlacements);
  }
  return schedule;
}

/// Fails unless an order is settled for the chunks and positions that there are.
void check_basis(Node node, const Plan& plan) {
  const OrderBasis& basis = plan.schedule.basis;
  if (basis.chunks.empty() || fits_plan(basis, plan)) return;
  node.fail(
      fmt::format("durations_ns has {} chunks and room_bytes {} positions, and the plan has {} and "
                  "{}; without durations_ns, kept_bytes, hop_ns and room_bytes an order is found "
                  "anew",
                  basis.chunks.size(), basis.room_bytes.size(), placement_of(plan).model_chunks(),
                  plan.parallel.pipeline));
}

/// Whether the ranks are those of the cluster, so that groups in a node can be counted.
bool fills_cluster(const Job& job, const Plan& plan) {
  const Parallel& degrees = plan.parallel;
  std::int64_t rest = job.cluster.devices();
  for (const std::int64_t size :
       {degrees.tensor, degrees.context, degrees.data, degrees.pipeline}) {
    if (rest % size != 0) return false;
    rest /= size;
  }
  return rest == 1 && degrees.expert_data() > 0;
}

/// The group as given; where it is the word `node`, which is also the default, `in_node`.
std::int64_t resolve_group(std::optional<Node> given, std::int64_t in_node) {
  const std::int64_t group = given ? read_group(*given) : kNodeGroup;
  return group == kNodeGroup ? in_node : group;
}

void read_sharding(Node node, const Job& job, Plan& plan, Notes& notes) {
  const bool mapping = node.is_mapping();
  if (mapping) node.allow_only({"states", "group", "expert_group"});
  plan.sharding = read_states(mapping ? node.get("states") : node, notes);
  const auto find = [&](std::string_view key) {
    return mapping ? node.find(key) : std::optional<Node>();
  };
  const bool used = plan.sharding.uses(Spread::kInner);
  const bool routed = used && job.model.experts.has_value();
  // Without a grid the plan is not legal, and nothing can be counted.
  const bool grid = fills_cluster(job, plan);
  plan.sharding.group =
      resolve_group(find("group"), used && grid ? node_sharding_group(job.cluster, plan) : 1);
  plan.sharding.expert_group = resolve_group(
      find("expert_group"), routed && grid ? node_expert_group(job.cluster, plan) : 1);
}

void read_buckets(Node parent, const Job& job, Plan& plan) {
  const Buckets usual = default_buckets(job, plan);
  plan.gradient_bucket = usual.gradients;
  plan.parameter_bucket = usual.parameters;
  const auto node = parent.find("buckets");
  if (!node) return;
  node->allow_only({"gradients", "parameters"});
  if (const auto size = node->find("gradients")) plan.gradient_bucket = read_bucket(*size);
  if (const auto size = node->find("parameters")) plan.parameter_bucket = read_bucket(*size);
}

void read_cuts(Node node, const Job& job, Plan& plan) {
  if (const auto given = node.find("sequence_parallel")) plan.sequence_parallel = read_flag(*given);
  if (plan.sequence_parallel) plan.tensor_input = default_tensor_input(job);
  if (const auto given = node.find("tensor_input")) plan.tensor_input = read_tensor_input(*given);
  if (const auto given = node.find("context_kind")) plan.context_kind = read_context_kind(*given);
}

Plan read_choices(Node node, FileVersion version, const Job& job, Notes& notes) {
  Plan plan;
  plan.accumulate = default_gradients(job);
  if (const auto given = node.find("parallel")) plan.parallel = read_parallel(*given);
  if (const auto given = node.find("rank_order")) plan.rank_order = read_rank_order(*given);
  read_cuts(node, job, plan);
  if (const auto given = node.find("micro_batch")) plan.micro_batch = read_degree(*given);
  if (const auto given = node.find("schedule")) {
    plan.schedule = read_schedule(*given);
    check_basis(*given, plan);
  }
  plan.layers = default_layers(job, plan);
  if (const auto given = node.find("layers")) plan.layers = read_layers(*given);
  if (const auto given = node.find("sharding")) read_sharding(*given, job, plan, notes);
  if (const auto given = node.find("recompute")) plan.recompute = read_recompute(*given);
  if (const auto given = node.find("accumulate")) plan.accumulate = read_accumulate(*given);
  plan.overlap = default_overlap(job, plan);
  if (const auto given = node.find("overlap")) plan.overlap = read_overlap(*given, plan.overlap);
  read_buckets(node, job, plan);
  if (const auto given = node.find("collectives")) {
    plan.collectives = read_collectives(*given, version);
  }
  if (const auto given = node.find("offload")) read_offload(*given);
  return plan;
}

/// Version 1 let the library carry out what its two algorithms could not, and refused nothing.
void settle_collectives(PlannedJob& planned) {
  Algorithm& data = planned.plan.collectives.data;
  if (data != Algorithm::kTwoLevel && data != Algorithm::kHoRing) return;
  if (broken_rule(planned.job, planned.plan) == Rule::kDataCollectives) data = Algorithm::kLibrary;
}

}  // namespace

PlannedJob read_plan(const Document& document, const std::filesystem::path& directory) {
  const Node root = document.root();
  const FileVersion version = read_version(root, "plan");
  allow_keys(root, {kPlanFileKeys, kPlanKeys});
  PlannedJob planned;
  const Node job = root.get("job");
  planned.job = read_job_mapping(job, directory, version);
  planned.plan = read_choices(root, version, planned.job, planned.job.notes);
  if (version == FileVersion::kOne) settle_collectives(planned);
  return planned;
}

PlannedJob load_plan(const std::filesystem::path& path) {
  return read_plan(Document::load(path), path.parent_path());
}

}  // namespace stepwright
