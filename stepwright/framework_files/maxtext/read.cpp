#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/maxtext/form.h"
#include "stepwright/framework_files/maxtext/maxtext.h"
#include "stepwright/framework_files/maxtext/words.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/model/catalog.h"

namespace stepwright::framework_files {
namespace {

/// Exponents of two by which the sizes of base.yml's model grow: src/MaxText/pyconfig.py:
/// get_individual_scales.
struct MaxTextScale {
  int heads = 0, width = 0, layers = 0;
};

MaxTextScale scale_of(const FrameworkSettingsReader& fields) {
  const std::int64_t factor = fields.integer("global_parameter_scale", 1);
  int power = 0;
  while (power < 40 && std::int64_t{1} << power < factor) ++power;
  if (std::int64_t{1} << power != factor) {
    fields.find("global_parameter_scale")->fail("must be a power of two");
  }
  const int rest = power % 3;
  return {.heads = power / 3 + (rest > 0 ? 1 : 0),
          .width = power / 3 + (rest > 1 ? 1 : 0),
          .layers = power / 3};
}

/// Reads the model's sizes, with the defaults of base.yml.
model::ModelArchitecture read_model_sizes(const FrameworkSettingsReader& fields) {
  const MaxTextScale scale = scale_of(fields);
  model::ModelArchitecture model;
  model.name = "imported";
  model.hidden = fields.integer("base_emb_dim", 2048) << scale.width;
  model.layers = fields.integer("base_num_decoder_layers", 16) << scale.layers;
  if (model.layers > model::kMaxModelLayers)
    fields.node().fail("more layers than a model can have");
  // Until 2023-10, one key set query heads and key heads.
  const std::int64_t heads = fields.integer("base_num_heads", 16);
  const std::int64_t queries = fields.integer("base_num_query_heads", heads);
  model.heads = queries << scale.heads;
  model.kv_heads = fields.integer("base_num_kv_heads", heads) << scale.heads;
  model.head_dim = fields.integer("head_dim", 128);
  model.ffn = fields.integer("base_mlp_dim", 7168) << scale.heads;
  model.vocabulary = fields.integer("vocab_size", 32000);
  model.tied = fields.flag("logits_via_embedding", false);
  model.norm_epsilon = fields.number("normalization_layer_epsilon", model.norm_epsilon);
  model.rotary_base = fields.number("rope_max_timescale", model.rotary_base);
  model.dropout = fields.number("dropout_rate", 0);
  if (fields.word("rope_type", "default") == "llama3.1") {
    model.rotary_scaling = {.kind = model::RotaryScalingKind::kLlama3, .factor = 8};
  }
  if (fields.integer("num_experts", 1) > 1) {
    model.experts = model::MixtureOfExperts{.count = fields.integer("num_experts", 1),
                                            .top_k = fields.integer("num_experts_per_tok", 1),
                                            .ffn = model.ffn};
    model.ffn = 0;
  }
  model::check_model_sizes(model, fields.node().file_position_text());
  return model;
}

/// Reads the model: its name decides all sizes, unless override_model_config allows other settings.
void read_maxtext_model(const FrameworkSettingsReader& fields, const UserFacts& given,
                        StatedModel& model_words, ImportReport& report) {
  const std::string name = fields.word("model_name", "default");
  if (name == "default" || name.empty()) {
    static constexpr std::string_view kSizes[] = {"base_emb_dim", "base_num_decoder_layers",
                                                  "global_parameter_scale"};
    const bool said = std::ranges::any_of(kSizes, [&](auto key) { return fields.has(key); });
    if (model_words.model || (given.known_model && !said)) return;
    model_words.model = read_model_sizes(fields);
    if (!said)
      report.notes.emplace_back("The files state no size of the model: it is that of base.yml.");
    return;
  }
  if (given.known_model) return;
  const std::string_view known = meaning_of_program_setting_word("maxtext/models", "models", name);
  if (known.empty()) {
    fields.find("model_name")->fail("is none of the built-in models: --model is required");
  }
  model_words.model = model::built_in_model(known);
  report.notes.push_back(
      fmt::format("{} is assumed to be the model {}.", one_line_printable_text(name), known));
}

/// The degrees of one level of the mesh, within nodes or across nodes.
struct MeshLevel {
  MaxTextMeshSizes mesh;
  /// Axis of size -1, which gets the devices that the other axes leave; null: none.
  std::int64_t MaxTextMeshSizes::* open = nullptr;
  std::int64_t product = 1;  ///< Product of the axes whose degrees are stated.
};

/// Axes that shard states and activations like another axis, and so count as that axis.
struct OtherAxis {
  std::string_view name;
  std::int64_t MaxTextMeshSizes::* size;
};
constexpr OtherAxis kOtherAxes[] = {{"fsdp_transpose", &MaxTextMeshSizes::fsdp},
                                    {"tensor_transpose", &MaxTextMeshSizes::tensor},
                                    {"sequence", &MaxTextMeshSizes::context}};

/// Reads the degrees of one level of the mesh ("ici" within nodes, "dcn" across nodes). By default
/// base.yml gives the remaining devices to `fsdp` within nodes and to `data` across nodes.
MeshLevel read_level(const FrameworkSettingsReader& fields, std::string_view level,
                     std::string_view usually_open) {
  MeshLevel read;
  const auto take = [&](std::string_view axis, std::int64_t MaxTextMeshSizes::* size) {
    const auto value = fields.find(fmt::format("{}_{}_parallelism", level, axis));
    std::int64_t degree = axis == usually_open ? -1 : 1;
    if (value) degree = value->integer(-1, kMaxIntegerSetting);
    if (degree == 0 || (degree < 0 && read.open != nullptr)) {
      if (value) value->fail("must be a degree, or -1 for one axis that takes what is left");
      degree = 1;
    }
    if (degree < 0) {
      read.open = size;
    } else if (__builtin_mul_overflow(read.mesh.*size, degree, &(read.mesh.*size)) ||
               __builtin_mul_overflow(read.product, degree, &read.product)) {
      fields.node().fail("the axes of the mesh have more than 2^63 ranks");
    }
  };
  // An axis to which the file gives size -1 replaces the one to which base.yml gives it.
  std::string_view open = usually_open;
  for (const auto& [axis, size] : kMaxTextMeshAxes) {
    const auto value = fields.node().find(fmt::format("{}_{}_parallelism", level, axis));
    if (value && value->is_number() && value->integer() == -1) open = "";
  }
  if (open.empty()) usually_open = "";
  for (const auto& [axis, size] : kMaxTextMeshAxes) take(axis, size);
  for (const auto& [axis, size] : kOtherAxes) take(axis, size);
  return read;
}

/// Sets the axes of size -1: across nodes to the remaining nodes, within nodes to the remaining
/// devices.
MaxTextMeshSizes filled(MeshLevel outer, MeshLevel inner, const cluster::Cluster& cluster,
                        const FrameworkSettingsReader& fields) {
  const std::int64_t devices = cluster.devices();
  if (outer.open != nullptr) {
    const std::int64_t across =
        inner.open != nullptr ? cluster.nodes : std::max<std::int64_t>(1, devices / inner.product);
    if (across % outer.product != 0) {
      fields.node().fail(fmt::format("dcn axes of {} do not divide {} {}", outer.product, across,
                                     inner.open != nullptr ? "nodes" : "groups of the ici axes"));
    }
    outer.mesh.*outer.open *= across / outer.product;
    outer.product = across;
  }
  if (inner.open != nullptr) {
    std::int64_t fixed = 1;
    const bool over = __builtin_mul_overflow(outer.product, inner.product, &fixed);
    if (over || devices % fixed != 0) {
      fields.node().fail(fmt::format("axes of {} x {} do not divide {} devices", outer.product,
                                     inner.product, devices));
    }
    inner.mesh.*inner.open *= devices / fixed;
  }
  MaxTextMeshSizes mesh;
  for (const auto& [axis, size] : kMaxTextMeshAxes) {
    if (__builtin_mul_overflow(outer.mesh.*size, inner.mesh.*size, &(mesh.*size))) {
      fields.node().fail("the axes of the mesh have more than 2^63 ranks");
    }
  }
  return mesh;
}

std::int64_t ranks_of(const MaxTextMeshSizes& mesh, const FrameworkSettingsReader& fields) {
  std::int64_t ranks = 1;
  for (const auto& [axis, size] : kMaxTextMeshAxes) {
    if (__builtin_mul_overflow(ranks, mesh.*size, &ranks)) {
      fields.node().fail("the axes of the mesh have more than 2^63 ranks");
    }
  }
  return ranks;
}

MaxTextMeshSizes read_mesh(const FrameworkSettingsReader& fields, const std::string& name,
                           const UserFacts& given, plan::Plan& plan, JobRankCounts& extent,
                           ImportReport& report) {
  const MeshLevel outer = read_level(fields, "dcn", "data");
  const MeshLevel inner = read_level(fields, "ici", "fsdp");
  // Open axes follow from the number of devices, for which the cluster must be known.
  if (outer.open != nullptr || inner.open != nullptr)
    resolve_cluster_and_data_degree(plan, extent, report, given, name);
  MaxTextMeshSizes mesh = filled(outer, inner, extent.cluster, fields);
  extent.ranks = ranks_of(mesh, fields);
  plan::ParallelismDegrees& degrees = plan.parallel;
  degrees.tensor = mesh.tensor * mesh.tensor_sequence;
  degrees.context = mesh.context;
  degrees.pipeline = mesh.pipeline;
  degrees.expert = mesh.expert;
  resolve_cluster_and_data_degree(plan, extent, report, given, name);
  return mesh;
}

void read_states_of_mesh(const FrameworkSettingsReader& fields, const MaxTextMeshSizes& mesh,
                         plan::Plan& plan) {
  const std::int64_t inner = plan.parallel.context * mesh.expert * mesh.fsdp;
  const bool optimizer = fields.flag("shard_optimizer_over_data", false);
  std::string_view word = optimizer ? "NNG" : "NNN";
  if (mesh.fsdp > 1) word = mesh.data > 1 ? "III" : "GGG";
  plan.sharding = plan::sharding_named_by_word(word).value();
  if (word == "III") plan.sharding.group = inner;
  if (plan.parallel.pipeline > 1 && mesh.data > 1) {
    plan.rank_order = plan::parse_rank_order("tp-cp-ep-pp-dp").value();
  }
}

PlanDraft read_maxtext_batch(const FrameworkSettingsReader& fields, PlanDraft draft) {
  plan::Plan& plan = draft.plan;
  const std::int64_t ranks = draft.extent.cluster.devices();
  const double share = fields.number("per_device_batch_size", 12);
  const double whole = share * static_cast<double>(ranks);
  if (!(whole >= 0.5 && whole < 1e12)) {
    fields.find("per_device_batch_size")->fail("must make at least one sequence of a step");
  }
  const auto pass = static_cast<std::int64_t>(std::llround(whole));
  const bool piped = plan.parallel.pipeline > 1;
  const std::int64_t rounds = fields.integer("gradient_accumulation_steps", 1);
  const std::int64_t parts = piped ? fields.integer("num_pipeline_microbatches", 1) : 1;
  draft.batch.sequences = pass * rounds;
  plan.micro_batch = std::max<std::int64_t>(1, pass / plan.parallel.data / parts);
  draft.batch.micro_batches = rounds * parts;
  draft.batch.length = fields.integer("max_target_length", 2048);
  return draft;
}

std::span<const MaxTextRematPolicy> policies() {
  static const std::array<MaxTextRematPolicy, 15> kPolicies = {{
      {"full", {.kind = plan::RecomputeKind::kFull}},
      {"minimal", {.kind = plan::RecomputeKind::kSelective}},
      {"minimal_with_context", {.kind = plan::RecomputeKind::kNone}},
      {"minimal_flash", {.kind = plan::RecomputeKind::kNone}},
      {"save_dot_with_context_except_mlp",
       {.kind = plan::RecomputeKind::kModules,
        .modules = {plan::RecomputeModule::kMlp, plan::RecomputeModule::kMoe}}},
      {"save_dot_except_mlp",
       {.kind = plan::RecomputeKind::kModules,
        .modules = {plan::RecomputeModule::kCoreAttention, plan::RecomputeModule::kMlp,
                    plan::RecomputeModule::kMoe}}},
      {"save_dot_except_mlpwi",
       {.kind = plan::RecomputeKind::kModules,
        .modules = {plan::RecomputeModule::kCoreAttention, plan::RecomputeModule::kMlp,
                    plan::RecomputeModule::kMoe}},
       kNearestPolicy},
      {"save_qkv_proj", {.kind = plan::RecomputeKind::kFull}, kNearestPolicy},
      {"save_out_proj", {.kind = plan::RecomputeKind::kFull}, kNearestPolicy},
      {"proj", {.kind = plan::RecomputeKind::kFull}, kNearestPolicy},
      {"custom", {.kind = plan::RecomputeKind::kFull}, kNearestPolicy},
      {"qkv_proj_offloaded", {.kind = plan::RecomputeKind::kFull}, kOffloaded},
      {"minimal_offloaded", {.kind = plan::RecomputeKind::kSelective}, kOffloaded},
      {"minimal_with_context_and_quantization",
       {.kind = plan::RecomputeKind::kNone},
       kNearestPolicy},
      {"none", {.kind = plan::RecomputeKind::kNone}},
  }};
  return kPolicies;
}

void read_remat(const FrameworkSettingsReader& fields, const std::string& file, plan::Plan& plan,
                ImportReport& report) {
  const std::string word = fields.word("remat_policy", "full");
  const auto known = std::ranges::find(policies(), word, &MaxTextRematPolicy::name);
  if (known == policies().end()) {
    std::string all;
    for (const MaxTextRematPolicy& one : policies()) all += fmt::format(" {}", one.name);
    fields.find("remat_policy")->fail(fmt::format("must be one of{}", all));
  }
  plan.recompute = known->recompute;
  if (known->leaves_out.empty()) return;
  report.not_read.push_back({"remat_policy", word, file, fields.find("remat_policy")->source_line(),
                             SettingImpact::kYes, std::string(known->leaves_out)});
}

/// Reads quantization: the words of base.yml; src/maxtext/layers/quantizations.py.
void read_quantization(const FrameworkSettingsReader& fields, const std::string& file,
                       PartialPlan& settled, ImportReport& report) {
  const std::string word = fields.word("quantization", "");
  const auto has = [&](std::string_view part) { return word.find(part) != std::string::npos; };
  if (word.empty()) return;
  if (has("mxfp8")) {
    settled.precision = DType::kMxfp8;
  } else if (has("fp8")) {
    settled.precision = DType::kFp8;
  } else if (has("nvfp4")) {
    settled.precision = DType::kNvfp4;
  } else {
    report.not_read.push_back({"quantization", one_line_printable_text(word), file,
                               fields.find("quantization")->source_line(), SettingImpact::kYes,
                               "products in this type"});
  }
}

void read_attention(const FrameworkSettingsReader& fields, const std::string& file,
                    PartialPlan& settled, ImportReport& report) {
  const std::string word = fields.word("attention", "autoselected");
  const bool known = std::ranges::any_of(
      kJaxAttention, [&](const Named<cluster::AttentionKernel>& one) { return one.name == word; });
  if (known) {
    settled.attention = fields.choice("attention", kJaxAttention, cluster::AttentionKernel::kCudnn);
  } else if (word != "autoselected") {
    // Other kernels are for JAX or TPUs, and no job names them.
    report.not_read.push_back({"attention", one_line_printable_text(word), file,
                               fields.find("attention")->source_line(), SettingImpact::kYes,
                               "the kernel of attention"});
  }
}

/// Marks as mattering the settings that turn grouped products of experts off, which have no effect
/// in models without experts.
void mark_dense_experts(ImportReport& report) {
  for (SettingNotInPlan& one : report.not_read) {
    if (one.name != "sparse_matmul" && one.name != "megablox") continue;
    one.matters = SettingImpact::kYes;
    one.why = "the kernel of experts' products";
  }
}

/// Reads bf16 parameters. The optimizer's moments have the same type, unless `mu_dtype` sets
/// another: src/MaxText/configs/base.yml; src/MaxText/optimizers.py, adamw's mu_dtype.
void read_weight_type(const FrameworkSettingsReader& fields, PartialPlan& settled) {
  const auto type = fields.node().find("weight_dtype");
  if (!type || !type->is_scalar() || type->text() != "bfloat16") return;
  const auto moment = fields.node().find("mu_dtype");
  const bool same =
      !moment || moment->is_null() || moment->text().empty() || moment->text() == "bfloat16";
  if (!same || plan::parameter_storage_type(settled.precision) != DType::kBf16) return;
  fields.mark_setting_read("weight_dtype");
  fields.mark_setting_read("mu_dtype");
  settled.masters = plan::MasterWeights::kNone;
}

}  // namespace

PlanDraft read_maxtext(Sources files, const UserFacts& given, PlanDraft draft,
                       ImportReport& report) {
  const YamlJsonDocument form =
      read_maxtext_mapping(files, given, draft.extent, draft.start, report);
  return read_maxtext_plan(form, given, std::move(draft), report);
}

PlanDraft read_maxtext_plan(const YamlJsonDocument& document, const UserFacts& given,
                            PlanDraft draft, ImportReport& report) {
  const std::string& name = document.document_name();
  const FrameworkSettingsReader fields(document.root());
  read_maxtext_model(fields, given, draft, report);
  draft.framework_overlap = true;
  const MaxTextMeshSizes mesh = read_mesh(fields, name, given, draft.plan, draft.extent, report);
  plan::Plan& plan = draft.plan;
  plan.sequence_parallel = mesh.tensor_sequence > 1;
  if (mesh.pipeline > 1) plan.schedule.kind = schedule::PipelineScheduleKind::kGpipe;
  read_states_of_mesh(fields, mesh, plan);
  draft = read_maxtext_batch(fields, std::move(draft));
  plan.context_kind =
      fields.choice("context_parallel_strategy", kContextStrategies, plan::ContextKind::kAllGather);
  read_remat(fields, name, draft.plan, report);
  draft.precision = fields.choice("dtype", kJaxTypes, DType::kBf16);
  read_quantization(fields, name, draft, report);
  plan.accumulate = fields.choice("grad_dtype", kJaxTypes, DType::kFp32);
  draft.optimizer = fields.choice("opt_type", kJaxOptimizers, plan::Optimizer::kAdamW);
  read_attention(fields, name, draft, report);
  read_weight_type(fields, draft);
  if (fields.flag("use_ring_of_experts", false))
    draft.dispatcher = plan::TokenDispatcher::kAllGather;
  report_read_and_unread_settings(fields, name, known_program_settings("maxtext/settings"), report);
  mark_dense_experts(report);
  return draft;
}

}  // namespace stepwright::framework_files
