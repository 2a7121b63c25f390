#include "stepwright/framework_files/draft/draft.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/core/name.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/user_batch.h"
#include "stepwright/huggingface/differences.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/files/read_adapters.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/law.h"

namespace stepwright::framework_files {
namespace {

/// Sets `value`, which files state, to the user's value; fails with `kInput` if both are stated and
/// differ.
void settle_value(std::optional<std::int64_t>& value, const std::optional<std::int64_t>& given,
                  const std::string& file, const char* option, const char* what) {
  if (given && value && *given != *value) {
    fail_input(fmt::format("{}: states {} {}, but {} states {}: make them equal", file, *value,
                           what, option, *given));
  }
  if (given) value = given;
}

/// Returns the number of ranks that the files state; nullopt if they do not.
std::optional<std::int64_t> ranks_said(const JobRankCounts& extent) {
  if (extent.ranks) return extent.ranks;
  if (!extent.nodes || !extent.devices_of_node) return std::nullopt;
  return *extent.nodes * *extent.devices_of_node;
}

/// Replaces the files' numbers of ranks, nodes and devices with the user's.
void take_given_extent(JobRankCounts& extent, const UserFacts& given) {
  if (given.devices) {
    extent.ranks = given.devices;
    extent.nodes = extent.devices_of_node = std::nullopt;
  }
  if (given.nodes) {
    if (!given.devices) extent.ranks.reset();
    extent.nodes = given.nodes;
  }
}

/// Returns the number of devices that a job uses on each node if that is fewer than the cluster
/// profile's node has; else nullopt.
std::optional<std::int64_t> part_of_nodes(const JobRankCounts& extent, const std::string& profile,
                                          std::int64_t nodes) {
  const std::int64_t said = extent.ranks ? 0 : extent.devices_of_node.value_or(0);
  const bool both = extent.ranks && extent.nodes == nodes && *extent.ranks % nodes == 0;
  const std::int64_t used = both ? *extent.ranks / nodes : said;
  if (used == 0) return std::nullopt;
  return used < cluster::load_cluster(profile, 1).devices_per_node ? std::optional(used)
                                                                   : std::nullopt;
}

}  // namespace

std::string unknown_device_count_message(const JobRankCounts& extent) {
  std::string open;
  std::string set;
  for (const std::string& name : extent.open_extents) {
    if (name.empty() || set.find("--set " + name + "=") != std::string::npos) continue;
    open += (open.empty() ? "" : ", ") + one_line_printable_text(name);
    set += fmt::format("--set {}=VALUE, ", one_line_printable_text(name));
  }
  if (open.empty()) return "the number of devices is unknown: state it with --nodes or --gpus";
  return fmt::format(
      "{} is not set, so the number of devices is unknown: state it with {}--nodes or --gpus", open,
      set);
}

namespace {

/// Returns the cluster's size as keys of a job file: "nodes: 2, devices_per_node: 4".
std::string extent_text(const JobRankCounts& extent, ImportReport& report,
                        const std::string& profile, const std::optional<std::int64_t>& nodes) {
  const std::optional<std::int64_t> count = nodes ? nodes : extent.nodes;
  // If the user states no nodes and files at most one, the cluster has as many devices as ranks.
  const bool stated = nodes || count > 1;
  if (const auto part = stated ? part_of_nodes(extent, profile, *count) : std::nullopt) {
    report.notes.push_back(fmt::format(
        "The job uses {} devices of each node; the others are left out of the cluster.", *part));
    return fmt::format("nodes: {}, devices_per_node: {}", *count, *part);
  }
  if (nodes) return fmt::format("nodes: {}", *nodes);
  if (const auto ranks = ranks_said(extent)) return fmt::format("devices: {}", *ranks);
  if (extent.nodes) return fmt::format("nodes: {}", *extent.nodes);
  report.notes.push_back(
      fmt::format("The cluster is assumed to be one node of {}, as the files state no number of "
                  "nodes; state it with --nodes.",
                  profile));
  const auto part = part_of_nodes(extent, profile, 1);
  return part ? fmt::format("nodes: 1, devices_per_node: {}", *part) : "nodes: 1";
}

cluster::Cluster cluster_of(JobRankCounts& extent, ImportReport& report, const UserFacts& given) {
  std::string mapping = given.cluster;
  if (mapping.front() != '{') {
    const std::size_t colon = mapping.rfind(':');
    std::optional<std::int64_t> nodes = given.nodes;
    const auto count =
        colon == std::string::npos
            ? std::nullopt
            : launch_scripts::integer_from_digits(std::string_view(mapping).substr(colon + 1));
    if (count) {
      mapping.resize(colon);
      settle_value(nodes, count, "--nodes", "--cluster", "nodes");
    }
    // The user's devices are a part of the user's nodes.
    if (given.devices && nodes) extent.nodes = nodes;
    mapping = fmt::format("{{profile: {}, {}}}", nlohmann::json(mapping).dump(),
                          extent_text(extent, report, mapping, nodes));
  } else if (given.nodes) {
    fail_input(
        "--nodes is only allowed with the name of a profile: the mapping in --cluster states its "
        "own nodes");
  }
  const YamlJsonDocument document = parse_option_document("cluster", mapping);
  return cluster::read_job_cluster(document.root().get("cluster"), std::filesystem::current_path());
}

/// Returns the end of a message that says how to set a model name that the script leaves unset;
/// empty if the name is known.
std::string open_name(const StatedModel& model_words, const ImportReport& report) {
  for (const auto& [value, how] : report.open_values) {
    if (value == model_words.unknown_model)
      return fmt::format("; the script does not set it: {}", how);
  }
  return "";
}

/// Returns a text with the scripts that were not given and can contain further settings.
std::string missing_scripts(const ImportReport& report) {
  std::string text;
  for (const auto& [path, place] : report.missing) {
    text +=
        fmt::format("; {} runs {}, which is not among the given files: give it, too", place, path);
  }
  return text;
}

model::ModelArchitecture settled_model(const StatedModel& model_words, ImportReport& report,
                                       const UserFacts& given, const std::string& file) {
  if (given.known_model && !model_words.model)
    report.add_assumption("job.model", "given by --model");
  if (!given.known_model) {
    if (model_words.model) return *model_words.model;
    if (!model_words.unknown_model.empty()) {
      fail_input(
          fmt::format("--model is required: {} names the model {}, which is not built in: give its "
                      "sizes with --model CONFIG.JSON{}{}",
                      file, model_words.unknown_model, missing_scripts(report),
                      open_name(model_words, report)));
    }
    const std::string lacks = model_words.lacks.empty() ? "all sizes" : model_words.lacks;
    fail_input(fmt::format("--model is required: {} does not state {} of the model{}", file, lacks,
                           missing_scripts(report)));
  }
  const model::ModelArchitecture& model = *given.known_model;
  if (!model_words.model) return model;
  const std::vector<std::string> apart =
      huggingface::differences_between_models(*model_words.model, model);
  if (!apart.empty()) {
    fail_input(fmt::format("{}: describes a different model than --model {}: {}", file, given.model,
                           fmt::join(apart, "; ")));
  }
  return model::copy_job_settings_to_model(model, *model_words.model);
}

/// Gives a model the name of the built-in model that it equals.
void name_model(model::ModelArchitecture& model, std::vector<std::string>& notes) {
  if (const auto own = model::built_in_model(model.name)) return;
  for (const std::string_view name : model::built_in_model_names()) {
    const model::ModelArchitecture known = model::built_in_model(name).value();
    if (!huggingface::differences_between_models(model, known).empty()) continue;
    model = model::copy_job_settings_to_model(known, model);
    notes.push_back(fmt::format("The model is assumed to be {}, which has the same sizes.", name));
    return;
  }
}

/// True if a setting has the name of a size argument of Megatron-LM (`num-layers`), by which
/// messages ask for missing sizes.
bool is_size_argument(std::string_view name) {
  static constexpr std::string_view kSizes[] = {"num-layers", "hidden-size", "num-attention-heads",
                                                "vocab-size"};
  return std::ranges::find(kSizes, name) != std::end(kSizes);
}

void settle_batch(plan::Plan& plan, StatedStepBatch& job_batch, ImportReport& report,
                  const UserFacts& given, const std::string& file) {
  const UserBatch batch = read_batch_option(given.batch);
  const bool sequences_given = batch.sequences && !job_batch.sequences;
  const bool length_given = batch.length && !job_batch.length;
  settle_value(job_batch.sequences, batch.sequences, file, "--batch", "sequences per step");
  settle_value(job_batch.length, batch.length, file, "--batch", "tokens of a sequence");
  if (sequences_given) report.add_assumption("job.batch.sequences", "given by --batch");
  if (length_given) report.add_assumption("job.batch.length", "given by --batch");
  const std::int64_t ways = plan.parallel.data * job_batch.micro_batches.value_or(1);
  if (job_batch.derive_micro_batch && job_batch.sequences && job_batch.micro_batches &&
      *job_batch.sequences % ways == 0) {
    plan.micro_batch = *job_batch.sequences / ways;
  } else if (job_batch.derive_micro_batch) {
    report.add_assumption("micro_batch", "nothing says it");
  }
  const std::int64_t pass = plan.parallel.data * plan.micro_batch;
  if (job_batch.micro_batches) {
    const std::int64_t product = pass * *job_batch.micro_batches;
    if (job_batch.sequences && *job_batch.sequences != product) {
      fail_input(fmt::format(
          "{}: {} sequences per step must be {} (micro-batch) x {} (data) x {} (micro-batches)",
          file, *job_batch.sequences, plan.micro_batch, plan.parallel.data,
          *job_batch.micro_batches));
    }
    if (!job_batch.sequences) {
      report.add_assumption(
          "job.batch.sequences",
          fmt::format("{} (micro-batch) x {} (data) x {} (micro-batches)", plan.micro_batch,
                      plan.parallel.data, *job_batch.micro_batches));
    }
    job_batch.sequences = product;
  }
  if (!job_batch.sequences || !job_batch.length) {
    fail_input(fmt::format(
        "--batch is required: {} does not state {} (write --batch 512x8192)", file,
        job_batch.sequences ? "the length of a sequence" : "the number of sequences per step"));
  }
}

}  // namespace

void double_preference_pair_batch(plan::Plan& plan, StatedStepBatch& job_batch,
                                  ImportReport& report) {
  if (job_batch.sequences) *job_batch.sequences *= 2;
  plan.micro_batch *= 2;
  report.notes.emplace_back("Batch and micro-batch count both sequences of each pair.");
}

UserFacts with_named_model_loaded(UserFacts given) {
  if (given.model.empty() || given.known_model) return given;
  const YamlJsonDocument document = parse_option_document("model", given.model);
  given.known_model =
      model::read_job_model(document.root().get("model"), std::filesystem::current_path());
  return given;
}

YamlJsonDocument with_user_settings(YamlJsonDocument document, const UserFacts& given) {
  for (const std::string& setting : given.settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      fail_input(fmt::format("--set: '{}' must be NAME=VALUE", one_line_printable_text(setting)));
    }
    std::string name = setting.substr(0, equals);
    if (is_size_argument(name)) std::ranges::replace(name, '-', '_');
    document =
        document.copy_with_replaced_scalar(name, std::string_view(setting).substr(equals + 1));
  }
  return document;
}

