#include "stepwright/tune/work_lower_bounds.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "stepwright/memory/memory.h"
#include "stepwright/model/layer_class_index.h"
#include "stepwright/plan/layer_split.h"
#include "stepwright/plan/overlap_table.h"
#include "stepwright/simulate/price/block_costs.h"

namespace stepwright::tune {
namespace {

/// True for computations that take at least as long in every choice: they depend only on the rows
/// of a rank.
bool counts_in_full(const step::Operator& op) {
  switch (op.kind) {
    case step::OperatorKind::kLinear: return !op.routed;
    case step::OperatorKind::kNorm:
    case step::OperatorKind::kRotary:
    case step::OperatorKind::kActivation:
    case step::OperatorKind::kAdd:
    case step::OperatorKind::kDropout:
    case step::OperatorKind::kTopK:
    case step::OperatorKind::kPermute:
    case step::OperatorKind::kUnpermute:
    case step::OperatorKind::kGroupedLinear: return true;
    default: return false;
  }
}

/// Returns a factor for rounding: rows on the busiest rank are whole numbers, and expert-tensor
/// parallelism can round them down by one.
double whole_rows(const step::Operator& op) {
  if (!op.routed) return 1;
  return 1 - 1 / static_cast<double>(std::max<std::int64_t>(1, op.shape.rows));
}

/// Returns choices of algorithms, one with each listed algorithm for one scheme; empty list: the
/// library's.
std::vector<plan::CollectiveAlgorithmChoices> each_of(
    const std::vector<collective::CollectiveAlgorithm>& list,
    collective::CollectiveAlgorithm plan::CollectiveAlgorithmChoices::* scheme) {
  std::vector<plan::CollectiveAlgorithmChoices> all;
  for (const collective::CollectiveAlgorithm algorithm : list)
    all.emplace_back().*scheme = algorithm;
  return all.empty() ? std::vector<plan::CollectiveAlgorithmChoices>(1) : all;
}

/// Returns the bytes that a template saves for its backward. `load`: rows of the busiest expert
/// rank over the mean, for routed tensors.
double saved_bytes(const step::OperatorTemplate& piece, double load) {
  double bytes = 0;
  for (const step::TensorId id : piece.saved) {
    const step::TemplateTensor& tensor = piece.tensors[static_cast<std::size_t>(id)];
    bytes += static_cast<double>(tensor.bytes()) * (tensor.routed ? load : 1);
  }
  return bytes;
}

/// The recomputations of layers whose work is bounded.
constexpr plan::LayerRecompute kBoundedRecomputes[] = {plan::kNoRecompute, plan::kCoreRecompute,
                                                       plan::kWholeRecompute};

/// True if the message's group is placed alike in all plans of the known degrees.
bool message_counts(const step::Operator& op, bool any_expert) {
  if (op.scheme == step::ParallelismScheme::kTensor) return true;
  return op.scheme == step::ParallelismScheme::kExpert && !any_expert;
}

}  // namespace

const std::vector<double>& LeastPlanWork::layer_seconds_by_layer_class(
    const plan::LayerRecompute& recompute) const {
  const auto found = std::ranges::find(layers, recompute, &LayerWorkSeconds::recompute);
  return (found == layers.end() ? layers.front() : *found).seconds;
}

double LeastPlanWork::min_retained_activation_bytes(const plan::LayerRecompute& recompute) const {
  const auto found = std::ranges::find(layers, recompute, &LayerWorkSeconds::recompute);
  return found == layers.end() ? least_retained_bytes : found->least_retained_bytes;
}

LeastPlanWork member_wise_minimum(LeastPlanWork a, const LeastPlanWork& b) {
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    LayerWorkSeconds& own = a.layers[i];
    for (std::size_t k = 0; k < own.seconds.size(); ++k) {
      own.seconds[k] = std::min(own.seconds[k], b.layers[i].seconds[k]);
      own.stream_s[k] = std::min(own.stream_s[k], b.layers[i].stream_s[k]);
      own.chain_s[k] = std::min(own.chain_s[k], b.layers[i].chain_s[k]);
    }
    own.least_retained_bytes = std::min(own.least_retained_bytes, b.layers[i].least_retained_bytes);
  }
  a.head_s = std::min(a.head_s, b.head_s);
  a.least_retained_bytes = std::min(a.least_retained_bytes, b.least_retained_bytes);
  return a;
}

