#include "tests/plan/validator.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "stepwright/plan/canonical.h"

namespace stepwright::plan {
namespace {

/// True if things can be dealt one by one so that all hands get equally many.
bool deals_evenly(std::int64_t things, std::int64_t hands) {
  if (hands < 1) return false;
  std::vector<std::int64_t> dealt(static_cast<std::size_t>(hands));
  for (std::int64_t i = 0; i < things; ++i) ++dealt[static_cast<std::size_t>(i % hands)];
  return std::ranges::count(dealt, dealt.front()) == hands;
}

/// Ranks of one side in order, as coordinates on the five axes; empty if there are not `ranks`.
using Place = std::array<std::int64_t, kAxes>;
std::vector<Place> lay_out(const RankOrder& order, const Place& sizes, std::int64_t ranks) {
  std::vector<Place> places = {Place{}};
  for (const ParallelismAxis axis : order.axes) {
    const auto a = static_cast<std::size_t>(axis);
    const std::vector<Place> before = places;
    for (std::int64_t i = 1; i < sizes[a]; ++i) {
      for (Place place : before) {
        place[a] = i;
        places.push_back(place);
        if (std::ssize(places) > ranks) return {};
      }
    }
  }
  return std::ssize(places) == ranks ? places : std::vector<Place>{};
}

using Groups = std::map<Place, std::vector<std::int64_t>>;

/// Returns groups of the ranks that agree in all axes except the free ones.
Groups groups_over(const std::vector<Place>& places, std::initializer_list<ParallelismAxis> free) {
  Groups groups;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    Place key = places[rank];
    for (const ParallelismAxis axis : free) key[static_cast<std::size_t>(axis)] = 0;
    groups[key].push_back(static_cast<std::int64_t>(rank));
  }
  return groups;
}

std::set<std::vector<std::int64_t>> as_sets(const Groups& groups) {
  std::set<std::vector<std::int64_t>> sets;
  for (const auto& [key, ranks] : groups) sets.insert(ranks);
  return sets;
}

/// Cuts every group into runs; true if all runs have full length and the same layout.
bool cuts_alike(const Groups& groups, std::int64_t size) {
  std::set<std::vector<std::int64_t>> patterns;
  for (const auto& [key, ranks] : groups) {
    for (std::int64_t begin = 0; begin < std::ssize(ranks); begin += size) {
      std::vector<std::int64_t> run;
      for (std::int64_t i = begin; i < std::min(begin + size, std::ssize(ranks)); ++i) {
        run.push_back(ranks[static_cast<std::size_t>(i)] - ranks[static_cast<std::size_t>(begin)]);
      }
      if (std::ssize(run) != size) return false;
      patterns.insert(run);
    }
  }
  return patterns.size() == 1;
}

bool model_can_be_cut(const Job& job, const Plan& plan) {
  const model::ModelArchitecture& model = job.model;
  const std::int64_t tensor = plan.parallel.tensor;
  std::vector<std::int64_t> widths = {model.heads};
  if (!model.latent) widths.push_back(model.kv_heads);
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    if (!model.layer_class(layer).has_experts()) widths.push_back(model.ffn);
  }
  if (model.experts) widths.push_back(model.experts->shared_ffn);
  return std::ranges::all_of(widths, [&](auto width) { return deals_evenly(width, tensor); });
}

bool sequence_can_be_cut(const Job& job, const Plan& plan) {
  const auto& [tensor, pipeline, context, expert, expert_tensor, data] = plan.parallel;
  if (job.model.position == model::PositionEncoding::kLearned && job.length > job.model.positions)
    return false;
  if (plan.sequence_parallel && tensor < 2) return false;
  if (context > 1 && !deals_evenly(job.length, 2 * context)) return false;
  const std::int64_t tokens = job.length / context;
  if (plan.sequence_parallel && !deals_evenly(tokens, tensor)) return false;
  if (context == 1 || plan.context_kind != ContextKind::kUlysses) return true;
  const std::int64_t heads = job.model.latent ? job.model.heads : job.model.kv_heads;
  return deals_evenly(heads / tensor, context) && deals_evenly(job.model.heads / tensor, context);
}