void resolve_cluster_and_data_degree(plan::Plan& plan, JobRankCounts& extent, ImportReport& report,
                                     const UserFacts& given, const std::string& file) {
  if (given.cluster.empty() && !given.known_cluster) {
    fail_input(fmt::format(
        "--cluster is required: {} does not state the cluster (stepwright list profiles)", file));
  }
  take_given_extent(extent, given);
  extent.cluster = given.known_cluster ? *given.known_cluster : cluster_of(extent, report, given);
  extent.given_extent = given.devices || given.nodes || given.known_cluster ||
                        given.cluster.front() == '{' ||
                        given.cluster.find(':') != std::string::npos;
  report.add_assumption("job.cluster", given.devices || given.nodes
                                           ? "given by --cluster, --nodes or --gpus"
                                           : "given by --cluster");
  const auto ranks = ranks_said(extent);
  if (ranks && *ranks != extent.cluster.devices()) {
    fail_input(fmt::format("{}: runs on {} ranks, but --cluster has {} devices", file, *ranks,
                           extent.cluster.devices()));
  }
  plan::ParallelismDegrees& degrees = plan.parallel;
  const std::int64_t inner = degrees.tensor * degrees.context * degrees.pipeline;
  if (extent.cluster.devices() % inner != 0) {
    if (!extent.given_extent && (!ranks || !extent.open_extents.empty())) {
      fail_input(fmt::format("{}: {} (tensor {} x context {} x pipeline {} needs a multiple of {})",
                             file, unknown_device_count_message(extent), degrees.tensor,
                             degrees.context, degrees.pipeline, inner));
    }
    fail_input(fmt::format(
        "{}: {} devices are not a multiple of tensor {} x context {} x pipeline {}: state the "
        "number of devices with --nodes or --gpus",
        file, extent.cluster.devices(), degrees.tensor, degrees.context, degrees.pipeline));
  }
  degrees.data = extent.cluster.devices() / inner;
  report.add_assumption(
      "parallel.data",
      fmt::format("{} devices divided by tensor, context and pipeline", extent.cluster.devices()));
}

