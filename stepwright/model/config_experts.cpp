#include "stepwright/model/config_experts.h"

#include <fmt/format.h>

#include <set>

#include "stepwright/model/config_blocks.h"
#include "stepwright/model/config_layers.h"

namespace stepwright::model {
namespace {

std::int64_t expert_count(const ConfigJsonReader& fields, std::int64_t fallback) {
  const std::int64_t count =
      fields.size_or_default({"num_experts", "num_local_experts"}, fallback, 0);
  const auto alias = fields.value("num_local_experts");
  if (alias && alias->integer(0, kMaxModelDimension) != count) {
    alias->fail(fmt::format("must equal num_experts ({})", count));
  }
  return count;
}

}  // namespace

void read_qwen_experts(const ConfigJsonReader& fields, MixtureOfExperts fallback,
                       ModelArchitecture& model) {
  fallback.count = expert_count(fields, fallback.count);
  if (fallback.count == 0) return;
  fallback.top_k = fields.size_or_default("num_experts_per_tok", fallback.top_k);
  fallback.ffn = fields.size_or_default("moe_intermediate_size", fallback.ffn);
  fallback.normalize_top_k = fields.flag("norm_topk_prob", false);
  model.experts = fallback;
  const std::int64_t step = fields.size_or_default("decoder_sparse_step", 1);
  std::set<std::int64_t> dense;
  if (const auto list = fields.value("mlp_only_layers")) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      dense.insert(list->at(i).integer(0, kMaxModelDimension));
    }
  }
  replace_experts_by_dense_mlp(
      model, [&](std::int64_t layer) { return (layer + 1) % step != 0 || dense.contains(layer); });
}

void note_unusual_gate_clamp(const ConfigJsonReader& fields, ModelArchitecture& model) {
  const bool usual = fields.read_number_or("swiglu_alpha", 1.702, 0, 1e6) == 1.702 &&
                     fields.read_number_or("swiglu_limit", 7, 0, 1e6) == 7;
  if (!usual) add_uncounted_model_part("another slope or bound of the gates", model);
}

MixtureOfExperts read_sigmoid_routed_experts(const ConfigJsonReader& fields,
                                             MixtureOfExperts fallback, std::int64_t shared) {
  fallback.count =
      fallback.count > 0
          ? fields.size_or_default({"num_experts", "num_local_experts", "n_routed_experts"},
                                   fallback.count)
          : fields.size({"n_routed_experts", "num_local_experts", "num_experts"});
  fallback.top_k = fallback.top_k > 0
                       ? fields.size_or_default("num_experts_per_tok", fallback.top_k)
                       : fields.size({"num_experts_per_tok"});
  fallback.ffn = fields.size_or_default("moe_intermediate_size", fallback.ffn);
  fallback.shared_ffn =
      fallback.ffn * fields.size_or_default({"num_shared_experts", "n_shared_experts"}, shared, 0,
                                            kMaxModelDimension / fallback.ffn);
  fallback.correction_bias = true;
  fallback.scoring = RouterScoring::kSigmoid;
  fallback.normalize_top_k = fields.flag("norm_topk_prob", fallback.normalize_top_k);
  fallback.groups = fields.size_or_default("n_group", fallback.groups);
  fallback.top_groups = fields.size_or_default("topk_group", fallback.top_groups);
  fallback.scale = fields.read_number_or("routed_scaling_factor", fallback.scale, 0, 1e6);
  return fallback;
}

}  // namespace stepwright::model
