#include "stepwright/framework_files/megatron/forks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kFusedKernel = "a fused kernel of the fork";
constexpr std::string_view kOverlapOfFork = "overlap of the fork's own";
constexpr std::string_view kTower =
    "the tower of images and what it takes: the language model alone is in the plan";
constexpr std::string_view kActivationsElsewhere = "activations that the fork moves or recomputes";

constexpr KnownSetting kForkSettings[] = {
    {"--use-fused-rmsnorm", ""},
    {"--use-fused-swiglu", ""},
    {"--use-fused-rotary-pos-emb", ""},
    {"--use-fused-moe-token-permute-and-unpermute", ""},
    {"--use-fused-ring-attention-update", ""},
    {"--use-fusion-attn-v2", ""},
    {"--use-fused-mlp", "", Matters::kYes, kFusedKernel},
    {"--gemm-gradient-accumulation-fusion", ""},
    {"--use-flash-attn-npu", ""},
    {"--sparse-mode", ""},
    {"--pre-tockens", ""},
    {"--next-tockens", ""},
    {"--shape-order", ""},
    {"--attention-mask-type", ""},
    {"--attention-mask-on-cpu", ""},
    {"--jit-compile", ""},
    {"--npu-deterministic", "", Matters::kYes, "deterministic kernels"},
    {"--optimization-level", ""},
    {"--disable-gloo-group", ""},
    {"--kv-head-repeat-before-uly-alltoall", ""},
    {"--megatron-cp-in-bnsd", ""},
    {"--use-cp-send-recv-overlap", ""},
    {"--cp-attention-mask-type", ""},
    {"--cp-window-size", "", Matters::kYes, "rings within rings of context parallelism"},
    {"--ulysses-degree-in-cp", "", Matters::kYes, "context parallelism of two levels"},
    {"--use-ulysses-allgather-kv", "", Matters::kYes, "how keys and values are exchanged"},
    {"--use-mc2", "", Matters::kYes, kOverlapOfFork},
    {"--use-ascend-mc2", "", Matters::kYes, kOverlapOfFork},
    {"--use-ascend-coc", "", Matters::kYes, kOverlapOfFork},
    {"--coc-*", "", Matters::kYes, kOverlapOfFork},
    {"--tp-2d", "", Matters::kYes, "tensor parallelism of two dimensions"},
    {"--tp-x", "", Matters::kYes, "tensor parallelism of two dimensions"},
    {"--tp-y", "", Matters::kYes, "tensor parallelism of two dimensions"},
    {"--moe-alltoall-overlap-comm", "", Matters::kYes, kOverlapOfFork},
    {"--moe-allgather-overlap-comm", "", Matters::kYes, kOverlapOfFork},
    {"--moe-fb-overlap", "", Matters::kYes, "forward and backward of experts beside each other"},
    {"--moe-unperm2-mem-optim*", "", Matters::kYes, kActivationsElsewhere},
    {"--moe-zero-memory*", "", Matters::kYes, kActivationsElsewhere},
    {"--moe-tp-extend-ep", "", Matters::kYes, "experts that are spread over tensor ranks, too"},
    {"--moe-permutation-async-comm", ""},
    {"--moe-without-activation", "", Matters::kYes, kActivationsElsewhere},
    {"--use-pipe-experts", "", Matters::kYes, kOverlapOfFork},
    {"--pipe-experts-*", "", Matters::kYes, kOverlapOfFork},
    {"--ampipe-*", "", Matters::kYes, kOverlapOfFork},
    {"--use-nanopipe*", "", Matters::kYes, "a schedule of the fork's own"},
    {"--use-ripipe*", "", Matters::kYes, "a schedule of the fork's own"},
    {"--schedules-method", "", Matters::kYes, "a schedule of the fork's own"},
    {"--dualpipev-*", "", Matters::kYes, "a schedule of the fork's own"},
    {"--recompute-in-bubble", "", Matters::kYes, "recomputation in the gaps of a pipeline"},
    {"--recompute-in-advance", "", Matters::kYes, "recomputation in the gaps of a pipeline"},
    {"--recompute-activation-function*", "", Matters::kYes, kActivationsElsewhere},
    {"--recompute-norm*", "", Matters::kYes, kActivationsElsewhere},
    {"--enable-recompute-layers-per-pp-rank", "", Matters::kYes,
     "that recomputed layers are counted for a whole stage"},
    {"--adaptive-recompute-*", "", Matters::kYes, kActivationsElsewhere},
    {"--adaptive-memory-optimization", "", Matters::kYes, kActivationsElsewhere},
    {"--swap-attention", "", Matters::kYes, "activations of attention on the host"},
    {"--swap-modules", "", Matters::kYes, "activations on the host"},
    {"--swap-optimizer*", "", Matters::kYes, "the optimizer's states on the host"},
    {"--smart-swap", "", Matters::kYes, "tensors on the host"},
    {"--memory-fragmentation", ""},
    {"--reuse-fp32-param", "", Matters::kYes,
     "that parameters share the memory of their fp32 copies"},
    {"--enable-zero3", "", Matters::kYes, "that parameters are shared, too"},
    {"--optimize-recomp-communication-*", "", Matters::kYes,
     "messages that recomputation leaves out"},
    {"--optimize-send-recv-comm", ""},
    {"--optimize-vpp-send-recv-comm", ""},
    {"--noop-layers", "", Matters::kYes, "that these layers do nothing: each is counted"},
    {"--fused-ema-*", "", Matters::kYes, "another optimizer"},
    {"--optimizer-selection", "", Matters::kYes, "another optimizer"},
    {"--add-dense-bias", "", Matters::kYes, "biases of products"},
    {"--skip-bias-add", ""},
    {"--sliding-window", "", Matters::kYes, "a window of attention"},
    {"--interleave-sliding-window", "", Matters::kYes, "a window of attention"},
    {"--use-mcore-*", ""},
    {"--rope-scaling-*", ""},
    {"--low-freq-factor", ""},
    {"--high-freq-factor", ""},
    {"--original-max-position-embeddings", ""},
    {"--norm-topk-prob", ""},
    {"--routed-scaling-factor", ""},
    {"--seq-aux", ""},
    {"--topk-group", ""},
    {"--input-layernorm-in-fp32", ""},
    {"--shared-expert-gate", "", Matters::kYes, "a gate of the shared expert"},
    {"--lora-*", "", Matters::kYes, "adapters: all weights are trained in the plan"},
    {"--stage", "", Matters::kYes, "a loss of its own", "sft"},
    {"--is-instruction-dataset", ""},
    {"--is-pairwise-dataset", "", Matters::kYes, "pairs, so that each of the batch is two"},
    {"--neat-pack", ""},
    {"--prompt-type", ""},
    {"--padded-samples", ""},
    {"--no-shared-storage", ""},
    {"--no-shuffle", ""},
    {"--tokenizer-not-use-fast", ""},
    {"--tokenizer-padding-side", ""},
    {"--output-layer-slice-num", ""},
    {"--patch-size", "", Matters::kYes, kTower},
    {"--patch-dim", "", Matters::kYes, kTower},
    {"--freeze-ViT", "", Matters::kYes, kTower},
    {"--freeze-LM", "", Matters::kYes, "that the language model is not trained"},
    {"--vision-model-type", "", Matters::kYes, kTower},
    {"--language-model-type", ""},
    {"--patch-tokenizer-type", ""},
    {"--max-padding-length", ""},
    {"--disable-vision-class-token", ""},
};

