#include "stepwright/framework_files/megatron/job.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/scalar.h"
#include "stepwright/framework_files/megatron/deepspeed_fields.h"
#include "stepwright/framework_files/megatron/forks.h"

namespace stepwright::framework_files {
namespace {

/// The batch of the last step of "0:384 200B:768 400B:1152", tokens and the batch from there on.
std::int64_t last_of_schedule(Node node) {
  const std::string text = node.text();
  const std::size_t colon = text.rfind(':');
  const std::string_view last =
      colon == std::string::npos ? std::string_view() : std::string_view(text).substr(colon + 1);
  const IntegerReading batch = read_integer(last.substr(0, last.find_last_not_of(' ') + 1));
  if (batch.status != IntegerReading::Status::kGood || batch.value < 1) {
    node.fail("is no schedule of batches, as \"0:384 200B:768 400B:1152\"");
  }
  return batch.value;
}

void read_precision_fields(const Fields& fields, Draft& draft) {
  const std::string word = fields.word("precision", "fp32");
  draft.precision = word == "bf16" ? DType::kBf16 : word == "fp16" ? DType::kFp16 : DType::kFp32;
  if (fields.has("fp8")) {
    const bool blocks = fields.word("fp8_recipe", "delayed") == "mxfp8";
    draft.precision = blocks ? DType::kMxfp8 : DType::kFp8;
  }
  if (fields.has("fp4")) draft.precision = DType::kNvfp4;
  if (word == "fp32" && (fields.has("fp8") || fields.has("fp4"))) {
    draft.leave_out(
        *fields.find(fields.has("fp8") ? "fp8" : "fp4"),
        "that parameters and activations are in fp32, as neither bf16 nor fp16 is said");
  }
  // In bf16 Megatron accumulates in fp32 unless it is told not to, in fp16 only when it is told.
  const bool wide = fields.flag("grad_reduce_in_fp32", word != "fp16");
  const DType narrow = word == "fp16" ? DType::kFp16 : DType::kBf16;
  draft.plan.accumulate = wide || word == "fp32" ? DType::kFp32 : narrow;
}

/// By owner where states are sharded; without its layout of buffers gradients reach all ranks, and
/// tables are dealt out whole, too.
void read_muon(const Fields& fields, Draft& draft) {
  draft.optimizer = plan::Optimizer::kMuon;
  draft.muon = fields.choice("muon_tp_mode", plan::kMuonFormNames, plan::MuonForm::kBlockwise);
  const bool owners = fields.word("optimizer", "") == "dist_muon" ||
                      fields.flag("use_layer_wise_distributed_optimizer", false);
  plan::Sharding& sharding = draft.plan.sharding;
  if (owners && sharding == plan::Sharding{}) sharding.optimizer = plan::Spread::kGlobal;
  if (!fields.flag("use_layer_wise_param_layout", true)) {
    draft.kernels.emplace_back(&plan::Kernels::scattered_gradients, false);
  }
  if (const auto steps = fields.find("muon_num_ns_steps"); steps && steps->text() != "5") {
    draft.leave_out(*steps, "that it takes other than five steps for each matrix");
  }
  if (const auto scalar = fields.find("muon_scalar_optimizer");
      scalar && scalar->text() != "adam") {
    draft.leave_out(*scalar, "the optimizer of what is no matrix: Adam's states are counted");
  }
}

/// Optimizers that no job has are taken for Adam.
void read_optimizer(const Fields& fields, Draft& draft) {
  const std::string word = fields.word("optimizer", "adam");
  const bool muon = word == "muon" || word == "dist_muon";
  draft.optimizer = word == "sgd" ? plan::Optimizer::kSgd
                    : muon        ? plan::Optimizer::kMuon
                                  : plan::Optimizer::kAdam;
  if (muon) return read_muon(fields, draft);
  if (word != "sgd" && word != "adam") {
    draft.leave_out(*fields.find("optimizer"),
                    "its states, its updates and how they are sharded: those of adam are counted");
  }
  const auto narrow = [&](std::string_view key) { return fields.word(key, "fp32") == "bf16"; };
  if (narrow("exp_avg_dtype") && narrow("exp_avg_sq_dtype")) {
    draft.optimizer = plan::Optimizer::kAdamNarrow;
  }
}

/// The parts of a step that are captured, as `--cuda-graph-impl` and the words of its scope say.
void read_graphs(const Fields& fields, Draft& draft) {
  plan::CudaGraphs& graphs = draft.cuda_graphs;
  const bool older =
      fields.flag("enable_cuda_graph", false) || fields.flag("external_cuda_graph", false);
  const std::string kind = fields.word("cuda_graph_impl", "none");
  graphs.step = kind == "full_iteration";
  if (graphs.step || (!older && kind == "none")) return;
  const auto scope = fields.find("cuda_graph_scope");
  const std::size_t count = !scope ? 0 : scope->is_sequence() ? scope->size() : 1;
  // Without a scope whole layers are captured.
  if (count == 0) graphs.attention = graphs.mlp = graphs.router = true;
  for (std::size_t i = 0; i < count; ++i) {
    const Node node = scope->is_sequence() ? scope->at(i) : *scope;
    const std::string word = node.text();
    const auto* const part = std::ranges::find(plan::kGraphParts, word, &plan::GraphPart::name);
    if (part != std::end(plan::kGraphParts)) graphs.*(part->part) = true;
    if (word == "full_iteration") graphs.step = true;
    if (word == "moe") draft.leave_out(*scope, "that the experts are in a CUDA graph");
  }
}

/// What decides the workspaces and buffers of layers. Megatron's own layers have its own attention,
/// whatever kernel is asked for; a script groups the products of experts when it is told to, where
/// recipes do it.
void read_layers(const Fields& fields, Draft& draft) {
  if (is_megatron_deepspeed(fields)) return;
  const bool local = fields.word("transformer_impl", "transformer_engine") == "local";
  draft.kernels.emplace_back(&plan::Kernels::transformer_engine, !local);
  if (local) {
    const bool fused = fields.word("attention_backend", "") == kForkAttention;
    draft.attention =
        fused ? cluster::AttentionKernel::kFlash2 : cluster::AttentionKernel::kUnfused;
  }
  draft.kernels.emplace_back(&plan::Kernels::grouped_experts,
                             fields.flag("moe_grouped_gemm", draft.framework.name == "nemo"));
  // megatron/core/transformer/transformer_config.py: no argument, but recipes and files set them.
  if (fields.flag("fp8_dot_product_attention", false) ||
      fields.flag("fp8_multi_head_attention", false)) {
    draft.kernels.emplace_back(&plan::Kernels::narrow_attention, true);
  }
  if (!fields.flag("deterministic_mode", false)) return;
  draft.kernels.emplace_back(&plan::Kernels::deterministic, true);
  draft.leave_out(*fields.find("deterministic_mode"), "that deterministic kernels take longer");
}

void read_kernels_of_fields(const Fields& fields, Draft& draft) {
  static constexpr Named<cluster::AttentionKernel> kWords[] = {
      {cluster::AttentionKernel::kFlash2, "flash"},
      {cluster::AttentionKernel::kFlash1, "flash1"},
      {cluster::AttentionKernel::kCudnn, "fused"},
      {cluster::AttentionKernel::kUnfused, "unfused"},
      {cluster::AttentionKernel::kUnfused, "local"},
      {cluster::AttentionKernel::kCudnn, "auto"},
      {cluster::AttentionKernel::kFlash2, kForkAttention}};
  if (fields.has("attention_backend") && fields.word("attention_backend", "") != "auto") {
    draft.attention = fields.choice("attention_backend", kWords, cluster::AttentionKernel::kFlash2);
  }
  if (!fields.flag("gradient_accumulation_fusion", true)) {
    draft.kernels.emplace_back(&plan::Kernels::fused_accumulation, false);
  }
  if (!fields.flag("masked_softmax_fusion", true)) {
    draft.kernels.emplace_back(&plan::Kernels::fused_softmax, false);
  }
  read_layers(fields, draft);
  read_graphs(fields, draft);
  draft.fused_cross_entropy = fields.flag("cross_entropy_loss_fusion", false);
  if (draft.routed) {
    const plan::Dispatcher usual =
        is_megatron_deepspeed(fields) ? plan::Dispatcher::kAllToAll : plan::Dispatcher::kAllGather;
    draft.dispatcher = fields.choice("moe_token_dispatcher_type", kMegatronDispatchers, usual);
    // megatron/core/transformer/transformer_config.py: __post_init__.
    const bool deepep = fields.flag("moe_enable_deepep", false);
    if (deepep && draft.dispatcher != plan::Dispatcher::kOncePerNode) {
      fields.find("moe_enable_deepep")->fail("needs moe_token_dispatcher_type flex");
    }
  }
}

}  // namespace

void read_batch_fields(const Fields& fields, const Given& given, Draft& draft) {
  draft.sequences = fields.size("global_batch_size");
  if (fields.has("rampup_batch_size")) {
    draft.notes.push_back("The batch is the one after rampup_batch_size.");
  }
  if (const auto schedule = fields.find("step_batch_size_schedule")) {
    const std::int64_t last = last_of_schedule(*schedule);
    if (draft.sequences && *draft.sequences != last) {
      schedule->fail("goes without a global batch beside it");
    }
    draft.sequences = last;
    draft.notes.push_back(
        fmt::format("The batch is the last of step_batch_size_schedule, {} sequences.", last));
  }
  if (draft.sequences || draft.micro_batches || !given.batch.empty()) return;
  draft.micro_batches = 1;
  draft.notes.push_back("The batch is one micro-batch, Megatron's default.");
}

void read_job_fields(const Fields& fields, Draft& draft) {
  read_precision_fields(fields, draft);
  read_optimizer(fields, draft);
  read_kernels_of_fields(fields, draft);
}

}  // namespace stepwright::framework_files
