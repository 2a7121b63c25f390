#include "stepwright/tune/work_floor.h"

#include <algorithm>
#include <limits>

#include "stepwright/simulate/block_costs.h"
#include "stepwright/step/work.h"

namespace stepwright {
namespace {

double fastest_rate(const Job& job) {
  double rate = 0;
  for (const DType type : {job.precision, storage_type(job.precision)}) {
    const auto found = job.cluster.device.peak_flops.find(type);
    if (found != job.cluster.device.peak_flops.end()) rate = std::max(rate, found->second);
  }
  return rate;
}

bool counts_at_peak(const Operator& op) {
  return op.kind == OperatorKind::kGroupedLinear || op.kind == OperatorKind::kAttention ||
         (op.kind == OperatorKind::kLinear && op.routed);
}

/// Computations that every choice makes at least as large: they depend on the rows of a rank alone.
bool counts_in_full(const Operator& op) {
  if (op.routed) return false;
  switch (op.kind) {
    case OperatorKind::kLinear:
    case OperatorKind::kNorm:
    case OperatorKind::kActivation:
    case OperatorKind::kAdd:
    case OperatorKind::kDropout: return true;
    default: return false;
  }
}

/// Blocking messages of tensor parallelism; where ranks lie the same way in every plan.
bool is_blocking(const Operator& op) {
  return op.group == GroupKind::kTensor && op.stream == Stream::kCompute;
}

Work least(const Work& a, const Work& b) {
  Work out;
  for (std::size_t i = 0; i < a.layers_s.size(); ++i) {
    out.layers_s[i] = std::min(a.layers_s[i], b.layers_s[i]);
    out.least_layer_s[i] = std::min(a.least_layer_s[i], b.least_layer_s[i]);
  }
  out.head_s = std::min(a.head_s, b.head_s);
  return out;
}

}  // namespace

double WorkFloor::seconds(const BlockPair& pair, const Layouts& layouts) const {
  const double rate = fastest_rate(job_);
  double sum = 0;
  for (const Template* piece : {&pair.forward, &pair.backward}) {
    for (const Operator& op : piece->operators) {
      if (counts_at_peak(op)) {
        sum += rate > 0 ? op.repeats * flops(op) / rate : 0;
      } else if (counts_in_full(op)) {
        sum += op.repeats * cost_.compute_s(op);
      } else if (one_order_ && is_communication(op.kind) && is_blocking(op)) {
        sum += cost_.price(op, layouts, Algorithm::kRing).seconds;
      }
    }
  }
  return sum;
}

Work WorkFloor::build(const Plan& plan) const {
  const Setting setting = make_setting(job_, plan);
  const Layouts layouts = group_layouts(job_.cluster, Grid(plan));
  std::map<std::size_t, std::array<double, 3>> of_class;
  std::vector<LayerClass> classes;
  Work work;
  work.least_layer_s.fill(std::numeric_limits<double>::infinity());
  for (std::int64_t i = 0; i < job_.model.layers; ++i) {
    const LayerClass which = job_.model.layer_class(i);
    const auto found = std::find(classes.begin(), classes.end(), which);
    const auto index = static_cast<std::size_t>(found - classes.begin());
    if (found == classes.end()) {
      classes.push_back(which);
      const double none = seconds(build_layer(setting, which, RecomputeKind::kNone), layouts);
      const double full = seconds(build_layer(setting, which, RecomputeKind::kFull), layouts);
      of_class[index] = {none, none, std::max(none, full)};
    }
    for (std::size_t kind = 0; kind < 3; ++kind) {
      work.layers_s[kind] += of_class[index][kind];
      work.least_layer_s[kind] = std::min(work.least_layer_s[kind], of_class[index][kind]);
    }
  }
  work.head_s = seconds(build_head(setting, false), layouts);
  return work;
}

const Work& WorkFloor::work(const Plan& plan) {
  const Parallel& size = plan.parallel;
  const std::int64_t tokens = plan.micro_batch * (job_.length / size.context);
  const auto [entry, fresh] = known_.try_emplace({size.tensor, tokens});
  if (!fresh) return entry->second;
  Plan plain = plan;
  plain.parallel.expert = plain.parallel.expert_tensor = 1;
  plain.sharding = Sharding{};
  plain.context_kind = ContextKind::kRing;
  plain.tensor_input = TensorInput::kKeep;  // fewer messages
  plain.overlap = Overlap{};
  plain.overlap.tensor = overlaps_;
  plain.sequence_parallel = false;
  entry->second = build(plain);
  if (size.tensor > 1 && job_.length / size.context % size.tensor == 0) {
    plain.sequence_parallel = true;
    entry->second = least(entry->second, build(plain));
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
  if (choice.layers.empty()) {
    // The position with the head has at least the smaller share of the layers.
    const std::int64_t share = layers / (pipeline * choice.schedule.chunks);
    slowest = std::max(
        slowest, work.head_s + static_cast<double>(share) * chunks * work.least_layer_s[recompute]);
  }
  return {.price_s = slowest * (m - 1 / chunks) + all / chunks, .simulated_s = m * slowest};
}

}  // namespace stepwright
