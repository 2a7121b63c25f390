#include "stepwright/tune/work_floor.h"

#include <algorithm>
#include <limits>

#include "stepwright/simulate/block_costs.h"

namespace stepwright {
namespace {

/// Computations that every choice makes at least as large: they depend on the rows of a rank alone.
bool counts_in_full(const Operator& op) {
  switch (op.kind) {
    case OperatorKind::kLinear: return !op.routed;
    case OperatorKind::kNorm:
    case OperatorKind::kActivation:
    case OperatorKind::kAdd:
    case OperatorKind::kDropout:
    case OperatorKind::kTopK:
    case OperatorKind::kPermute:
    case OperatorKind::kUnpermute: return true;
    default: return false;
  }
}

/// Rows on the busiest rank are whole numbers: expert-tensor parallelism can round them down by one.
double whole_rows(const Operator& op) {
  if (!op.routed) return 1;
  return 1 - 1 / static_cast<double>(std::max<std::int64_t>(1, op.shape.rows));
}

/// Products of routed rows as if they had a single expert's weights, which is what no degree of
/// expert parallelism goes below.
double grouped_s(const CostModel& cost, Operator op) {
  op.shape.batch = 0;
  return cost.compute_s(op) * whole_rows(op);
}

/// Fused attention by the pairs that it computes, which no way to cut the context changes: without
/// what short queries waste, nor what every kernel pays.
double attention_s(const CostModel& cost, Operator op) {
  op.shape.queries = 0;
  const double whole = cost.compute_s(op);
  op.shape.pairs = 0;
  return std::max(0.0, whole - cost.compute_s(op));
}

Work least(const Work& a, const Work& b) {
  Work out;
  for (std::size_t i = 0; i < a.layers_s.size(); ++i) {
    out.layers_s[i] = std::min(a.layers_s[i], b.layers_s[i]);
    out.least_layer_s[i] = std::min(a.least_layer_s[i], b.least_layer_s[i]);
  }
  out.head_s = std::min(a.head_s, b.head_s);
  out.least_retained_bytes = std::min(a.least_retained_bytes, b.least_retained_bytes);
  out.size = a.size;
  return out;
}

double saved_bytes(const Template& piece) {
  double bytes = 0;
  for (const TensorId id : piece.saved) {
    bytes += static_cast<double>(piece.tensors[static_cast<std::size_t>(id)].bytes());
  }
  return bytes;
}

/// Whether the message's group lies alike in all plans of the degrees that are known.
bool message_counts(const Operator& op, bool any_expert) {
  if (op.scheme == Scheme::kTensor) return true;
  return op.scheme == Scheme::kExpert && !any_expert;
}

}  // namespace

double WorkFloor::seconds(const Operator& op, const Layouts& layouts, bool any_expert) const {
  if (is_communication(op.kind)) {
    if (!one_order_ || !message_counts(op, any_expert)) return 0;
    return cost_.price(op, layouts, Algorithm::kRing).seconds;
  }
  const double repeats = op.repeats;
  if (op.kind == OperatorKind::kAttention) return repeats * attention_s(cost_, op);
  if (op.kind == OperatorKind::kGroupedLinear) {
    return repeats * (any_expert ? grouped_s(cost_, op) : cost_.compute_s(op));
  }
  if (!counts_in_full(op)) return 0;
  return repeats * cost_.compute_s(op) * (any_expert ? whole_rows(op) : 1);
}

double WorkFloor::seconds(const BlockPair& pair, const Layouts& layouts, bool any_expert) {
  double sum = 0;
  for (const Template* piece : {&pair.forward, &pair.backward}) {
    times_.clear();
    for (const Operator& op : piece->operators) {
      times_.push_back({.seconds = seconds(op, layouts, any_expert), .link = LinkClass::kNone});
    }
    sum += chain_seconds(*piece, times_, ends_);
  }
  return sum;
}

Work WorkFloor::build(const Plan& plan, bool any_expert) {
  const Setting setting = make_setting(job_, plan);
  const Layouts layouts = group_layouts(job_.cluster, Grid(plan));
  std::map<std::size_t, std::array<double, 3>> of_class;
  std::vector<LayerClass> classes;
  std::vector<UnitSize> sizes;
  Work work;
  work.least_layer_s.fill(std::numeric_limits<double>::infinity());
  work.least_retained_bytes = std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < job_.model.layers; ++i) {
    const LayerClass which = job_.model.layer_class(i);
    const auto found = std::find(classes.begin(), classes.end(), which);
    const auto index = static_cast<std::size_t>(found - classes.begin());
    if (found == classes.end()) {
      classes.push_back(which);
      sizes.push_back(unit_size(local_layer_parameters(setting, which)));
      const BlockPair full = build_layer(setting, which, RecomputeKind::kFull);
      const double none_s =
          seconds(build_layer(setting, which, RecomputeKind::kNone), layouts, any_expert);
      const double full_s = seconds(full, layouts, any_expert);
      of_class[index] = {none_s, none_s, std::max(none_s, full_s)};
      work.least_retained_bytes = std::min(work.least_retained_bytes, saved_bytes(full.forward));
    }
    work.size += sizes[index];
    for (std::size_t kind = 0; kind < 3; ++kind) {
      work.layers_s[kind] += of_class[index][kind];
      work.least_layer_s[kind] = std::min(work.least_layer_s[kind], of_class[index][kind]);
    }
  }
  work.head_s = seconds(build_head(setting, false), layouts, any_expert);
  work.size += unit_size(local_embedding_parameters(setting));
  work.size += unit_size(local_head_parameters(setting, false));
  return work;
}