/// Of MindSpeed alone, whose `--use-flash-attn` puts its fused kernel in the place of Megatron's
/// own attention: Ascend/MindSpeed mindspeed/features_manager/transformer/flash_attention.
constexpr std::string_view kMindSpeed[] = {
    "--use-fused-rmsnorm", "--use-fused-swiglu",  "--use-fused-rotary-pos-emb",
    "--swap-attention",    "--reuse-fp32-param",  "--use-ascend-mc2",
    "--use-mc2",           "--npu-deterministic", "--recompute-activation-function",
    "--shape-order",       "--sparse-mode",       "--jit-compile"};

/// A number, 0 where -1 says that there is none.
std::int64_t number_of(const Tree& value, std::string_view flag, const std::string& name) {
  const IntegerReading number = read_integer(value.text);
  if (number.status == IntegerReading::Status::kGood && number.value >= -1) {
    return std::max<std::int64_t>(0, number.value);
  }
  fail_input(fmt::format("{}:{}: {}: must be an integer from -1; it is '{}'", name, value.line,
                         flag, printable(value.text)));
}

void set_field(MegatronArguments& arguments, std::string_view field, Tree value,
               std::string_view flag, std::uint32_t line) {
  value.line = line;
  value.column = 1;
  arguments.fields.set(field, std::move(value));
  arguments.flags.insert_or_assign(std::string(field), flag);
}

