#include "stepwright/plan/words.h"

#include <fmt/format.h>

#include <vector>

#include "stepwright/core/format.h"

namespace stepwright {
namespace {

std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string tensor_words(const Plan& plan) {
  if (!plan.sequence_parallel) return fmt::format("tensor {}", plan.parallel.tensor);
  const bool keep = plan.tensor_input == TensorInput::kKeep;
  return fmt::format("tensor {} (sequence parallel, inputs {})", plan.parallel.tensor,
                     keep ? "kept" : "re-gathered");
}

std::string pipeline_words(const Plan& plan) {
  std::string kind(name_of(kScheduleNames, plan.schedule.kind));
  if (plan.schedule.strands > 1) kind += fmt::format(", {} strands", plan.schedule.strands);
  if (plan.schedule.chunks > 1) kind += fmt::format(", {} chunks", plan.schedule.chunks);
  if (!plan.layers.empty()) kind += fmt::format("; layers {}", layers_word(plan.layers));
  return fmt::format("pipeline {} ({})", plan.parallel.pipeline, kind);
}

/// The name that the field has for a sharding ("zero1"), else its letters ("NIG").
std::string sharding_name(const Sharding& sharding) {
  const std::string word = sharding_word(sharding);
  for (const ShardingAlias& alias : kShardingAliases) {
    if (alias.states == word && alias.note.empty()) return std::string(alias.name);
  }
  return word;
}

/// "parameters in groups of 8, optimizer states over all": what each rank holds a part of.
std::string split_words(const Sharding& sharding) {
  std::vector<std::string> words;
  const auto add = [&](const char* what, Spread spread) {
    if (spread == Spread::kGlobal) words.push_back(fmt::format("{} over all", what));
    if (spread != Spread::kInner) return;
    words.push_back(fmt::format("{} in groups of {}", what, sharding.group));
  };
  add("parameters", sharding.parameters);
  add("gradients", sharding.gradients);
  add("optimizer states", sharding.optimizer);
  return joined(words, ", ");
}

std::string sharding_text(const Plan& plan, const Job& job) {
  const Sharding& sharding = plan.sharding;
  const std::string name = sharding_name(sharding);
  if (name == "ddp") return "no sharding";
  const bool grouped = job.model.experts && sharding.uses(Spread::kInner);
  return fmt::format("sharding {} ({}{})", name, split_words(sharding),
                     grouped ? fmt::format(", of experts {}", sharding.expert_group) : "");
}

std::vector<std::string> degree_words(const Plan& plan) {
  const Parallel& degrees = plan.parallel;
  std::vector<std::string> words;
  if (degrees.tensor > 1) words.push_back(tensor_words(plan));
  if (degrees.context > 1) {
    words.push_back(fmt::format("context {} ({})", degrees.context,
                                name_of(kContextKindNames, plan.context_kind)));
  }
  if (degrees.expert > 1) words.push_back(fmt::format("expert {}", degrees.expert));
  if (degrees.expert_tensor > 1) {
    words.push_back(fmt::format("expert-tensor {}", degrees.expert_tensor));
  }
  const bool chunked = plan.schedule.chunks > 1 || plan.schedule.strands > 1;
  if (degrees.pipeline > 1 || chunked) words.push_back(pipeline_words(plan));
  words.push_back(fmt::format("data {}", degrees.data));
  return words;
}

/// Kinds of messages and their names in codes, in the order of `kOverlapNames`.
constexpr std::string_view kOverlapCodes[] = {"grad", "param", "tp", "tp-grad", "cp", "ep", "pp"};

/// Messages that wait while nothing is computed, though a plan can lay them beside computation.
std::vector<std::size_t> exposed(const Plan& plan) {
  const Parallel& degrees = plan.parallel;
  const bool tensor = degrees.tensor > 1;
  const bool sent[] = {true,
                       true,
                       tensor,
                       tensor,
                       degrees.context > 1,
                       degrees.expert * degrees.expert_tensor > 1,
                       degrees.pipeline > 1};
  std::vector<std::size_t> kinds;
  for (std::size_t i = 0; i < std::size(kOverlapNames); ++i) {
    if (sent[i] && !(plan.overlap.*kOverlapNames[i].value)) kinds.push_back(i);
  }
  return kinds;
}

std::string pipeline_code(const Plan& plan) {
  const std::string chunks =
      plan.schedule.chunks > 1 ? fmt::format("x{}", plan.schedule.chunks) : std::string();
  const bool usual = plan.schedule.kind == ScheduleKind::kOneForwardOneBackward ||
                     plan.schedule.kind == ScheduleKind::kInterleaved;
  std::string kind(usual ? "" : name_of(kScheduleNames, plan.schedule.kind));
  if (plan.schedule.strands > 1) kind += fmt::format("+{}", plan.schedule.strands);
  return fmt::format("pp{}{}{}{}{}", plan.parallel.pipeline, chunks, usual ? "" : ":", kind,
                     plan.layers.empty() ? "" : ":uneven");
}

std::string tensor_code(const Plan& plan) {
  const bool keep = plan.sequence_parallel && plan.tensor_input == TensorInput::kKeep;
  return fmt::format("tp{}{}{}", plan.parallel.tensor, plan.sequence_parallel ? "+sp" : "",
                     keep ? ":keep" : "");
}

std::string context_code(const Plan& plan) {
  const bool ring = plan.context_kind == ContextKind::kRing;
  return fmt::format("cp{}{}{}", plan.parallel.context, ring ? "" : ":",
                     ring ? "" : name_of(kContextKindNames, plan.context_kind));
}

std::string sharding_code(const Sharding& sharding) {
  if (!sharding.uses(Spread::kInner)) return sharding_name(sharding);
  const std::string experts =
      sharding.expert_group > 1 ? fmt::format("/{}", sharding.expert_group) : std::string();
  return fmt::format("{}/{}{}", sharding_name(sharding), sharding.group, experts);
}

}  // namespace

std::string job_line(const Job& job) {
  const Cluster& cluster = job.cluster;
  return fmt::format("{} on {} x {} ({}, {}), {} of {} tokens, {}", job.model_name,
                     format_count(cluster.devices()), cluster.device.name, cluster.name,
                     counted(cluster.nodes, "node"), counted(job.sequences, "sequence"),
                     format_count(job.length), name_of(kPrecisionNames, job.precision));
}

std::string plan_words(const Plan& plan, const Job& job) {
  std::vector<std::string> words = degree_words(plan);
  words.push_back(fmt::format("micro-batch {}", plan.micro_batch));
  words.push_back(sharding_text(plan, job));
  words.push_back(recompute_text(plan.recompute));
  std::vector<std::string> kinds;
  for (const std::size_t kind : exposed(plan)) kinds.emplace_back(kOverlapNames[kind].name);
  if (!kinds.empty()) words.push_back("no overlap of " + joined(kinds, " and "));
  if (plan.rank_order != RankOrder{}) words.push_back("ranks " + rank_order_word(plan.rank_order));
  return joined(words, ", ");
}

std::string plan_code(const Plan& plan) {
  const Parallel& degrees = plan.parallel;
  std::vector<std::string> codes;
  if (degrees.tensor > 1) codes.push_back(tensor_code(plan));
  if (degrees.context > 1) codes.push_back(context_code(plan));
  if (degrees.expert > 1) codes.push_back(fmt::format("ep{}", degrees.expert));
  if (degrees.expert_tensor > 1) codes.push_back(fmt::format("etp{}", degrees.expert_tensor));
  if (degrees.pipeline > 1) codes.push_back(pipeline_code(plan));
  codes.push_back(fmt::format("dp{}", degrees.data));
  codes.push_back(fmt::format("mb{}", plan.micro_batch));
  codes.push_back(sharding_code(plan.sharding));
  if (plan.recompute != Recompute()) {
    codes.push_back("recompute:" + recompute_word(plan.recompute));
  }
  std::vector<std::string> kinds;
  for (const std::size_t kind : exposed(plan)) kinds.emplace_back(kOverlapCodes[kind]);
  if (!kinds.empty()) codes.push_back("exposed:" + joined(kinds, ","));
  return joined(codes, " ");
}

}  // namespace stepwright
