#include "stepwright/framework_files/megatron/arguments.h"

namespace stepwright::framework_files {
namespace {

using enum Arity;

/// No release of Megatron-LM has them: they are read and never written.
constexpr std::string_view kNever = "0";

constexpr MegatronArgument kForkArguments[] = {
    {"--moe-intermediate-size", "moe_ffn_hidden_size", kOne, "", "", kNever},
    {"--qk-nope-head-dim", "qk_head_dim", kOne, "", "", kNever},
    {"--qk-rope-head-dim", "qk_pos_emb_head_dim", kOne, "", "", kNever},
    {"--multi-head-latent-attention", "multi_latent_attention", kNone, "true", "", kNever},
    {"--context-parallel-algo", "fork_context_algo", kOne, "", "", kNever},
    {"--num-layer-list", "fork_layer_list", kOne, "", "", kNever},
    {"--n-shared-experts", "fork_shared_experts", kOne, "", "", kNever},
    {"--first-k-dense-replace", "fork_first_dense", kOne, "", "", kNever},
};

}  // namespace

std::span<const MegatronArgument> fork_arguments() { return kForkArguments; }

}  // namespace stepwright::framework_files