void take_context_algorithm(MegatronArguments& arguments, const std::string& name,
                            ImportReport& report) {
  constexpr std::string_view kFlag = "--context-parallel-algo";
  const auto said = take_field(arguments, "fork_context_algo");
  if (!said) return;
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"ulysses_cp_algo", "a2a"},
      {"megatron_cp_algo", "p2p"},
      {"kvallgather_cp_algo", "all_gather"}};
  const auto* const known =
      std::ranges::find(kWords, said->text, &std::pair<std::string_view, std::string_view>::first);
  if (known == std::end(kWords)) {
    report.not_read.push_back({std::string(kFlag), printable(said->text), name, said->line,
                               Matters::kYes,
                               "context parallelism of the fork's own: it is taken for a ring"});
    return;
  }
  set_field(arguments, "cp_comm_type", Tree::flow_sequence().add(std::string(known->second)), kFlag,
            said->line);
}

/// "8,9,8,7": the layers of each stage, as a layout says them.
void take_layer_list(MegatronArguments& arguments) {
  const auto said = take_field(arguments, "fork_layer_list");
  if (!said) return;
  std::string layout = "E";
  bool first = true;
  for (const char c : said->text) {
    if (c == ',') layout += '|';
    if (c == ',' || first) layout += "t*";
    if (c >= '0' && c <= '9') layout += c;
    first = false;
  }
  set_field(arguments, "pipeline_model_parallel_layout", Tree(layout + "L"), "--num-layer-list",
            said->line);
}

void take_fork_experts(MegatronArguments& arguments, const std::string& name) {
  const auto said = [&](std::string_view field) -> std::optional<Tree> {
    const Tree* const found = arguments.fields.find(field);
    return found == nullptr ? std::nullopt : std::optional(*found);
  };
  const auto width = said("moe_ffn_hidden_size");
  const auto layers = said("num_layers");
  if (const auto shared = take_field(arguments, "fork_shared_experts"); shared && width) {
    const std::int64_t all = number_of(*shared, "--n-shared-experts", name) *
                             number_of(*width, "--moe-intermediate-size", name);
    set_field(arguments, "moe_shared_expert_intermediate_size", all, "--n-shared-experts",
              shared->line);
  }
  const Tree* const every = arguments.fields.find("moe_layer_freq");
  if (every != nullptr && every->text == "-1") {
    static_cast<void>(take_field(arguments, "moe_layer_freq"));
  }
  const auto dense = take_field(arguments, "fork_first_dense");
  if (!dense || !layers) return;
  Tree marks = Tree::flow_sequence();
  const std::int64_t all = std::min<std::int64_t>(number_of(*layers, "--num-layers", name), 10'000);
  const std::int64_t first = number_of(*dense, "--first-k-dense-replace", name);
  for (std::int64_t i = 0; i < all; ++i) marks.add(i < first ? 0 : 1);
  set_field(arguments, "moe_layer_freq", std::move(marks), "--first-k-dense-replace", dense->line);
}

void take_fork_attention(MegatronArguments& arguments, const ImportReport& report) {
  const Tree* const kernel = arguments.fields.find("attention_backend");
  const bool fork = std::ranges::any_of(report.not_read, [](const UnreadSetting& one) {
    return std::ranges::find(kMindSpeed, one.name) != std::end(kMindSpeed);
  });
  if (!fork || kernel == nullptr || kernel->text != "flash") return;
  const std::uint32_t line = kernel->line;
  set_field(arguments, "attention_backend", Tree(kForkAttention), "--use-flash-attn", line);
}

}  // namespace

std::optional<Tree> take_field(MegatronArguments& arguments, std::string_view field) {
  const Tree* const said = arguments.fields.find(field);
  if (said == nullptr) return std::nullopt;
  Tree taken = *said;
  Tree kept = Tree::mapping();
  for (std::size_t i = 0; i + 1 < arguments.fields.items.size(); i += 2) {
    const std::string& key = arguments.fields.items[i].text;
    if (key != field) kept.set(key, arguments.fields.items[i + 1]);
  }
  arguments.fields = std::move(kept);
  return taken;
}

void take_forks(MegatronArguments& arguments, const std::string& name, ImportReport& report) {
  take_context_algorithm(arguments, name, report);
  take_layer_list(arguments);
  take_fork_experts(arguments, name);
  take_fork_attention(arguments, report);
  for (UnreadSetting& one : report.not_read) {
    if (one.matters != Matters::kMaybe) continue;
    const KnownSetting* const known = known_setting(kForkSettings, one.name);
    if (known == nullptr) continue;
    const bool usual = !known->usual.empty() && one.value == known->usual;
    one.matters = usual ? Matters::kNo : known->matters;
    one.why = one.matters == Matters::kNo ? std::string_view() : known->leaves_out;
  }
}

}  // namespace stepwright::framework_files