namespace {

/// Removes offloaded modules that the model does not have, since a file can list modules for
/// several models.
void keep_held_modules(plan::Plan& plan, ImportReport& report,
                       const model::ModelArchitecture& model) {
  plan::OffloadModuleSet& there = plan.offload.activations;
  const plan::OffloadModuleSet listed = there;
  there = plan::modules_existing_in_model(model, listed);
  for (const std::string_view name :
       plan::offloaded_activation_kind_names(listed.activation_kinds_not_in(there))) {
    report.notes.push_back(
        fmt::format("Offload of {} was left out, because the model has none.", name));
  }
  plan::ActivationRecomputation& recompute = plan.recompute;
  if (recompute.kind != plan::RecomputeKind::kModules) return;
  const plan::RecomputeModuleSet held = plan::modules_existing_in_model(model, recompute.modules);
  for (const std::string_view name :
       plan::recompute_module_names(recompute.modules.modules_not_in(held))) {
    report.notes.push_back(
        fmt::format("Recomputation of {} was left out, because the model has none.", name));
  }
  recompute.modules = held;
  if (held.empty()) recompute = {};
}

void take_overlap(const plan::Job& job, plan::Plan& plan) {
  const bool tensor = plan.overlap.tensor;
  plan.overlap = plan::default_overlap(job, plan);
  plan.overlap.tensor = plan.overlap.tensor || tensor;
  if (plan.sequence_parallel) plan.tensor_input = plan::default_gathered_input_policy(job);
}

/// Shards the states of experts in as many groups as the other states, unless the file states
/// otherwise.
void group_experts(plan::Plan& plan, const model::ModelArchitecture& model,
                   std::optional<std::int64_t> own) {
  if (!model.experts || !plan.sharding.uses(plan::StateShardingScope::kInner)) return;
  if (own) {
    plan.sharding.expert_group = *own;
    return;
  }
  const std::int64_t ranks = plan.parallel.data * plan.parallel.context;
  plan.sharding.expert_group =
      std::max<std::int64_t>(1, plan.parallel.expert_data_degree() * plan.sharding.group / ranks);
}

/// Sets frozen parts, unless there are adapters, which freeze everything else.
void take_frozen(const StatedModel& model_words, model::ModelArchitecture& model) {
  if (!model_words.frozen || model_words.adapters) return;
  model.frozen = *model_words.frozen;
  model.frozen.encoder = model.frozen.encoder && model.encoder;
  model.frozen.projector = model.frozen.projector && model.encoder;
}

/// Returns the method that files state, adjusted to the job's batch: a forward has at most the
/// sequences of a step, and the prompt's length is scaled from the longest document to the mean
/// one.
plan::TrainingMethod settled_method(plan::TrainingMethod method, const plan::Job& job) {
  method.forward_micro_batch = std::min(method.forward_micro_batch, job.sequences * method.updates);
  if (!method.rollout) return method;
  double& prompt = method.rollout->prompt;
  if (job.documents) {
    const packing::LengthHistogram& documents = job.documents->packs.documents;
    prompt *= packing::total_tokens(documents) / packing::total_document_count(documents) /
              static_cast<double>(job.length);
  }
  if (prompt >= static_cast<double>(job.length)) prompt = 0;
  return method;
}

/// Drops adapters if the plan is legal only without them.
void keep_covered_adapters(plan::Job& job, const plan::Plan& plan, ImportReport& report) {
  if (!plan::find_plan_rejection(job, plan)) return;
  const std::optional<model::LoraAdapters> adapters = job.model.adapters;
  job.model.adapters.reset();
  if (plan::find_plan_rejection(job, plan)) {
    job.model.adapters = adapters;
  } else {
    report_adapter_settings_as_unread(report);
  }
}

}  // namespace