const LeastPlanWork& LeastPlanWorkCache::get(const Key& key,
                                             const std::function<LeastPlanWork()>& compute) {
  Entry& entry = [&]() -> Entry& {
    const std::lock_guard lock(mutex_);
    return entries_[key];
  }();
  std::call_once(entry.once, [&] { entry.work = compute(); });
  return entry.work;
}

WorkLowerBounds::WorkLowerBounds(const plan::Job& job, const cost::CostModel& cost,
                                 std::shared_ptr<LeastPlanWorkCache> works)
    : job_(job),
      cost_(cost),
      layers_(job.model),
      held_load_(memory::assumed_expert_load(job)),
      waits_(std::ranges::count(job.space.strands, 2) == 0),
      messages_(job.space.rank_order.empty() && waits_),
      overlap_(plan::overlap_flags_for_lower_bounds(search_space_dimensions(job).overlap)),
      of_tensor_(each_of(job.space.collectives.tensor, &plan::CollectiveAlgorithmChoices::tensor)),
      of_experts_(each_of(job.space.collectives.expert, &plan::CollectiveAlgorithmChoices::expert)),
      prices_(cost),
      context_(job, cost,
               [this](const step::Operator& op, const simulate::Layouts& layouts) {
                 return seconds(op, layouts, true);
               }),
      works_(std::move(works)) {}

double WorkLowerBounds::seconds(const step::Operator& op, const simulate::Layouts& layouts,
                                bool any_expert) {
  if (step::is_communication(op.kind)) {
    if (!messages_ || !message_counts(op, any_expert)) return 0;
    return least_message_s(op, layouts);
  }
  const double repeats = op.repeats;
  // Attention is bounded by its FLOPs, which do not depend on how the context is cut.
  if (op.kind == step::OperatorKind::kAttention)
    return repeats * cost_.min_fused_compute_seconds(op);
  if (op.kind == step::OperatorKind::kGroupedLinear && any_expert) {
    return repeats * cost_.min_fused_compute_seconds(op) * whole_rows(op);
  }
  if (!counts_in_full(op)) return 0;
  return repeats * prices_.cached_operator_seconds(op) * (any_expert ? whole_rows(op) : 1);
}

/// Returns the least seconds over the algorithms that plans may choose for the message's scheme.
double WorkLowerBounds::least_message_s(const step::Operator& op,
                                        const simulate::Layouts& layouts) const {
  double least = std::numeric_limits<double>::infinity();
  for (const plan::CollectiveAlgorithmChoices& one :
       op.scheme == step::ParallelismScheme::kTensor ? of_tensor_ : of_experts_) {
    least = std::min(least, cost_.price_template_operators(op, layouts, one).seconds);
  }
  return least;
}

/// Returns the least seconds of the host to issue an operator in any plan. CUDA graphs replay no
/// message beside the compute stream, so each message counts as if it were on it. Without expert
/// degrees a rank may have a single expert.
double WorkLowerBounds::host_launch_s(step::Operator op, bool any_expert) const {
  if (step::is_communication(op.kind)) {
    if (!messages_ || !message_counts(op, any_expert)) return 0;
    op.stream = step::DeviceStream::kCompute;
  } else if (op.kind != step::OperatorKind::kAttention && !counts_in_full(op)) {
    return 0;
  }
  if (any_expert && op.routed) op.shape.batch = 1;
  return cost_.host_kernel_launch_seconds(op);
}

WorkLowerBounds::LayerComputeSeconds WorkLowerBounds::seconds(
    const step::ModelBlockTemplatePair& pair, const simulate::Layouts& layouts, bool any_expert) {
  LayerComputeSeconds sum;
  for (const step::OperatorTemplate* piece : {&pair.forward, &pair.backward}) {
    times_.clear();
    double issued_s = 0;
    for (const step::Operator& op : piece->operators) {
      times_.push_back(
          {.seconds = seconds(op, layouts, any_expert), .link = cost::LinkClass::kNone});
      if (op.stream == step::DeviceStream::kCompute) sum.stream_s += times_.back().seconds;
      if (waits_) issued_s += host_launch_s(op, any_expert);
    }
    const double chain_s = simulate::compute_stream_seconds(*piece, times_, ends_);
    sum.chain_s += chain_s;
    sum.seconds += std::max(chain_s, issued_s);
  }
  return sum;
}

