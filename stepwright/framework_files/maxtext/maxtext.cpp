#include "stepwright/framework_files/maxtext/maxtext.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/fields.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/maxtext/settings.h"

namespace stepwright {
namespace {

constexpr Named<RecomputeKind> kRematPolicies[] = {{RecomputeKind::kNone, "minimal_with_context"},
                                                   {RecomputeKind::kSelective, "minimal"},
                                                   {RecomputeKind::kFull, "full"}};
constexpr Named<ContextKind> kContextStrategies[] = {{ContextKind::kAllGather, "all_gather"},
                                                     {ContextKind::kRing, "ring"},
                                                     {ContextKind::kUlysses, "ulysses"}};
constexpr Named<DType> kJaxTypes[] = {{DType::kBf16, "bfloat16"}, {DType::kFp32, "float32"}};
constexpr Named<Optimizer> kJaxOptimizers[] = {
    {Optimizer::kAdamW, "adamw"}, {Optimizer::kAdamW, "adam_pax"}, {Optimizer::kSgd, "sgd"}};
constexpr Named<AttentionKernel> kJaxAttention[] = {{AttentionKernel::kUnfused, "dot_product"},
                                                    {AttentionKernel::kCudnn, "cudnn_flash_te"}};

/// Sizes of the axes of MaxText's mesh.
struct MaxTextMesh {
  std::int64_t data = 1, pipeline = 1, fsdp = 1, context = 1, tensor = 1, tensor_sequence = 1,
               expert = 1;
};
struct MaxTextAxis {
  std::string_view name;
  std::int64_t MaxTextMesh::* size;
};
/// The axes of a mesh, from the fastest to the slowest (base.yml, mesh_axes).
constexpr MaxTextAxis kMaxTextAxes[] = {
    {"expert", &MaxTextMesh::expert}, {"tensor_sequence", &MaxTextMesh::tensor_sequence},
    {"tensor", &MaxTextMesh::tensor}, {"context", &MaxTextMesh::context},
    {"fsdp", &MaxTextMesh::fsdp},     {"pipeline", &MaxTextMesh::pipeline},
    {"data", &MaxTextMesh::data}};

MaxTextMesh mesh_of(const Plan& plan) {
  const Parallel& degrees = plan.parallel;
  MaxTextMesh mesh{
      .pipeline = degrees.pipeline, .context = degrees.context, .expert = degrees.expert};
  (plan.sequence_parallel ? mesh.tensor_sequence : mesh.tensor) = degrees.tensor;
  const std::int64_t rest = degrees.data / degrees.expert;
  const Sharding& sharding = plan.sharding;
  if (sharding.uses(Spread::kInner)) {
    const std::int64_t inner = degrees.context * degrees.expert;
    mesh.fsdp = sharding.group / inner;
    mesh.data = rest / mesh.fsdp;
  } else if (sharding.parameters == Spread::kGlobal) {
    mesh.fsdp = rest;
  } else {
    mesh.data = rest;
  }
  return mesh;
}

/// Sets each axis inside a node and across nodes: the fastest ones fill the node.
void add_mesh(Tree& file, const MaxTextMesh& mesh, const Cluster& cluster) {
  std::int64_t room = cluster.devices_per_node;
  for (const auto& [name, size] : kMaxTextAxes) {
    const std::int64_t degree = mesh.*size;
    const std::int64_t inside = std::min(degree, room);
    room /= inside;
    file.set(fmt::format("ici_{}_parallelism", name), inside);
    file.set(fmt::format("dcn_{}_parallelism", name), degree / inside);
  }
}

void add_model_sizes(Tree& file, const Architecture& model) {
  file.set("decoder_block", model.experts ? "mixtral" : "llama2");
  file.set("base_emb_dim", model.hidden);
  file.set("base_num_decoder_layers", model.layers);
  file.set("base_num_query_heads", model.heads);
  file.set("base_num_kv_heads", model.kv_heads);
  file.set("head_dim", model.head_dim);
  file.set("base_mlp_dim", model.ffn > 0 || !model.experts ? model.ffn : model.experts->ffn);
  file.set("vocab_size", model.vocabulary);
  file.set("logits_via_embedding", model.tied);
  file.set("normalization_layer_epsilon", model.norm_epsilon);
  file.set("rope_max_timescale", static_cast<std::int64_t>(std::llround(model.rotary_base)));
  const bool llama3 =
      model.rotary_scaling && model.rotary_scaling->kind == RotaryScalingKind::kLlama3;
  if (llama3) file.set("rope_type", "llama3.1");
  file.set("dropout_rate", model.dropout);
  if (!model.experts) return;
  file.set("num_experts", model.experts->count);
  file.set("num_experts_per_tok", model.experts->top_k);
}

std::optional<Architecture> read_model_sizes(const Fields& fields) {
  if (!fields.has("base_emb_dim") || !fields.has("base_num_decoder_layers")) return std::nullopt;
  Architecture model;
  model.name = "imported";
  model.hidden = fields.integer("base_emb_dim", 0);
  model.layers = fields.find("base_num_decoder_layers")->integer(1, kLargestLayers);
  model.heads = fields.integer("base_num_query_heads", 1);
  model.kv_heads = fields.integer("base_num_kv_heads", model.heads);
  model.head_dim = fields.integer("head_dim", model.hidden / model.heads);
  model.ffn = fields.integer("base_mlp_dim", 4 * model.hidden);
  model.vocabulary = fields.integer("vocab_size", 1);
  model.tied = fields.flag("logits_via_embedding", false);
  model.norm_epsilon = fields.number("normalization_layer_epsilon", model.norm_epsilon);
  model.rotary_base = fields.number("rope_max_timescale", model.rotary_base);
  model.dropout = fields.number("dropout_rate", 0);
  if (fields.word("rope_type", "default") == "llama3.1") {
    model.rotary_scaling = {.kind = RotaryScalingKind::kLlama3, .factor = 8};
  }
  if (fields.integer("num_experts", 1) > 1) {
    model.experts = Experts{.count = fields.integer("num_experts", 1),
                            .top_k = fields.integer("num_experts_per_tok", 1),
                            .ffn = model.ffn};
    model.ffn = 0;
  }
  check(model, fields.node().where());
  return model;
}

std::int64_t axis_of(const Fields& fields, std::string_view name) {
  return fields.integer(fmt::format("ici_{}_parallelism", name), 1) *
         fields.integer(fmt::format("dcn_{}_parallelism", name), 1);
}

void read_states_of_mesh(const Fields& fields, const MaxTextMesh& mesh, Plan& plan) {
  const std::int64_t inner = plan.parallel.context * mesh.expert * mesh.fsdp;
  const bool optimizer = fields.flag("shard_optimizer_over_data", false);
  std::string_view word = optimizer ? "NNG" : "NNN";
  if (mesh.fsdp > 1) word = mesh.data > 1 ? "III" : "GGG";
  plan.sharding = sharding_of(word).value();
  if (word == "III") plan.sharding.group = inner;
  if (plan.parallel.pipeline > 1 && mesh.data > 1) {
    plan.rank_order = rank_order_of("tp-cp-ep-pp-dp").value();
  }
}

void read_batch_of(const Fields& fields, Draft& draft) {
  Plan& plan = draft.plan;
  const std::int64_t ranks = draft.cluster.devices();
  const double share = fields.number("per_device_batch_size", 1);
  const auto pass = static_cast<std::int64_t>(std::llround(share * static_cast<double>(ranks)));
  const bool piped = plan.parallel.pipeline > 1;
  const std::int64_t rounds = fields.integer("gradient_accumulation_steps", 1);
  const std::int64_t parts = piped ? fields.integer("num_pipeline_microbatches", 1) : 1;
  draft.sequences = pass * rounds;
  plan.micro_batch = std::max<std::int64_t>(1, pass / plan.parallel.data / parts);
  draft.micro_batches = rounds * parts;
  draft.length = fields.integer("max_target_length", 2048);
}

}  // namespace

std::string write_maxtext(const PlannedJob& planned, const std::vector<std::string>& header) {
  const Job& job = planned.job;
  const Plan& plan = planned.plan;
  const bool piped = plan.parallel.pipeline > 1;
  Tree file = Tree::mapping();
  file.set("hardware", "gpu_multiprocess");
  add_model_sizes(file, job.model);
  add_mesh(file, mesh_of(plan), job.cluster);
  const auto devices = static_cast<double>(job.cluster.devices());
  const std::int64_t pass = piped ? job.sequences : plan.micro_batch * plan.parallel.data;
  file.set("per_device_batch_size", static_cast<double>(pass) / devices);
  file.set("max_target_length", job.length);
  if (piped) {
    file.set("num_pipeline_microbatches", micro_batches(job, plan));
    file.set("num_pipeline_repeats", 1);
    file.set("num_layers_per_pipeline_stage", job.model.layers / plan.parallel.pipeline);
  } else {
    file.set("gradient_accumulation_steps", micro_batches(job, plan));
  }
  if (sharding_word(plan.sharding) == "NNG") file.set("shard_optimizer_over_data", true);
  if (plan.parallel.context > 1) {
    file.set("context_parallel_strategy", name_of(kContextStrategies, plan.context_kind));
  }
  file.set("remat_policy", name_of(kRematPolicies, plan.recompute.kind));
  file.set("dtype", job.precision == DType::kFp32 ? "float32" : "bfloat16");
  if (job.precision == DType::kFp8) file.set("quantization", "fp8");
  file.set("grad_dtype", name_of(kJaxTypes, plan.accumulate));
  file.set("attention",
           job.kernels.attention == AttentionKernel::kUnfused ? "dot_product" : "cudnn_flash_te");
  file.set("opt_type", job.optimizer == Optimizer::kSgd ? "sgd" : "adamw");
  if (job.model.experts && job.dispatcher == Dispatcher::kAllGather) {
    file.set("use_ring_of_experts", true);
  }
  return comment_lines(header) + Document::from(file, "maxtext").to_yaml();
}

void read_maxtext(std::span<const SourceFile> files, const Given& given, Draft& draft) {
  if (files.size() != 1) fail_input("maxtext: one file is read at a time");
  const std::string& name = files.front().name;
  const Document document = with_settings(Document::parse(files.front().text, name), given);
  const Fields fields(document.root());
  draft.model = read_model_sizes(fields);
  draft.framework_overlap = true;
  MaxTextMesh mesh;
  std::int64_t ranks = 1;
  for (const auto& [axis, size] : kMaxTextAxes) {
    mesh.*size = axis_of(fields, axis);
    if (__builtin_mul_overflow(ranks, mesh.*size, &ranks)) {
      fail_input(fmt::format("{}: the axes of the mesh have more than 2^63 ranks", name));
    }
  }
  draft.ranks = ranks;
  Plan& plan = draft.plan;
  plan.parallel.tensor = mesh.tensor * mesh.tensor_sequence;
  plan.parallel.context = mesh.context;
  plan.parallel.pipeline = mesh.pipeline;
  plan.parallel.expert = mesh.expert;
  settle_ranks(draft, given, name);
  plan.sequence_parallel = mesh.tensor_sequence > 1;
  if (mesh.pipeline > 1) plan.schedule.kind = ScheduleKind::kGpipe;
  read_states_of_mesh(fields, mesh, plan);
  read_batch_of(fields, draft);
  plan.context_kind =
      fields.choice("context_parallel_strategy", kContextStrategies, ContextKind::kAllGather);
  plan.recompute.kind = fields.choice("remat_policy", kRematPolicies, RecomputeKind::kFull);
  draft.precision = fields.choice("dtype", kJaxTypes, DType::kBf16);
  if (fields.word("quantization", "") == "fp8") draft.precision = DType::kFp8;
  plan.accumulate = fields.choice("grad_dtype", kJaxTypes, DType::kFp32);
  draft.optimizer = fields.choice("opt_type", kJaxOptimizers, Optimizer::kAdamW);
  if (fields.has("attention") && fields.word("attention", "") != "autoselected") {
    draft.attention = fields.choice("attention", kJaxAttention, AttentionKernel::kCudnn);
  }
  if (fields.flag("use_ring_of_experts", false)) draft.dispatcher = Dispatcher::kAllGather;
  list_settings(fields, name, kMaxTextSettings, draft.report);
}

bool is_maxtext(const SourceFile& file) {
  return holds(file, "base_emb_dim") || holds(file, "ici_fsdp_parallelism") ||
         holds(file, "per_device_batch_size");
}

}  // namespace stepwright
