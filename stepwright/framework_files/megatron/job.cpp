#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stepwright/core/scalar.h"
#include "stepwright/framework_files/megatron/deepspeed_fields.h"
#include "stepwright/framework_files/megatron/forks.h"
#include "stepwright/framework_files/megatron/rules.h"

namespace stepwright::framework_files {
namespace {

/// Returns the last batch size of a schedule "0:384 200B:768 400B:1152", whose entries are the
/// number of tokens and the batch from there on.
std::int64_t last_of_schedule(DocumentNode node) {
  const std::string text = node.text();
  const std::size_t colon = text.rfind(':');
  const std::string_view last =
      colon == std::string::npos ? std::string_view() : std::string_view(text).substr(colon + 1);
  const IntegerParseResult batch = read_integer(last.substr(0, last.find_last_not_of(' ') + 1));
  if (batch.status != IntegerParseResult::IntegerParseStatus::kGood || batch.value < 1) {
    node.fail("is no schedule of batches, as \"0:384 200B:768 400B:1152\"");
  }
  return batch.value;
}

void read_precision(const FrameworkSettingsReader& fields, const KnownJobFacts& /*known*/,
                    SettingRuleReadResult& reading) {
  const std::string word = fields.word("precision", "fp32");
  reading.precision = word == "bf16" ? DType::kBf16 : word == "fp16" ? DType::kFp16 : DType::kFp32;
  if (fields.has("fp8")) {
    const bool blocks = fields.word("fp8_recipe", "delayed") == "mxfp8";
    reading.precision = blocks ? DType::kMxfp8 : DType::kFp8;
  }
  if (fields.has("fp4")) reading.precision = DType::kNvfp4;
  if (word == "fp32" && (fields.has("fp8") || fields.has("fp4"))) {
    reading.left_out.emplace_back(
        *fields.find(fields.has("fp8") ? "fp8" : "fp4"),
        "that parameters and activations are in fp32, as neither bf16 nor fp16 is said");
  }
  // By default Megatron accumulates gradients in fp32 for bf16, but not for fp16; narrow gradients
  // of the optimizer keep it from that (megatron/training/arguments.py, validate_args).
  const bool usual = word != "fp16" && fields.word("main_grads_dtype", "fp32") == "fp32";
  const bool wide = fields.flag("grad_reduce_in_fp32", usual);
  const DType narrow = word == "fp16" ? DType::kFp16 : DType::kBf16;
  reading.plan.accumulate = wide || word == "fp32" ? DType::kFp32 : narrow;
}

void write_precision(const plan::PlannedJob& planned, std::string_view /*release*/,
                     DocumentTree& fields) {
  const plan::Job& job = planned.job;
  if (job.precision == DType::kFp16) fields.set("precision", "fp16");
  if (plan::parameter_storage_type(job.precision) == DType::kBf16) fields.set("precision", "bf16");
  if (job.precision == DType::kFp8) fields.set("fp8", "hybrid");
  if (job.precision == DType::kMxfp8) fields.set("fp8", "e4m3").set("fp8_recipe", "mxfp8");
  if (job.precision == DType::kNvfp4) fields.set("fp4", "e2m1");
  if (job.kernels.narrow_parameters &&
      job.precision != plan::parameter_storage_type(job.precision)) {
    fields.set(job.precision == DType::kNvfp4 ? "fp4_param_gather" : "fp8_param_gather", true);
  }
  const bool wide = planned.plan.accumulate == DType::kFp32;
  if (job.precision != DType::kFp32) fields.set("grad_reduce_in_fp32", wide);
}

/// Reads Muon. If states are sharded, each parameter has one owner; without the distributed buffer
/// layout, all ranks receive the gradients, and embedding tables are assigned whole, too.
void read_muon(const FrameworkSettingsReader& fields, SettingRuleReadResult& reading) {
  reading.optimizer = plan::Optimizer::kMuon;
  reading.muon =
      fields.choice("muon_tp_mode", plan::kMuonFormNames, plan::MuonTensorSplit::kBlockwise);
  const bool owners = fields.word("optimizer", "") == "dist_muon" ||
                      fields.flag("use_layer_wise_distributed_optimizer", false);
  plan::Sharding& sharding = reading.plan.sharding;
  if (owners && sharding == plan::Sharding{})
    sharding.optimizer = plan::StateShardingScope::kGlobal;
  if (!fields.flag("use_layer_wise_param_layout", true)) {
    reading.kernels.emplace_back(&plan::FrameworkKernels::scattered_gradients, false);
  }
  if (const auto steps = fields.find("muon_num_ns_steps"); steps && steps->text() != "5") {
    reading.left_out.emplace_back(*steps, "that it takes other than five steps for each matrix");
  }
  if (const auto scalar = fields.find("muon_scalar_optimizer");
      scalar && scalar->text() != "adam") {
    reading.left_out.emplace_back(*scalar,
                                  "the optimizer of what is no matrix: Adam's states are counted");
  }
}

/// Reads the optimizer; one that no job has is replaced by Adam.
void read_optimizer(const FrameworkSettingsReader& fields, const KnownJobFacts& /*known*/,
                    SettingRuleReadResult& reading) {
  const std::string word = fields.word("optimizer", "adam");
  const bool muon = word == "muon" || word == "dist_muon";
  reading.optimizer = word == "sgd" ? plan::Optimizer::kSgd
                      : muon        ? plan::Optimizer::kMuon
                                    : plan::Optimizer::kAdam;
  if (muon) return read_muon(fields, reading);
  if (word != "sgd" && word != "adam") {
    reading.left_out.emplace_back(
        *fields.find("optimizer"),
        "its states, its updates and how they are sharded: those of adam are counted");
  }
}

void write_optimizer(const plan::PlannedJob& planned, std::string_view /*release*/,
                     DocumentTree& fields) {
  const plan::Job& job = planned.job;
  const bool muon = job.optimizer == plan::Optimizer::kMuon;
  fields.set("optimizer", job.optimizer == plan::Optimizer::kSgd ? "sgd" : muon ? "muon" : "adam");
  if (muon) {
    fields.set("muon_tp_mode", name_of(plan::kMuonFormNames, job.muon));
    if (!job.kernels.scattered_gradients) fields.set("use_layer_wise_param_layout", false);
  }
}

void read_optimizer_types(const FrameworkSettingsReader& fields, const KnownJobFacts& /*known*/,
                          SettingRuleReadResult& reading) {
  if (reading.optimizer == plan::Optimizer::kMuon) return;
  const auto narrow = [&](std::string_view key) { return fields.word(key, "fp32") == "bf16"; };
  if (narrow("exp_avg_dtype") && narrow("exp_avg_sq_dtype")) {
    reading.optimizer = plan::Optimizer::kAdamNarrow;
  }
}

void write_optimizer_types(const plan::PlannedJob& planned, std::string_view /*release*/,
                           DocumentTree& fields) {
  const plan::Job& job = planned.job;
  if (job.optimizer == plan::Optimizer::kSgd) fields.set("sgd_momentum", 0);
  if (job.optimizer == plan::Optimizer::kAdamNarrow) {
    fields.set("use_precision_aware_optimizer", true);
    fields.set("exp_avg_dtype", "bf16").set("exp_avg_sq_dtype", "bf16");
  }
}

/// Reads which parts of a step CUDA graphs capture, from `--cuda-graph-impl` and its scope.
void read_graphs(const FrameworkSettingsReader& fields, SettingRuleReadResult& reading) {
  plan::CudaGraphScope& graphs = reading.cuda_graphs;
  const bool older =
      fields.flag("enable_cuda_graph", false) || fields.flag("external_cuda_graph", false);
  const std::string kind = fields.word("cuda_graph_impl", "none");
  graphs.step = kind == "full_iteration";
  if (graphs.step || (!older && kind == "none")) return;
  const auto scope = fields.find("cuda_graph_scope");
  const std::size_t count = !scope ? 0 : scope->is_sequence() ? scope->size() : 1;
  // Without a scope, whole layers are captured.
  if (count == 0) graphs.attention = graphs.mlp = graphs.router = true;
  for (std::size_t i = 0; i < count; ++i) {
    const DocumentNode node = scope->is_sequence() ? scope->at(i) : *scope;
    const std::string word = node.text();
    const auto* const part = std::ranges::find(plan::kGraphParts, word, &plan::CudaGraphPart::name);
    if (part != std::end(plan::kGraphParts)) graphs.*(part->part) = true;
    if (word == "full_iteration") graphs.step = true;
    if (word == "moe")
      reading.left_out.emplace_back(*scope, "that the experts are in a CUDA graph");
  }
}

/// Reads the kernels that decide the layers' workspaces and buffers. Megatron's own layers always
/// use its own attention.
void read_layers(const FrameworkSettingsReader& fields, const KnownJobFacts& known,
                 SettingRuleReadResult& reading) {
  if (is_megatron_deepspeed(fields)) return;
  const bool local = fields.word("transformer_impl", "transformer_engine") == "local";
  reading.kernels.emplace_back(&plan::FrameworkKernels::transformer_engine, !local);
  if (local) {
    const bool fused = fields.word("attention_backend", "") == kMegatronForkAttentionBackend;
    reading.attention =
        fused ? cluster::AttentionKernel::kFlash2 : cluster::AttentionKernel::kUnfused;
  }
  const std::string_view groups = megatron_default_value("moe_grouped_gemm", known.framework);
  reading.kernels.emplace_back(&plan::FrameworkKernels::grouped_experts,
                               fields.flag("moe_grouped_gemm", groups == "true"));
  // No argument sets these fields of megatron/core/transformer/transformer_config.py, but recipes
  // and files can.
  if (fields.flag("fp8_dot_product_attention", false) ||
      fields.flag("fp8_multi_head_attention", false)) {
    reading.kernels.emplace_back(&plan::FrameworkKernels::narrow_attention, true);
  }
  for (const char* const key : {"fp8_param_gather", "fp4_param_gather"}) {
    if (!fields.has(key)) continue;
    reading.kernels.emplace_back(&plan::FrameworkKernels::narrow_parameters,
                                 fields.flag(key, false));
  }
  if (!fields.flag("deterministic_mode", false)) return;
  reading.kernels.emplace_back(&plan::FrameworkKernels::deterministic, true);
  reading.left_out.emplace_back(*fields.find("deterministic_mode"),
                                "that deterministic kernels take longer");
}

void read_kernels(const FrameworkSettingsReader& fields, const KnownJobFacts& known,
                  SettingRuleReadResult& reading) {
  static constexpr Named<cluster::AttentionKernel> kWords[] = {
      {cluster::AttentionKernel::kFlash2, "flash"},
      {cluster::AttentionKernel::kFlash1, "flash1"},
      {cluster::AttentionKernel::kCudnn, "fused"},
      {cluster::AttentionKernel::kUnfused, "unfused"},
      {cluster::AttentionKernel::kUnfused, "local"},
      {cluster::AttentionKernel::kCudnn, "auto"},
      {cluster::AttentionKernel::kFlash2, kMegatronForkAttentionBackend}};
  if (fields.has("attention_backend") && fields.word("attention_backend", "") != "auto") {
    reading.attention =
        fields.choice("attention_backend", kWords, cluster::AttentionKernel::kFlash2);
  }
  if (!fields.flag("gradient_accumulation_fusion", true)) {
    reading.kernels.emplace_back(&plan::FrameworkKernels::fused_accumulation, false);
  }
  if (!fields.flag("masked_softmax_fusion", true)) {
    reading.kernels.emplace_back(&plan::FrameworkKernels::fused_softmax, false);
  }
  read_layers(fields, known, reading);
  read_graphs(fields, reading);
  static constexpr Named<plan::CrossEntropyKernel> kLosses[] = {
      {plan::CrossEntropyKernel::kNative, "native"}, {plan::CrossEntropyKernel::kTe, "te"}};
  reading.fused_cross_entropy = fields.flag("cross_entropy_loss_fusion", false);
  reading.fused_loss =
      fields.choice("cross_entropy_fusion_impl", kLosses, plan::CrossEntropyKernel::kNative);
}

void write_kernels(const plan::PlannedJob& planned, std::string_view /*release*/,
                   DocumentTree& fields) {
  const plan::Job& job = planned.job;
  static constexpr std::array kBackends = {"unfused", "flash", "flash", "flash", "fused"};
  fields.set("attention_backend", kBackends[static_cast<std::size_t>(job.kernels.attention)]);
  if (!job.kernels.fused_loss()) return;
  fields.set("cross_entropy_loss_fusion", true);
  const bool engine = job.kernels.cross_entropy == plan::CrossEntropyKernel::kTe;
  if (engine) fields.set("cross_entropy_fusion_impl", "te");
}

/// Dispatchers in the words of `--moe-token-dispatcher-type`.
constexpr Named<plan::TokenDispatcher> kMegatronDispatchers[] = {
    {plan::TokenDispatcher::kAllToAll, "alltoall"},
    {plan::TokenDispatcher::kAllToAll, "alltoall_seq"},
    {plan::TokenDispatcher::kAllGather, "allgather"},
    {plan::TokenDispatcher::kOncePerNode, "flex"}};

void read_dispatcher(const FrameworkSettingsReader& fields, const KnownJobFacts& known,
                     SettingRuleReadResult& reading) {
  if (!known.routed) return;
  const plan::TokenDispatcher usual = is_megatron_deepspeed(fields)
                                          ? plan::TokenDispatcher::kAllToAll
                                          : plan::TokenDispatcher::kAllGather;
  reading.dispatcher = fields.choice("moe_token_dispatcher_type", kMegatronDispatchers, usual);
  if (const auto factor = fields.find("moe_expert_capacity_factor")) {
    reading.capacity_factor = factor->number(plan::kLeastCapacityFactor, plan::kMostCapacityFactor);
    reading.pad_to_capacity = fields.flag("moe_pad_expert_input_to_capacity", false);
  }
  // Checked by __post_init__ in megatron/core/transformer/transformer_config.py.
  const bool deepep = fields.flag("moe_enable_deepep", false);
  if (deepep && reading.dispatcher != plan::TokenDispatcher::kOncePerNode) {
    fields.find("moe_enable_deepep")->fail("needs moe_token_dispatcher_type flex");
  }
}

void write_dispatcher(const plan::PlannedJob& planned, std::string_view /*release*/,
                      DocumentTree& fields) {
  const plan::Job& job = planned.job;
  if (!job.model.experts) return;
  fields.set("moe_token_dispatcher_type", name_of(kMegatronDispatchers, job.dispatcher));
  if (job.dispatcher == plan::TokenDispatcher::kOncePerNode) {
    fields.set("moe_flex_dispatcher_backend", "deepep");
  }
  if (job.capacity_factor > 0) fields.set("moe_expert_capacity_factor", job.capacity_factor);
  if (job.pad_to_capacity) fields.set("moe_pad_expert_input_to_capacity", true);
}

}  // namespace

constinit const SettingTranslationRule kPrecision{.read = read_precision, .write = write_precision};
constinit const SettingTranslationRule kOptimizer{.read = read_optimizer, .write = write_optimizer};
constinit const SettingTranslationRule kOptimizerTypes{.read = read_optimizer_types,
                                                       .write = write_optimizer_types};
constinit const SettingTranslationRule kKernels{.read = read_kernels, .write = write_kernels};
constinit const SettingTranslationRule kDispatcher{.read = read_dispatcher,
                                                   .write = write_dispatcher};

void read_batch_fields(const FrameworkSettingsReader& fields, const UserFacts& given,
                       StatedStepBatch& job_batch, ImportReport& report) {
  job_batch.sequences = fields.size("global_batch_size");
  if (fields.has("rampup_batch_size")) {
    report.notes.push_back("The batch is the one after rampup_batch_size.");
  }
  if (const auto schedule = fields.find("step_batch_size_schedule")) {
    const std::int64_t last = last_of_schedule(*schedule);
    if (job_batch.sequences && *job_batch.sequences != last) {
      schedule->fail("cannot be given together with another global batch");
    }
    job_batch.sequences = last;
    report.notes.push_back(
        fmt::format("The batch is the last of step_batch_size_schedule, {} sequences.", last));
  }
  if (job_batch.sequences || job_batch.micro_batches || !given.batch.empty()) return;
  job_batch.micro_batches = 1;
  report.notes.push_back("The batch is one micro-batch, Megatron's default.");
}

}  // namespace stepwright::framework_files