WorkLowerBounds::LayerClassWork WorkLowerBounds::class_work(const step::StepBuildSettings& setting,
                                                            model::LayerClass which,
                                                            const simulate::Layouts& layouts,
                                                            bool any_expert) {
  const step::ModelBlockTemplatePair whole =
      step::build_layer_templates(setting, which, plan::kWholeRecompute);
  const step::ModelBlockTemplatePair none =
      step::build_layer_templates(setting, which, plan::kNoRecompute);
  LayerClassWork work{.none = seconds(none, layouts, any_expert),
                      .whole = seconds(whole, layouts, any_expert),
                      .least_retained_bytes = saved_bytes(whole.forward, 1)};
  if (!any_expert)
    work.retained_bytes = retained_bytes(setting, which, {&none.forward, &whole.forward});
  return work;
}

void WorkLowerBounds::add_class(LeastPlanWork& work, const LayerClassWork& of_class,
                                bool retained) {
  for (std::size_t i = 0; i < work.layers.size(); ++i) {
    LayerWorkSeconds& of = work.layers[i];
    const auto with = [&](double LayerComputeSeconds::* part) {
      const double least_s = of_class.none.*part;
      return of.recompute.whole ? std::max(least_s, of_class.whole.*part) : least_s;
    };
    of.seconds.push_back(with(&LayerComputeSeconds::seconds));
    of.stream_s.push_back(with(&LayerComputeSeconds::stream_s));
    of.chain_s.push_back(with(&LayerComputeSeconds::chain_s));
    if (retained)
      of.least_retained_bytes = std::min(of.least_retained_bytes, of_class.retained_bytes[i]);
  }
  work.least_retained_bytes = std::min(work.least_retained_bytes, of_class.least_retained_bytes);
}

/// Returns the least bytes that a layer of a class keeps with each of `kBoundedRecomputes`;
/// gathered inputs do not count. `known`: its forward templates that recompute nothing and
/// everything.
std::array<double, 3> WorkLowerBounds::retained_bytes(step::StepBuildSettings setting,
                                                      model::LayerClass which,
                                                      const LayerForwardTemplates& known) const {
  const bool gathers = setting.sequence_parallel && setting.keep_gathered;
  const double load = setting.expert > 1 ? std::max(setting.busiest, held_load_) : setting.busiest;
  setting.keep_gathered = false;
  std::array<double, 3> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const plan::LayerRecompute& recompute = kBoundedRecomputes[i];
    const bool plain = recompute == plan::kNoRecompute && !gathers;
    if (recompute.whole || plain) {
      bytes[i] = saved_bytes(recompute.whole ? *known.whole : *known.none, load);
    } else {
      bytes[i] = saved_bytes(step::build_layer_templates(setting, which, recompute).forward, load);
    }
  }
  return bytes;
}

const WorkLowerBounds::DenseWork& WorkLowerBounds::dense_work(
    const plan::Plan& plan, const step::StepBuildSettings& setting,
    const simulate::Layouts& layouts) {
  DenseWorkKey key{plan.parallel.tensor, plan.parallel.context, plan.micro_batch,
                   plan.sequence_parallel, plan.overlap};
  key.overlap.expert = key.overlap.shared_experts = false;
  const auto [entry, fresh] = dense_.try_emplace(key);
  DenseWork& work = entry->second;
  if (!fresh) return work;
  for (const model::LayerClass& which : layers_.layer_classes()) {
    if (!which.has_experts())
      work.layers.emplace(which, class_work(setting, which, layouts, false));
  }
  work.head_s = seconds(step::build_head_templates(setting, false), layouts, false).seconds;
  return work;
}

