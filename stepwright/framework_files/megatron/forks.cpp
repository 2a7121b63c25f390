#include "stepwright/framework_files/megatron/forks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/forms/references.h"
#include "stepwright/framework_files/megatron/arguments.h"

namespace stepwright::framework_files {
namespace {

/// Arguments that only MindSpeed has. Its `--use-flash-attn` replaces Megatron's attention by a
/// fused kernel: Ascend/MindSpeed mindspeed/features_manager/transformer/flash_attention.
constexpr std::string_view kMindSpeed[] = {
    "--use-fused-rmsnorm", "--use-fused-swiglu",  "--use-fused-rotary-pos-emb",
    "--swap-attention",    "--reuse-fp32-param",  "--use-ascend-mc2",
    "--use-mc2",           "--npu-deterministic", "--recompute-activation-function",
    "--shape-order",       "--sparse-mode",       "--jit-compile"};

/// Returns the number of an argument; -1, which means none, becomes 0.
std::int64_t number_of(const DocumentTree& value, std::string_view flag, const std::string& name) {
  const IntegerParseResult number = read_integer(value.text);
  if (number.status == IntegerParseResult::IntegerParseStatus::kGood && number.value >= -1) {
    return std::max<std::int64_t>(0, number.value);
  }
  fail_input(fmt::format("{}:{}: {}: must be an integer from -1; it is '{}'", name, value.line,
                         flag, one_line_printable_text(value.text)));
}

void set_field(MegatronArgumentFields& arguments, std::string_view field, DocumentTree value,
               std::string_view flag, std::uint32_t line) {
  value.line = line;
  value.column = 1;
  arguments.fields.set(field, std::move(value));
  arguments.flags.insert_or_assign(std::string(field), flag);
}

void take_context_algorithm(MegatronArgumentFields& arguments, const std::string& name,
                            ImportReport& report) {
  constexpr std::string_view kFlag = "--context-parallel-algo";
  const auto said = remove_argument_field(arguments, "fork_context_algo");
  if (!said) return;
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"ulysses_cp_algo", "a2a"},
      {"megatron_cp_algo", "p2p"},
      {"kvallgather_cp_algo", "all_gather"}};
  const auto* const known =
      std::ranges::find(kWords, said->text, &std::pair<std::string_view, std::string_view>::first);
  if (known == std::end(kWords)) {
    report.not_read.push_back({std::string(kFlag), one_line_printable_text(said->text), name,
                               said->line, SettingImpact::kYes,
                               "context parallelism of the fork's own: it is taken for a ring"});
    return;
  }
  set_field(arguments, "cp_comm_type",
            DocumentTree::empty_flow_sequence().add(std::string(known->second)), kFlag, said->line);
}

/// Reads the layers of each stage, "8,9,8,7", as a pipeline layout.
void take_layer_list(MegatronArgumentFields& arguments) {
  const auto said = remove_argument_field(arguments, "fork_layer_list");
  if (!said) return;
  std::string layout = "E";
  bool first = true;
  for (const char c : said->text) {
    if (c == ',') layout += '|';
    if (c == ',' || first) layout += "t*";
    if (c >= '0' && c <= '9') layout += c;
    first = false;
  }
  set_field(arguments, "pipeline_model_parallel_layout", DocumentTree(layout + "L"),
            arguments.flags.at("fork_layer_list"), said->line);
}