bool experts_can_be_spread(const Job& job, const Plan& plan) {
  const ParallelismDegrees& degrees = plan.parallel;
  const bool spread = degrees.expert != 1 || degrees.expert_tensor != 1;
  if (!spread) return true;
  if (!job.model.experts) return false;
  return deals_evenly(job.model.experts->count, degrees.expert) &&
         deals_evenly(job.model.experts->ffn, degrees.expert_tensor) &&
         (degrees.tensor == 1 || plan.sequence_parallel);
}

bool head_can_be_spread(const Job& job) {
  const model::ModelArchitecture& model = job.model;
  const bool more_tokens = model.count_multi_token && model.multi_token_layers > 0;
  const bool whole_logits = job.kernels.plain_loss || job.kernels.gathered_logits;
  return !more_tokens && !whole_logits && !model.adapters && !model.has_frozen_weights();
}

/// True if the head's passes need no agreement of positions: one loss over all tokens, from
/// resident parameters to resident gradients.
bool head_can_be_passed(const Job& job, const Plan& plan) {
  const FrameworkKernels& kernels = job.kernels;
  const Sharding sharding = with_canonical_sharding(job, plan).sharding;
  const bool resident = sharding.parameters == StateShardingScope::kNone &&
                        sharding.gradients == StateShardingScope::kNone;
  const bool one_loss = kernels.loss_chunks == 1 &&
                        kernels.loss_keeps == LossSavedTensors::kLogits && !kernels.document_loss;
  const bool alone = job.method.kind == TrainingMethodKind::kPretrain ||
                     job.method.kind == TrainingMethodKind::kSft;
  const bool caps = plan.schedule.kind == schedule::PipelineScheduleKind::kVocabularyTwo &&
                    job.model.logit_cap > 0;
  return head_can_be_spread(job) && resident && one_loss && alone && !caps;
}

bool layers_can_be_staged(const Job& job, const Plan& plan) {
  const std::int64_t pipeline = plan.parallel.pipeline;
  const bool shared =
      plan.schedule.kind == schedule::PipelineScheduleKind::kDualPipe;  // by two positions
  if (plan.layers.empty() && pipeline * plan.schedule.chunks > job.model.layers) return false;
  const std::int64_t chunks = shared ? pipeline : pipeline * plan.schedule.chunks;
  if (!plan.layers.empty()) {
    std::int64_t sum = 0;
    for (const std::int64_t layers : plan.layers) sum += layers;
    const bool fits = std::ssize(plan.layers) == chunks && sum == job.model.layers;
    if (!fits || std::ranges::min(plan.layers) < 0) return false;
    // The ends have the embedding and the head.
    std::set<std::int64_t> working;
    for (std::int64_t i = 0; i < chunks; ++i) {
      const bool end = i == 0 || i + 1 == chunks;
      if (!end && plan.layers[static_cast<std::size_t>(i)] == 0) continue;
      for (std::int64_t position = 0; position < pipeline; ++position) {
        for (std::int64_t own = 0; own < plan.schedule.chunks; ++own) {
          if (model_chunk_placement(plan).model_chunk_index({position, own}) == i)
            working.insert(position);
        }
      }
    }
    if (std::ssize(working) != pipeline) return false;
    // Elsewhere every chunk has a part of the model.
    const bool cyclic = plan.schedule.strands == 1 &&
                        (plan.schedule.kind == schedule::PipelineScheduleKind::kInterleaved ||
                         plan.schedule.kind == schedule::PipelineScheduleKind::kPaired);
    for (std::int64_t i = 1; i + 1 < chunks && !cyclic; ++i) {
      if (plan.layers[static_cast<std::size_t>(i)] == 0) return false;
    }
  }
  const std::int64_t own = plan.schedule.chunks;
  if (plan.schedule.strands == 2 && plan.schedule.kind != schedule::PipelineScheduleKind::kFolded &&
      plan.schedule.kind != schedule::PipelineScheduleKind::kDualPipeV &&
      plan.schedule.kind != schedule::PipelineScheduleKind::kPaired &&
      plan.schedule.kind != schedule::PipelineScheduleKind::kStp) {
    return false;
  }
  switch (plan.schedule.kind) {
    case schedule::PipelineScheduleKind::kGpipe:
    case schedule::PipelineScheduleKind::kOneForwardOneBackward: return own == 1;
    case schedule::PipelineScheduleKind::kZeroBubbleH1:
    case schedule::PipelineScheduleKind::kZeroBubbleH2: return own == 1 && pipeline > 1;
    case schedule::PipelineScheduleKind::kSpreadVocabulary:
      return own == 1 && pipeline > 1 && head_can_be_spread(job);
    case schedule::PipelineScheduleKind::kVocabularyOne:
    case schedule::PipelineScheduleKind::kVocabularyTwo:
      return own == 1 && pipeline > 1 && head_can_be_passed(job, plan);
    case schedule::PipelineScheduleKind::kInterleaved: return own > 1 && pipeline > 1;
    case schedule::PipelineScheduleKind::kPaired: return pipeline > 1 ? own > 1 : own == 1;
    case schedule::PipelineScheduleKind::kAuto: return own <= 2 && pipeline > 1;
    case schedule::PipelineScheduleKind::kFolded: return own == 2;
    case schedule::PipelineScheduleKind::kDualPipe:
      return own == 2 && pipeline > 1 && pipeline % 2 == 0;
    case schedule::PipelineScheduleKind::kZeroBubbleV:
    case schedule::PipelineScheduleKind::kVHalf:
    case schedule::PipelineScheduleKind::kVMin:
    case schedule::PipelineScheduleKind::kDualPipeV:
    case schedule::PipelineScheduleKind::kStp: return own == 2 && pipeline > 1;
  }
  return false;
}