LeastPlanWork WorkLowerBounds::build(const plan::Plan& plan, bool any_expert) {
  step::StepBuildSettings setting =
      step::make_setting(job_, plan, step::RepresentativeMicroBatch::kLeast);
  // Flags without effect in this plan may have one in other plans that share the answer.
  setting.overlap = plan.overlap;
  const simulate::Layouts layouts =
      cost::rank_group_network_layouts(job_.cluster, plan::RankGrid(plan));
  LeastPlanWork work;
  constexpr double kNone = std::numeric_limits<double>::infinity();
  for (const plan::LayerRecompute& recompute : kBoundedRecomputes)
    work.layers.push_back({recompute, {}, {}, {}, kNone});
  work.least_retained_bytes = kNone;
  const DenseWork& dense = dense_work(plan, setting, layouts);
  for (std::size_t k = 0; k < layers_.layer_classes().size(); ++k) {
    const model::LayerClass which = layers_.layer_classes()[k];
    const auto known = dense.layers.find(which);
    add_class(work,
              known == dense.layers.end() ? class_work(setting, which, layouts, any_expert)
                                          : known->second,
              !any_expert);
    const step::ModelBlockParameterCounts size =
        step::unit_size(setting, step::local_layer_parameters(setting, which));
    work.size.add(size, layers_.count(k));
    if (which.gradients == model::LayerGradientFlow::kAbove)
      work.resting.add(size, layers_.count(k));
  }
  const step::ModelBlockParameterCounts embedding =
      step::unit_size(setting, step::local_embedding_parameters(setting));
  work.size += embedding;
  if (step::embedding_gradient_extent(job_.model) == model::LayerGradientFlow::kAbove)
    work.resting += embedding;
  work.size += step::unit_size(setting, step::local_head_parameters(setting, false));
  const auto& sets = job_.space.offload.activations;
  if (std::ranges::any_of(sets, [](plan::OffloadModuleSet set) { return !set.empty(); })) {
    work.least_retained_bytes = 0;
    for (LayerWorkSeconds& of : work.layers) of.least_retained_bytes = 0;
  }
  work.head_s = dense.head_s;
  for (std::int64_t i = 0; i < job_.model.extra_predicted_tokens(); ++i) {
    const step::ModelBlockTemplatePair block =
        step::build_multi_token_layer_templates(setting, i, false, plan::kNoRecompute);
    work.size += step::unit_size(setting, step::local_multi_token_parameters(setting, i, false));
    work.head_s += seconds(block, layouts, any_expert).seconds;
  }
  return work;
}

namespace {

/// Returns one plan for all plans with equally many tokens on a rank (the one with the least
/// context degree), so that the answer does not depend on which asks first.
plan::Plan representative(plan::Plan plan) {
  const std::int64_t common = std::gcd(plan.parallel.context, plan.micro_batch);
  plan.parallel.context /= common;
  plan.parallel.data *= common;
  plan.micro_batch /= common;
  return plan;
}

/// 1 if a single rank reads the whole batch, for which some frameworks reduce gradients all the
/// same; else 0.
std::int64_t single_data_rank(const plan::Plan& plan) {
  return representative(plan).parallel.data == 1 ? 1 : 0;
}

}  // namespace

const LeastPlanWork& WorkLowerBounds::work_lower_bound_over_expert_degrees(const plan::Plan& plan) {
  const std::int64_t tokens = plan.micro_batch * (job_.length / plan.parallel.context);
  return remembered({{plan.parallel.tensor, tokens, 0, 0, single_data_rank(plan)}, overlap_}, plan);
}

const LeastPlanWork& WorkLowerBounds::work_lower_bound_of_plan(const plan::Plan& plan,
                                                               const plan::OverlapFlags& overlap) {
  const plan::ParallelismDegrees& size = plan.parallel;
  const std::int64_t tokens = plan.micro_batch * (job_.length / size.context);
  return remembered(
      {{size.tensor, tokens, size.expert, size.expert_tensor, single_data_rank(plan)}, overlap},
      plan);
}

LeastPlanWork WorkLowerBounds::add_context_parallel_message_time(const LeastPlanWork& work,
                                                                 const plan::Plan& plan) {
  LeastPlanWork out = work;
  if (!messages_ || plan.parallel.context == 1) return out;
  const std::vector<ContextParallelMessageSeconds>& context =
      context_.context_message_seconds_of(plan);
  for (LayerWorkSeconds& of : out.layers) {
    for (std::size_t k = 0; k < context.size(); ++k) {
      const double before_s = plan.overlap.context ? 0 : of.stream_s[k];
      of.seconds[k] = std::max(
          {of.seconds[k], before_s + context[k].messages_s, of.chain_s[k] + context[k].waits_s});
    }
  }
  return out;
}

const LeastPlanWork& WorkLowerBounds::remembered(const Key& key, const plan::Plan& plan) {
  const LeastPlanWork*& known = known_[key];
  if (known == nullptr) known = &works_->get(key, [&] { return computed(key, plan); });
  return *known;
}