const Work& WorkFloor::rough(const Plan& plan) {
  const std::int64_t tokens = plan.micro_batch * (job_.length / plan.parallel.context);
  return remembered({plan.parallel.tensor, tokens, 0, 0}, plan);
}

const Work& WorkFloor::work(const Plan& plan) {
  const Parallel& size = plan.parallel;
  const std::int64_t tokens = plan.micro_batch * (job_.length / size.context);
  return remembered({size.tensor, tokens, size.expert, size.expert_tensor}, plan);
}

const Work& WorkFloor::remembered(const Key& key, const Plan& plan) {
  const auto [entry, fresh] = known_.try_emplace(key);
  if (!fresh) return entry->second;
  const Parallel& size = plan.parallel;
  const bool any_expert = key[2] == 0;
  Plan plain = plan;
  if (any_expert) plain.parallel.expert = plain.parallel.expert_tensor = 1;
  plain.sharding = Sharding{};
  plain.context_kind = ContextKind::kAllGather;  // one kernel
  plain.tensor_input = TensorInput::kKeep;       // fewer messages
  plain.overlap = Overlap{};
  plain.overlap.tensor = overlaps_tensor_;
  plain.overlap.expert = overlaps_expert_;
  const bool experts = plain.parallel.expert * plain.parallel.expert_tensor > 1;
  const bool can = size.tensor > 1 && job_.length / size.context % size.tensor == 0;
  plain.sequence_parallel = can && experts;
  entry->second = build(plain, any_expert);
  if (can && !experts) {
    plain.sequence_parallel = true;
    entry->second = least(entry->second, build(plain, any_expert));
  }
  return entry->second;
}

// NOLINTNEXTLINE(readability-function-size): factors of one formula
StageFloor stage_floor(const Work& work, std::size_t recompute, const StageChoice& choice,
                       std::int64_t pipeline, std::int64_t micro_batches, std::int64_t layers) {
  const auto p = static_cast<double>(pipeline);
  const auto m = static_cast<double>(micro_batches);
  const auto chunks = static_cast<double>(choice.schedule.chunks);
  const double all = work.layers_s[recompute] + work.head_s;
  double slowest = all / p;
  double last = 0;
  if (choice.layers.empty()) {
    // The position with the head has at least the smaller share of the layers.
    const auto share = static_cast<double>(layers / (pipeline * choice.schedule.chunks));
    const double chunk = share * work.least_layer_s[recompute];
    slowest = std::max(slowest, work.head_s + chunks * chunk);
    // It starts when a micro-batch has come through a chunk of each other position, and its last
    // backward has as far to go.
    last = m * (work.head_s + chunks * chunk) + (p - 1) * chunk;
  }
  return {.price_s = slowest * (m - 1 / chunks) + all / chunks,
          .simulated_s = std::max(m * slowest, last)};
}

}  // namespace stepwright