/// Deals micro-batches out group after group, as Megatron-Core does; any group size is accepted if
/// the plan names none.
bool comes_in_groups(std::int64_t count, const Plan& plan) {
  const std::int64_t named = plan.schedule.group;
  for (std::int64_t group = named > 0 ? named : 1; group <= (named > 0 ? named : count); ++group) {
    bool all = group <= count;
    for (std::int64_t left = count; left > 0; left -= group) {
      all = all && std::min(left, group) >= plan.parallel.pipeline;
    }
    if (all) return true;
  }
  return false;
}

bool batch_can_be_dealt(const Job& job, const Plan& plan) {
  if (!deals_evenly(job.sequences, plan.parallel.data)) return false;
  std::int64_t left = job.sequences / plan.parallel.data;
  std::int64_t count = 0;
  for (; left > 0; left -= plan.micro_batch) ++count;
  if (left != 0) return false;
  if (plan.schedule.strands == 2 && count < 2) return false;
  switch (plan.schedule.kind) {
    case schedule::PipelineScheduleKind::kInterleaved:
    case schedule::PipelineScheduleKind::kPaired: return comes_in_groups(count, plan);
    case schedule::PipelineScheduleKind::kDualPipe:
      return count % 2 == 0 && count >= 2 * plan.parallel.pipeline;
    case schedule::PipelineScheduleKind::kDualPipeV: return count >= 2 * plan.parallel.pipeline;
    case schedule::PipelineScheduleKind::kStp: return count >= 3 * plan.parallel.pipeline;
    default: return true;
  }
}