plan::PlannedJob stated_plan_without_legality_check(PlanDraft draft, ImportReport& report,
                                                    const UserFacts& given,
                                                    const std::string& file) {
  plan::Job job;
  job.model = settled_model(draft, report, given, file);
  name_model(job.model, report.notes);
  job.model_name = job.model.name.empty() ? "model" : job.model.name;
  if (const std::string fault = invalid_name_reason(job.model_name); !fault.empty()) {
    fail_input(fmt::format("{}: the model's name {}", file, fault));
  }
  settle_batch(draft.plan, draft.batch, report, given, file);
  job.cluster = draft.extent.cluster;
  job.sequences = *draft.batch.sequences;
  job.length = *draft.batch.length;
  job.precision = draft.precision;
  job.optimizer = draft.optimizer;
  job.muon = draft.muon;
  job.host_threads = draft.host_threads;
  job.dispatcher = draft.dispatcher;
  job.capacity_factor = draft.capacity_factor;
  job.pad_to_capacity = draft.pad_to_capacity;
  job.framework = draft.framework;
  job.space = draft.space;
  job.kernels = plan::default_kernels(job.framework, job.cluster.device);
  if (draft.fused_cross_entropy) job.kernels.cross_entropy = draft.fused_loss;
  if (draft.loss) {
    job.kernels.loss_chunks = draft.loss->chunks;
    job.kernels.loss_keeps = draft.loss->keeps;
  }
  for (const auto& [kernel, on] : draft.kernels) job.kernels.*kernel = on;
  job.kernels.attention =
      plan::default_attention_kernel(job.framework, job.cluster.device, job.kernels.deterministic);
  job.kernels.masters = draft.masters.value_or(job.kernels.masters);
  job.kernels.cuda_graphs = draft.cuda_graphs;
  if (draft.pytorch_attention) {
    // The framework without its variant, whose trainer could choose another kernel.
    const plan::TrainingFramework alone{.name = job.framework.name};
    job.kernels.attention = plan::default_kernels(alone, job.cluster.device).attention;
    report.add_assumption(
        "job.kernels.attention",
        "PyTorch's choice for sdpa: cuDNN on compute capability 9.0 and 10.0 since PyTorch "
        "2.11, before it FlashAttention 2");
  }
  if (draft.attention) job.kernels.attention = *draft.attention;
  job.attention_stated = draft.attention.has_value();
  if (draft.adapters) {
    StatedLoraAdapters adapters = *draft.adapters;
    if (draft.stored_in_4_bits && adapters.base == DType::kBf16) adapters.base = DType::kNf4;
    apply_lora_adapters(adapters, file, job, report);
  }
  take_frozen(draft, job.model);
  if (draft.trained) plan::read_adapters_and_frozen_parts(draft.trained->root(), job);
  keep_held_modules(draft.plan, report, job.model);
  apply_user_document_lengths(read_batch_option(given.batch), job, draft.plan, draft.batch, report);
  job.method = settled_method(draft.method, job);
  group_experts(draft.plan, job.model, draft.expert_group);
  if (draft.framework_overlap) take_overlap(job, draft.plan);
  if (job.model.adapters && draft.plan.sequence_parallel) {
    draft.plan.tensor_input = draft.tensor_input.value_or(plan::default_gathered_input_policy(job));
  }
  if (draft.framework_gradients)
    draft.plan.accumulate = plan::default_gradient_type(job, draft.plan);
  job.notes = report.notes;
  if (draft.adapters) keep_covered_adapters(job, draft.plan, report);
  return {.job = std::move(job), .plan = draft.plan};
}

plan::PlannedJob plan_with_effective_choices(plan::PlannedJob planned) {
  planned.plan = plan::FrameworkSupport(planned.job.framework)
                     .with_framework_bucket_sizes(planned.job,
                                                  plan::canonical_plan(planned.plan, planned.job));
  return planned;
}

std::optional<plan::PlanRejection> find_start_rejection(
    const std::optional<plan::PlanRejection>& by_framework, const plan::PlannedJob& planned) {
  const auto broken = plan::find_plan_rejection(planned.job, planned.plan);
  return broken ? broken : by_framework;
}

plan::PlannedJob finish(PlanDraft draft, ImportReport& report, const UserFacts& given,
                        const std::string& file) {
  const std::optional<plan::PlanRejection> refusal = draft.refused;
  plan::PlannedJob planned =
      stated_plan_without_legality_check(std::move(draft), report, given, file);
  if (const auto refused = find_start_rejection(refusal, planned))
    plan::fail_rejected_plan(*refused, file);
  return plan_with_effective_choices(std::move(planned));
}

}  // namespace stepwright::framework_files
