#include "stepwright/plan/files/read_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/count.h"
#include "stepwright/core/format.h"
#include "stepwright/core/name.h"
#include "stepwright/core/quantity.h"
#include "stepwright/core/utf8.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/choices/read_choices.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/files/document_batch.h"
#include "stepwright/plan/files/read_adapters.h"
#include "stepwright/plan/files/read_imbalance.h"
#include "stepwright/plan/files/read_method.h"
#include "stepwright/plan/files/run_keys.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/file_words.h"
#include "stepwright/plan/frameworks/release.h"

namespace stepwright::plan {
namespace {

constexpr double kMostBytes = 1e18;
constexpr double kMostRate = 1e18;

/// Fails on `packed: true` of old files, which does not say enough.
void read_packed(DocumentNode parent) {
  const auto packed = parent.find("packed");
  if (packed && packed->boolean()) {
    packed->fail_unsupported(
        "is not enough: state batch.lengths (how long documents are) and batch.packing (how they "
        "are packed) instead");
  }
}

/// Returns the number of sequences of a batch that is stated in tokens.
std::int64_t sequences_of(DocumentNode tokens, std::int64_t length) {
  const std::int64_t count = read_batch_or_sequence_size(tokens, 1, kMaxPlanFileCount);
  if (count % length == 0) return count / length;
  const std::int64_t below = count / length * length;
  tokens.fail(fmt::format("must be a multiple of the length {}; the nearest are {}{}", length,
                          below > 0 ? fmt::format("{} and ", below) : "", below + length));
}

/// Adds a note if a count was written with a unit letter (`4k`).
void tell_count(std::string_view key, DocumentNode node, std::int64_t count, Job& job) {
  if (!node.is_scalar() || node.is_number()) return;
  job.notes.push_back(fmt::format("batch.{}: {} is read as {}.", key,
                                  one_line_printable_text(node.text()), format_count(count)));
}

/// Reads a count of the batch, which may be written as `4k`.
std::int64_t read_batch_count(DocumentNode batch, std::string_view key, Job& job) {
  const DocumentNode node = batch.get(key);
  const std::int64_t count = read_batch_or_sequence_size(node, 1, kMaxPlanFileCount);
  tell_count(key, node, count, job);
  return count;
}

/// Reads the mean number of images per sequence, and the patches of an image.
void read_images(DocumentNode node, Job& job) {
  std::optional<model::ImageEncoder>& encoder = job.model.encoder;
  if (!encoder) node.fail("the model has no encoder of images");
  const bool mapping = node.is_mapping();
  if (mapping) node.allow_only_keys({"count", "patches"});
  const auto count = mapping ? node.find("count") : node;
  if (count) encoder->images = count->number(0, model::kMaxImagesPerSequence);
  if (encoder->images > 0 && encoder->parameters == 0) {
    node.fail(fmt::format(
        "the parameter count of the encoder ({}) is unknown: set batch.images to 0 to leave it out",
        one_line_printable_text(encoder->name)));
  }
  const auto patches = mapping ? node.find("patches") : std::nullopt;
  if (patches)
    encoder = model::encoder_with_patches(*encoder, patches->integer(1, model::kMaxImagePatches));
  const double tokens = encoder->images * static_cast<double>(encoder->tokens);
  if (tokens > static_cast<double>(job.length)) {
    node.fail(fmt::format("images become {:.6g} tokens of a sequence of {}", tokens, job.length));
  }
}

void read_batch(DocumentNode node, const std::filesystem::path& directory, Job& job) {
  node.allow_only_keys({"sequences", "tokens", "length", "lengths", "packing", "packed", "images"});
  const auto tokens = node.find("tokens");
  if (tokens && node.find("sequences")) {
    tokens->fail("cannot be given together with sequences: both state the size of the batch");
  }
  require_mapping_keys(node, {tokens ? "tokens" : "sequences", "length"});
  if (!tokens) job.sequences = read_batch_count(node, "sequences", job);
  job.length = read_batch_count(node, "length", job);
  if (tokens) job.sequences = sequences_of(*tokens, job.length);
  if (tokens) tell_count("tokens", *tokens, job.sequences * job.length, job);
  read_packed(node);
  if (const auto images = node.find("images")) read_images(*images, job);
  job.documents = read_document_batch(node, job.length, directory);
}

/// Reads a release of a framework; empty: the newest.
std::string read_release(DocumentNode node) {
  std::string release = read_name(node);
  const std::string fault = release.empty() ? "" : invalid_release_reason(release);
  if (!fault.empty()) node.fail(fault);
  return release;
}

/// Returns the name that users give a framework or its variant, with its release if it is stated.
std::string release_text(const TrainingFramework& framework) {
  const std::string& name = framework.variant.empty() ? framework.name : framework.variant;
  return framework.version.empty() ? name : fmt::format("{} {}", name, framework.version);
}

TrainingFramework read_framework(DocumentNode node) {
  const bool mapping = node.is_mapping();
  if (mapping) node.allow_only_keys({"name", "version", "variant"});
  const DocumentNode name = mapping ? node.get("name") : node;
  TrainingFramework framework{.name =
                                  std::string(framework_of_config_format_name(read_name(name)))};
  const auto& known = kFrameworkNames;
  if (!mapping) {
    if (const auto variant = base_framework_of_variant(framework.name)) return *variant;
  }
  if (std::ranges::find(known, framework.name) == std::ranges::end(known)) {
    fail_unknown_word(name, known);
  }
  const auto version = mapping ? node.find("version") : std::nullopt;
  if (version) framework.version = read_release(*version);
  const auto variant = mapping ? node.find("variant") : std::nullopt;
  if (!variant || variant->text().empty()) return framework;
  const std::vector<std::string_view> variants = framework_variant_names(framework.name);
  if (std::ranges::find(variants, variant->text()) == variants.end()) {
    if (variants.empty()) variant->fail(fmt::format("{} has no variants", framework.name));
    fail_unknown_word(*variant, variants);
  }
  framework.variant = variant->text();
  return framework;
}

/// Reads CUDA graphs: true, false, or a list of layer parts.
CudaGraphScope read_graphs(DocumentNode node) {
  if (!node.is_sequence()) return {.step = node.boolean()};
  std::vector<std::string_view> known;
  for (const CudaGraphPart& part : kGraphParts) known.push_back(part.name);
  CudaGraphScope graphs;
  for (std::size_t i = 0; i < node.size(); ++i) {
    const auto found = std::ranges::find(kGraphParts, node.at(i).text(), &CudaGraphPart::name);
    if (found == std::end(kGraphParts)) fail_unknown_word(node.at(i), known);
    graphs.*found->part = true;
  }
  return graphs;
}

/// Key `fused_cross_entropy` (true or false) of files older than `cross_entropy`.
constexpr std::string_view kOldCrossEntropy = "fused_cross_entropy";

CrossEntropyKernel read_cross_entropy(DocumentNode node, CrossEntropyKernel usual) {
  const auto word = node.find("cross_entropy");
  const auto old = node.find(kOldCrossEntropy);
  if (word && old)
    old->fail("cannot be given together with cross_entropy: both state how the loss is computed");
  if (word) return word->choice(kCrossEntropyNames);
  if (!old) return usual;
  return old->boolean() ? CrossEntropyKernel::kCompiled : CrossEntropyKernel::kUnfused;
}

/// Reads kernels; returns `kernels` with the values that the file states.
FrameworkKernels read_kernels(DocumentNode node, FrameworkKernels kernels) {
  std::vector<std::string_view> keys = {"attention",     "cuda_graphs",    "casts",
                                        "masters",       "loss_chunks",    "loss_keeps",
                                        "cross_entropy", "expert_weights", kOldCrossEntropy};
  for (const auto& [flag, name] : kKernelFlagNames) keys.push_back(name);
  node.allow_only_keys(keys);
  if (const auto given = node.find("attention")) {
    kernels.attention = given->choice(cluster::kAttentionKernelNames);
  }
  if (const auto given = node.find("cuda_graphs")) kernels.cuda_graphs = read_graphs(*given);
  if (const auto given = node.find("casts")) kernels.casts = given->choice(kCastScalingNames);
  if (const auto given = node.find("masters")) kernels.masters = given->choice(kMasterWeightsNames);
  if (const auto given = node.find("loss_chunks")) {
    kernels.loss_chunks = given->integer(0, kMostLossChunks);
  }
  if (const auto given = node.find("loss_keeps")) {
    kernels.loss_keeps = given->choice(kLossSavedTensorsNames);
  }
  kernels.cross_entropy = read_cross_entropy(node, kernels.cross_entropy);
  if (const auto given = node.find("expert_weights")) {
    kernels.expert_weights = given->choice(kExpertWeightsNames);
  }
  for (const auto& [flag, name] : kKernelFlagNames) {
    if (const auto given = node.find(name)) kernels.*flag = given->boolean();
  }
  return kernels;
}

void check_targets(DocumentNode node, const Objective& objective) {
  const int targets =
      (objective.target_step_time_s > 0 ? 1 : 0) + (objective.target_tokens_per_s > 0 ? 1 : 0);
  const bool smallest = objective.kind == TunerObjectiveKind::kSmallestCluster;
  if (smallest && targets != 1) {
    node.fail("smallest_cluster needs either target_step_time (seconds) or target_tokens_per_s");
  }
  if (!smallest && targets != 0) node.fail("targets belong to smallest_cluster");
}

/// True if a cluster says `use: all`, a word for the search that does not describe the cluster.
bool reads_use_all(DocumentNode cluster) {
  static constexpr Named<bool> kUses[] = {{false, "some"}, {true, "all"}};
  const auto use = cluster.is_mapping() ? cluster.find("use") : std::nullopt;
  return use && use->choice(kUses);
}

/// Reads a goal of the tuner; fails if the word is neither a goal nor a method.
TunerObjectiveKind read_goal(DocumentNode word) {
  std::vector<std::string_view> known;
  for (const auto& [kind, name] : kObjectiveNames) {
    if (word.text() == name) return kind;
    known.push_back(name);
  }
  for (const auto& [kind, name] : kMethodNames) known.push_back(name);
  fail_unknown_word(word, known);
}

/// Reads the tuner's objective. If `objective` names a training method, the goal is the step time.
Objective read_objective(DocumentNode node, bool method) {
  Objective objective;
  if (node.is_mapping()) {
    std::vector<std::string_view> keys = {"kind",
                                          "memory_limit",
                                          "memory_reserve",
                                          "memory_confidence",
                                          "target_step_time",
                                          "target_tokens_per_s"};
    std::ranges::copy(training_method_keys(), std::back_inserter(keys));
    node.allow_only_keys(keys);
    const auto read = [node](std::string_view key, QuantityKind quantity, double most,
                             double& value) {
      const auto given = node.find(key);
      if (given) value = require_positive_value(*given, read_quantity(*given, quantity, 0, most));
    };
    const auto kind = node.find("kind");
    if (kind && !method) objective.kind = read_goal(*kind);
    read("memory_limit", QuantityKind::kBytes, kMostBytes, objective.memory_limit_bytes);
    if (const auto given = node.find("memory_confidence")) {
      objective.memory_confidence = given->number(kMinMemoryFitConfidence, kMaxMemoryFitConfidence);
    }
    if (const auto given = node.find("memory_reserve")) {
      objective.memory_reserve = given->number(0, 1);
      if (objective.memory_reserve == 1) given->fail("must be below 1: it would leave nothing");
    }
    read("target_step_time", QuantityKind::kTime, kMostRate, objective.target_step_time_s);
    if (const auto rate = node.find("target_tokens_per_s")) {
      objective.target_tokens_per_s = require_positive_value(*rate, rate->number(0, kMostRate));
    }
  } else if (!method) {
    objective.kind = read_goal(node);
  }
  check_targets(node, objective);
  return objective;
}

void read_objectives(DocumentNode node, Job& job) {
  const std::optional<TrainingMethodKind> method = training_method_named_by_objective(node);
  job.objective = read_objective(node, method.has_value());
  if (method) {
    job.method = read_training_method(node, *method, job);
    return;
  }
  for (const std::string_view key : training_method_keys()) {
    const auto given = node.is_mapping() ? node.find(key) : std::nullopt;
    if (given) given->fail("only the kinds dpo, grpo and ppo have this key");
  }
}

void read_model_of(DocumentNode node, const std::filesystem::path& directory, Job& job) {
  job.model = model::read_job_model(node.get("model"), directory, &job.notes);
  job.model_name = job.model.name.empty() ? "model" : job.model.name;
  if (const auto dropout = node.find("dropout")) {
    job.model.dropout = dropout->number(0, 1);
    if (job.model.dropout == 1) dropout->fail("must be below 1: it would drop everything");
  }
}

void read_experts(DocumentNode node, const std::filesystem::path& directory, Job& job) {
  if (const auto given = node.find("routing")) job.routing = given->choice(kRoutingNames);
  if (const auto given = node.find("dispatcher")) job.dispatcher = given->choice(kDispatcherNames);
  if (const auto given = node.find("imbalance")) read_expert_imbalance(*given, directory, job);
  if (const auto given = node.find("capacity_factor")) {
    job.capacity_factor = given->number(kLeastCapacityFactor, kMostCapacityFactor);
  }
  if (const auto given = node.find("pad_to_capacity")) job.pad_to_capacity = given->boolean();
  if (job.pad_to_capacity && job.capacity_factor == 0) {
    node.get("pad_to_capacity").fail("needs capacity_factor, the rows that it pads to");
  }
}

/// Fails if a tensor of a step could have more elements than an integer holds; tests the widest
/// tensor of the whole batch and the scores of one sequence.
void check_size(DocumentNode node, const Job& job) {
  const model::ModelArchitecture& model = job.model;
  const auto widest = static_cast<double>(
      std::max({model.hidden, model.ffn, model.vocabulary, model.heads * model.head_dim}));
  const auto length = static_cast<double>(job.length);
  const double scores = static_cast<double>(model.heads) * length * length;
  constexpr double kMost = 0x1p60;
  if (job.tokens() * widest > kMost || scores > kMost) {
    node.fail(fmt::format("{} sequences of {} tokens make tensors of more than 2^60 elements",
                          job.sequences, job.length));
  }
}

}  // namespace

Job read_job_mapping(DocumentNode node, const std::filesystem::path& directory,
                     PlanFileVersion version, const TrainingFramework& unsaid) {
  if (node.find("stepwright")) version = read_stepwright_file_version(node, "job");
  check_plan_key_places(node);
  check_allowed_keys(node, {kJobFileKeys, kJobFileOnlyKeys, kAllPlanFileKeys});
  require_mapping_keys(node, {"model", "cluster", "batch"});
  Job job;
  read_model_of(node, directory, job);
  job.cluster = cluster::read_job_cluster(node.get("cluster"), directory);
  job.use_all = reads_use_all(node.get("cluster"));
  read_batch(node.get("batch"), directory, job);
  read_packed(node);
  if (const auto given = node.find("precision")) job.precision = given->choice(kPrecisionNames);
  const auto framework = node.find("framework");
  job.framework = framework ? read_framework(*framework) : unsaid;
  read_adapters_and_frozen_parts(node, job);
  job.optimizer = default_optimizer(job.framework, job.model);
  if (const auto given = node.find("optimizer")) job.optimizer = given->choice(kOptimizerNames);
  if (const auto given = node.find("muon")) job.muon = given->choice(kMuonFormNames);
  if (const auto given = node.find("host_threads")) {
    job.host_threads = given->integer(1, kMaxHostOptimizerThreads);
  }
  if (const auto given = node.find("conditions")) {
    job.conditions = read_absolute_path(*given, directory);
  }
  if (const auto given = node.find("measured"))
    job.measured = read_absolute_path(*given, directory);
  job.kernels = default_kernels(job.framework, job.cluster.device);
  if (const auto given = node.find("kernels")) {
    const bool gathers = job.kernels.gathered_heads;
    job.kernels = read_kernels(*given, job.kernels);
    if (job.kernels.gathered_heads && !gathers && !job.framework.name.empty()) {
      job.notes.push_back(fmt::format(
          "{} does not gather heads, so it refuses plans whose tensor degree does not divide the "
          "key-value heads: leave out kernels.gathered_heads.",
          release_text(job.framework)));
    }
    job.attention_stated = given->find("attention").has_value();
    if (!job.attention_stated) {
      job.kernels.attention =
          default_attention_kernel(job.framework, job.cluster.device, job.kernels.deterministic);
    }
  }
  if (const auto given = node.find("objective")) read_objectives(*given, job);
  if (const auto given = node.find("run")) job.run = read_training_run_settings(*given);
  read_experts(node, directory, job);
  job.space = read_search_space(node, version, job.notes);
  check_size(node.get("batch"), job);
  return job;
}

bool is_stepwright_file_of_kind(const YamlJsonDocument& document, std::string_view kind) {
  const DocumentNode root = document.root();
  if (!root.is_mapping()) return false;
  const auto version = root.find("stepwright");
  return version && version->is_scalar() && version->text().starts_with(std::string(kind) + "/");
}

Job read_job(const YamlJsonDocument& document, const std::filesystem::path& directory) {
  const PlanFileVersion version = read_stepwright_file_version(document.root(), "job");
  return read_job_mapping(document.root(), directory, version);
}

Job load_job(const std::filesystem::path& path) {
  return read_job(YamlJsonDocument::load(path), path.parent_path());
}

}  // namespace stepwright::plan