bool ranks_can_be_laid_out(const Job& job, const Plan& plan) {
  const auto& [tensor, pipeline, context, expert, expert_tensor, data] = plan.parallel;
  const std::int64_t ranks = job.cluster.nodes * job.cluster.devices_per_node;
  const auto dense = lay_out(plan.rank_order, {tensor, context, 1, data, pipeline}, ranks);
  if (dense.empty()) return false;
  std::int64_t expert_data = 1;  // the only size with which the expert side has as many ranks
  while (expert_tensor * expert * expert_data * pipeline < ranks) ++expert_data;
  const auto routed =
      lay_out(plan.rank_order, {expert_tensor, 1, expert, expert_data, pipeline}, ranks);
  if (routed.empty()) return false;
  if (job.model.experts && as_sets(groups_over(dense, {ParallelismAxis::kPipeline})) !=
                               as_sets(groups_over(routed, {ParallelismAxis::kPipeline}))) {
    return false;
  }
  const bool inner = plan.sharding.parameters == StateShardingScope::kInner ||
                     plan.sharding.gradients == StateShardingScope::kInner ||
                     plan.sharding.optimizer == StateShardingScope::kInner;
  const bool inner_experts = inner && job.model.experts;
  return (inner
              ? cuts_alike(groups_over(dense, {ParallelismAxis::kContext, ParallelismAxis::kData}),
                           plan.sharding.group)
              : plan.sharding.group == 1) &&
         (inner_experts ? cuts_alike(groups_over(routed, {ParallelismAxis::kData}),
                                     plan.sharding.expert_group)
                        : plan.sharding.expert_group == 1);
}

bool states_can_be_kept(const Job& job, const Plan& plan) {
  static const std::set<std::string> kStrategies = {"NNN", "NNI", "NNG", "NII", "NIG",
                                                    "NGG", "INI", "ING", "III", "IIG",
                                                    "IGG", "GNG", "GIG", "GGG"};
  static const std::set<std::pair<DType, DType>> kSums = {
      {DType::kBf16, DType::kBf16}, {DType::kBf16, DType::kFp32}, {DType::kBf16, DType::kFp64},
      {DType::kFp32, DType::kFp32}, {DType::kFp32, DType::kFp64}, {DType::kFp64, DType::kFp64}};
  return kStrategies.contains(sharding_letters(plan.sharding)) &&
         job.cluster.device.peak_flops.contains(job.precision) &&
         kSums.contains({job.precision, plan.accumulate});
}

/// Returns the runs of `size` members of every group, or the members at equal positions of these
/// runs.
Groups parts_of(const Groups& groups, std::int64_t size, bool inner) {
  Groups parts;
  for (const auto& [key, ranks] : groups) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const auto run = static_cast<std::int64_t>(i) / size;
      const auto place = static_cast<std::int64_t>(i) % size;
      Place part = key;
      part[static_cast<std::size_t>(ParallelismAxis::kContext)] = 1 + (inner ? run : place);
      parts[part].push_back(ranks[i]);
    }
  }
  return parts;
}

/// True if an algorithm can run in groups with these placements.
bool runs_in(collective::CollectiveAlgorithm algorithm, const Groups& groups,
             std::int64_t devices_per_node) {
  std::size_t most = 0;
  const auto size = groups.begin()->second.size();
  for (const auto& [key, ranks] : groups) {
    std::map<std::int64_t, std::size_t> on_node;
    for (const std::int64_t rank : ranks) most = std::max(most, ++on_node[rank / devices_per_node]);
  }
  const std::size_t nodes = (size + most - 1) / most;
  const auto is_power = [](std::size_t number) { return (number & (number - 1)) == 0; };
  switch (algorithm) {
    case collective::CollectiveAlgorithm::kTree: return nodes > 1;
    case collective::CollectiveAlgorithm::kHalvingDoubling: return is_power(size);
    case collective::CollectiveAlgorithm::kTwoLevel:
    case collective::CollectiveAlgorithm::kHoRing:
      return nodes > 1 && most > 1 && most * nodes == size;
    default: return false;  // no switch of these clusters adds
  }
}