LeastPlanWork WorkLowerBounds::computed(const Key& key, const plan::Plan& plan) {
  const bool any_expert = key.first[2] == 0;
  plan::Plan plain = representative(plan);
  if (any_expert) plain.parallel.expert = plain.parallel.expert_tensor = 1;
  plain.sharding = plan::Sharding{};
  plain.context_kind = plan::ContextKind::kAllGather;     // attention is one kernel
  plain.tensor_input = plan::GatheredInputPolicy::kKeep;  // fewer messages
  plain.overlap = key.second;
  // Expert exchanges run beside another micro-batch or beside shared experts, never both.
  const bool either = plain.overlap.expert && plain.overlap.shared_experts;
  if (either) plain.overlap.shared_experts = false;
  LeastPlanWork work = least_block_work(plain, any_expert);
  if (either && !any_expert) {
    plain.overlap.expert = false;
    plain.overlap.shared_experts = true;
    work = member_wise_minimum(std::move(work), least_block_work(plain, any_expert));
  }
  return work;
}

LeastPlanWork WorkLowerBounds::least_block_work(plan::Plan plan, bool any_expert) {
  const plan::ParallelismDegrees& size = plan.parallel;
  const bool experts = size.expert * size.expert_tensor > 1;
  const bool can = size.tensor > 1 && job_.length / size.context % size.tensor == 0;
  plan.sequence_parallel = can && experts;
  LeastPlanWork work = build(plan, any_expert);
  if (can && !experts) {
    plan.sequence_parallel = true;
    work = member_wise_minimum(std::move(work), build(plan, any_expert));
  }
  return work;
}

LayerCountsByClass::LayerCountsByClass(const model::ModelArchitecture& model) {
  model::LayerClassIndex order = model::layer_order(model);
  classes_ = std::move(order.classes);
  before_.assign(classes_.size(), {0.0});
  for (std::size_t k = 0; k < classes_.size(); ++k) {
    for (const std::size_t which : order.class_of) {
      before_[k].push_back(before_[k].back() + (which == k ? 1 : 0));
    }
  }
}

LayerCountsByClass::LayersHeldByClass LayerCountsByClass::held(
    const schedule::ModelChunkPlacement& placement, std::int64_t position) const {
  const plan::EvenLayerSplit split(layers(), placement.model_chunk_count());
  LayersHeldByClass held{.head = position == placement.head_position()};
  for (const std::vector<double>& before : before_) {
    const auto until = [&](std::int64_t chunk) {
      return before[static_cast<std::size_t>(split.first_layer_of_chunk(chunk))];
    };
    double own = 0;
    for (std::int64_t i = 0; i < placement.chunks(); ++i) {
      const std::int64_t chunk = placement.model_chunk_index({position, i});
      own += until(chunk + 1) - until(chunk);
    }
    held.own.push_back(own);
    held.before.push_back(until(position));
  }
  return held;
}

const std::vector<LayerCountsByClass::LayersHeldByClass>&
LayerCountsByClass::potentially_slowest_even_positions(schedule::ModelChunkPlacementKind kind,
                                                       std::int64_t positions,
                                                       std::int64_t chunks) const {
  const auto [entry, fresh] = slowest_.try_emplace({kind, positions, chunks});
  if (!fresh) return entry->second;
  const schedule::ModelChunkPlacement placement(kind, positions, chunks);
  const std::int64_t last = placement.head_position();
  entry->second.push_back(held(placement, last));
  const plan::EvenLayerSplit split(layers(), placement.model_chunk_count());
  if (split.surplus == 0) return entry->second;
  const std::int64_t fullest = std::max<std::int64_t>(0, split.first + split.surplus - 1);
  const std::int64_t full = placement.place_of_model_chunk(fullest).position;
  if (full != last) entry->second.push_back(held(placement, full));
  return entry->second;
}

double LayerCountsByClass::sum_over_layers(const std::vector<double>& each, std::int64_t first,
                                           std::int64_t last) const {
  double sum = 0;
  for (std::size_t k = 0; k < before_.size(); ++k) {
    const std::vector<double>& before = before_[k];
    sum += each[k] *
           (before[static_cast<std::size_t>(last)] - before[static_cast<std::size_t>(first)]);
  }
  return sum;
}

}  // namespace stepwright::tune
