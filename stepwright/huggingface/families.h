#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace stepwright {

/// How a parameter of ours stands in files of transformers. Ours are rows x columns, output x
/// input; fused ones hold part after part: queries, keys, values; gates, ups; expert after expert.
enum class Storage : std::uint8_t {
  kWhole,         ///< As it is.
  kTransposed,    ///< Columns x rows (Conv1D of GPT-2).
  kFilters,       ///< Rows x 1 x columns: a filter for each channel.
  kQkv,           ///< Three tensors: queries, keys, values.
  kQkvByHead,     ///< One tensor: queries, keys, values of the first head, of the second, ...
  kHeads,         ///< A tensor for each head.
  kHeadRows,      ///< One tensor with a row for each head.
  kHalves,        ///< Two tensors: gates, ups.
  kExperts,       ///< A tensor for each expert.
  kExpertHalves,  ///< Two tensors for each expert: gates, ups.
};

/// A parameter (as `layer_parameters` and its like call it) and its names there: `{0}` stands for
/// the layer, `{1}` for the expert or the head; behind a leading point it is of a layer
/// (`Family::layer`).
struct ParameterNames {
  std::string_view own;
  Storage storage = Storage::kWhole;
  std::array<std::string_view, 3> theirs;
};

/// Names in the order of the lists that they stand in.
template <std::size_t... kCounts>
constexpr auto joined_names(const ParameterNames (&... lists)[kCounts]) {
  std::array<ParameterNames, (kCounts + ...)> all{};
  auto* place = all.data();
  ((place = std::copy_n(lists, kCounts, place)), ...);
  return all;
}

/// What most decoders call alike: their tables, the norm before attention, and its products.
inline constexpr ParameterNames kUsualNames[] = {
    {"embedding.word", Storage::kWhole, {"model.embed_tokens.weight"}},
    {"head.weight", Storage::kWhole, {"lm_head.weight"}},
    {"norm.attention", Storage::kWhole, {".input_layernorm.weight"}},
    {"attention.qkv",
     Storage::kQkv,
     {".self_attn.q_proj.weight", ".self_attn.k_proj.weight", ".self_attn.v_proj.weight"}},
    {"attention.qkv_bias",
     Storage::kQkv,
     {".self_attn.q_proj.bias", ".self_attn.k_proj.bias", ".self_attn.v_proj.bias"}},
    {"attention.output", Storage::kWhole, {".self_attn.o_proj.weight"}},
    {"attention.output_bias", Storage::kWhole, {".self_attn.o_proj.bias"}},
};

/// The files of one `model_type`.
struct Family {
  std::string_view model_type;
  std::string_view model_class;  ///< In transformers.
  /// The prefix of names; files of the model without its head leave it out.
  std::string_view prefix;
  std::string_view layer;  ///< What names of a layer begin with.
  std::span<const ParameterNames> names;
  std::span<const ParameterNames> own_names;  ///< Of its own: before those in `names`.
  /// Another name of the head's table.
  std::string_view head_alias;
  /// Tensors whose names end so follow from the configuration (masks, frequencies).
  std::span<const std::string_view> derived;
};

/// The families whose weights can be read and written, those with fewer keys first.
const std::vector<Family>& weight_families();

// Those of one kind, a source for each.
std::span<const Family> llama_weights();
std::span<const Family> gpt_weights();
std::span<const Family> expert_weights();
std::span<const Family> state_weights();

/// The family of a `model_type`; null when it is not among them.
const Family* find_family(std::string_view model_type);

}  // namespace stepwright