/// True if the plan's data-parallel algorithm carries at least one message. The letter of the
/// optimizer's sharding tells which groups all-reduce (N: all ranks; I: the outer groups); the
/// other groups reduce-scatter and all-gather.
bool data_algorithm_can_run(const Job& job, const Plan& plan, const Groups& all,
                            std::int64_t group) {
  const collective::CollectiveAlgorithm algorithm = plan.collectives.data;
  const Groups inner = parts_of(all, group, true);
  const Groups outer = parts_of(all, group, false);
  const auto runs = [&](const Groups& groups) {
    return groups.begin()->second.size() > 1 &&
           runs_in(algorithm, groups, job.cluster.devices_per_node);
  };
  const std::string states = sharding_letters(plan.sharding);
  const bool tree = algorithm == collective::CollectiveAlgorithm::kTree;
  if (states[2] == 'N') return runs(all);
  if (states[2] == 'I') return runs(outer) || (!tree && runs(inner));
  if (tree) return false;
  const bool grouped = states[0] == 'I' || states[1] == 'I';
  const bool at_once = states[0] != 'I' || states[1] != 'I';
  return (at_once && runs(all)) || (grouped && (runs(inner) || runs(outer)));
}

bool algorithms_can_run(const Job& job, const Plan& plan) {
  const auto& [tensor, pipeline, context, expert, expert_tensor, data] = plan.parallel;
  const std::int64_t ranks = plan.parallel.ranks();
  const auto dense = lay_out(plan.rank_order, {tensor, context, 1, data, pipeline}, ranks);
  const Groups of_tensor = groups_over(dense, {ParallelismAxis::kTensor});
  if (tensor > 1 && plan.collectives.tensor != collective::CollectiveAlgorithm::kLibrary &&
      !runs_in(plan.collectives.tensor, of_tensor, job.cluster.devices_per_node)) {
    return false;
  }
  if (plan.collectives.data == collective::CollectiveAlgorithm::kLibrary) return true;
  const Groups all = groups_over(dense, {ParallelismAxis::kContext, ParallelismAxis::kData});
  const auto routed =
      lay_out(plan.rank_order,
              {expert_tensor, 1, expert, plan.parallel.expert_data_degree(), pipeline}, ranks);
  const bool experts = job.model.experts && plan.parallel.expert_data_degree() > 1;
  if (context * data == 1 && !experts) return true;
  return data_algorithm_can_run(job, plan, all, plan.sharding.group) ||
         (job.model.experts &&
          data_algorithm_can_run(job, plan, groups_over(routed, {ParallelismAxis::kData}),
                                 plan.sharding.expert_group));
}

/// True if each listed module is in the layer of some position of the model.
template <class Setting>
bool modules_stand_somewhere(const Job& job, const Setting& recompute) {
  if (recompute.kind != RecomputeKind::kModules) return true;
  const model::ModelArchitecture& model = job.model;
  const auto stands = [&](const std::string_view module) {
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
      const bool routed = model.layer_class(layer).has_experts();
      if (module == "core_attn" || module == "norm" || module == "per-operator") return true;
      if (module == "mla_up_proj" && model.latent) return true;
      if (module == "mlp" && !routed) return true;
      if ((module == "moe" || module == "moe_act") && routed) return true;
      if (module == "shared_experts" && routed && model.experts->shared_ffn > 0) return true;
    }
    return false;
  };
  const std::vector<std::string_view> listed = recompute_module_names(recompute.modules);
  return !listed.empty() && std::ranges::all_of(listed, stands);
}

bool can_be_recomputed(const Job& job, const Plan& plan) {
  const auto can = [&](const StageRecompute& stage) {
    return stage.position < plan.parallel.pipeline && modules_stand_somewhere(job, stage);
  };
  return modules_stand_somewhere(job, plan.recompute) &&
         std::ranges::all_of(plan.recompute.stages, can);
}

}  // namespace

bool can_be_done(const Job& job, const Plan& plan) {
  return model_can_be_cut(job, plan) && sequence_can_be_cut(job, plan) &&
         experts_can_be_spread(job, plan) && layers_can_be_staged(job, plan) &&
         batch_can_be_dealt(job, plan) && ranks_can_be_laid_out(job, plan) &&
         states_can_be_kept(job, plan) && algorithms_can_run(job, plan) &&
         can_be_recomputed(job, plan);
}

}  // namespace stepwright::plan