void take_fork_experts(MegatronArgumentFields& arguments, const std::string& name) {
  const auto said = [&](std::string_view field) -> std::optional<DocumentTree> {
    const DocumentTree* const found = arguments.fields.find(field);
    return found == nullptr ? std::nullopt : std::optional(*found);
  };
  const auto width = said("moe_ffn_hidden_size");
  const auto layers = said("num_layers");
  if (const auto shared = remove_argument_field(arguments, "fork_shared_experts");
      shared && width) {
    const std::int64_t all = number_of(*shared, "--n-shared-experts", name) *
                             number_of(*width, "--moe-intermediate-size", name);
    set_field(arguments, "moe_shared_expert_intermediate_size", all, "--n-shared-experts",
              shared->line);
  }
  const DocumentTree* const every = arguments.fields.find("moe_layer_freq");
  if (every != nullptr && every->text == "-1") {
    static_cast<void>(remove_argument_field(arguments, "moe_layer_freq"));
  }
  const auto dense = remove_argument_field(arguments, "fork_first_dense");
  if (!dense || !layers) return;
  DocumentTree marks = DocumentTree::empty_flow_sequence();
  const std::int64_t all = std::min<std::int64_t>(number_of(*layers, "--num-layers", name), 10'000);
  const std::int64_t first = number_of(*dense, "--first-k-dense-replace", name);
  for (std::int64_t i = 0; i < all; ++i) marks.add(i < first ? 0 : 1);
  set_field(arguments, "moe_layer_freq", std::move(marks), "--first-k-dense-replace", dense->line);
}

/// Reads `--attention-head-type multiquery` of BigCode's fork: all heads share one key and value
/// head, of which each tensor rank has a copy (megatron/model/transformer.py, ParallelAttention). A
/// plan counts the copies as heads, one for each rank.
void take_head_type(MegatronArgumentFields& arguments, ImportReport& report) {
  constexpr std::string_view kFlag = "--attention-head-type";
  const auto said = remove_argument_field(arguments, "fork_head_type");
  if (!said || said->text != "multiquery") return;
  set_field(arguments, "group_query_attention", DocumentTree::make_scalar("true", false), kFlag,
            said->line);
  const DocumentTree* const tensor = arguments.fields.find("tensor_model_parallel_size");
  const std::string copies = tensor == nullptr ? "1" : tensor->text;
  set_field(arguments, "num_query_groups", DocumentTree::make_scalar(copies, false), kFlag,
            said->line);
  if (copies == "1") return;
  report.assumed.push_back(
      {"job.model", "",
       fmt::format("--attention-head-type multiquery: each of {} tensor ranks has a copy of the "
                   "one key and value head, and copies are counted as heads",
                   copies)});
}

/// Reads the experts of MegaBlocks' fork; by default each token uses one.
void take_megablocks_experts(MegatronArgumentFields& arguments) {
  const auto top = remove_argument_field(arguments, "fork_top_k");
  const auto experts = remove_argument_field(arguments, "fork_num_experts");
  if (!experts || experts->text == "1") return;
  set_field(arguments, "num_moe_experts", DocumentTree::make_scalar(experts->text, false),
            "--moe-num-experts", experts->line);
  if (arguments.fields.find("moe_router_topk") != nullptr) return;
  set_field(arguments, "moe_router_topk", DocumentTree::make_scalar(top ? top->text : "1", false),
            top ? "--moe-top-k" : "--moe-num-experts", top ? top->line : experts->line);
}

void take_fork_attention(MegatronArgumentFields& arguments, const ImportReport& report) {
  const DocumentTree* const kernel = arguments.fields.find("attention_backend");
  const bool fork = std::ranges::any_of(report.not_read, [](const SettingNotInPlan& one) {
    return std::ranges::find(kMindSpeed, one.name) != std::end(kMindSpeed);
  });
  if (!fork || kernel == nullptr || kernel->text != "flash") return;
  const std::uint32_t line = kernel->line;
  set_field(arguments, "attention_backend", DocumentTree(kMegatronForkAttentionBackend),
            "--use-flash-attn", line);
}

}  // namespace

std::optional<DocumentTree> remove_argument_field(MegatronArgumentFields& arguments,
                                                  std::string_view field) {
  const DocumentTree* const said = arguments.fields.find(field);
  if (said == nullptr) return std::nullopt;
  DocumentTree taken = *said;
  arguments.fields = copy_without_key(arguments.fields, field);
  return taken;
}

bool has_fork_arguments(const MegatronArgumentFields& arguments, const ImportReport& report) {
  const auto is_of_fork = [](std::string_view flag) {
    const auto argument = find_megatron_argument(flag);
    if (argument) return !argument->source.starts_with("NVIDIA/Megatron-LM");
    return find_known_setting(known_program_settings("megatron/forks"), flag) != nullptr;
  };
  return std::ranges::any_of(arguments.flags,
                             [&](const auto& one) { return is_of_fork(one.second); }) ||
         std::ranges::any_of(report.not_read,
                             [&](const SettingNotInPlan& one) { return is_of_fork(one.name); });
}

void translate_fork_arguments(MegatronArgumentFields& arguments, const std::string& name,
                              ImportReport& report) {
  take_context_algorithm(arguments, name, report);
  take_layer_list(arguments);
  take_fork_experts(arguments, name);
  take_head_type(arguments, report);
  take_megablocks_experts(arguments);
  take_fork_attention(arguments, report);
  for (SettingNotInPlan& one : report.not_read) {
    if (one.matters != SettingImpact::kMaybe) continue;
    const KnownSetting* const known =
        find_known_setting(known_program_settings("megatron/forks"), one.name);
    if (known == nullptr) continue;
    one.is_unknown_setting = false;
    const bool usual = !known->harmless.empty() && one.value == known->harmless;
    one.matters = usual ? SettingImpact::kNo : known->matters;
    one.why = one.matters == SettingImpact::kNo ? std::string_view() : known->leaves_out;
  }
}

}  // namespace stepwright::framework_files
