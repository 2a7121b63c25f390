#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::huggingface {

/// How Hugging Face files store one of Stepwright's parameters. Stepwright stores [rows, columns] =
/// [output, input]; the parts of a fused parameter (queries, keys, values; gates, ups) are one
/// below the other, and experts follow one another.
enum class ParameterStorageLayout : std::uint8_t {
  kWhole,       ///< Weight files have one tensor [rows, columns], as in Stepwright.
  kTransposed,  ///< Weight files have one tensor [columns, rows], transposed (Conv1D of GPT-2).
  /// Weight files have one tensor [rows, 1, columns]: one convolution filter for each channel.
  kFilters,
  kRow,  ///< Weight files store the vector as a matrix with one row.
  /// Weight files have one tensor for each part (query, key, ...) of a fused parameter, or for
  /// several parts.
  kParts,
  /// Weight files have one tensor of convolution filters for each part (query, key, ...) of a fused
  /// parameter, or for several parts.
  kPartFilters,
  /// Weight files have one tensor, with the rows of all parts (query, key, value) of each attention
  /// head in turn.
  kByHead,
  /// Weight files have one tensor, with the rows of all parts (queries, key, value) of each group
  /// of heads that share keys in turn.
  kByGroup,
  /// Weight files have one tensor, with the rows of all parts (query, key, ...) of each quarter of
  /// the attention heads in turn.
  kByFour,
  kHeads,        ///< Weight files have a separate tensor for each attention head.
  kHeadRows,     ///< Weight files have one tensor with one row for each attention head.
  kExperts,      ///< Weight files have a separate tensor for each expert of a layer.
  kExpertParts,  ///< Weight files have a separate tensor for each part (gate, up) of each expert.
  kStacked,      ///< Weight files have one tensor [experts, rows, columns] for a layer.
  kStackedTransposed,  ///< Weight files have one tensor [experts, columns, rows] for a layer.
  /// Weight files have one tensor [experts, columns, rows], in which rows of the parts (gate, up)
  /// alternate; a bias is [experts, rows].
  kAlternating,
  /// Weight files have one tensor for each part (gate, up), with the rows of all experts one below
  /// the other.
  kJoinedParts,
  /// Weight files have one tensor: the transposed matrices [columns, rows] of all experts one below
  /// the other.
  kJoinedTransposed,
};

/// One of Stepwright's parameters and its names in Hugging Face files: `{0}` is the layer, `{1}`
/// the expert or head. A name that begins with a point follows the layer's prefix
/// (`HuggingFaceWeightFamily::layer`).
struct HuggingFaceParameterNames {
  std::string own;
  ParameterStorageLayout storage = ParameterStorageLayout::kWhole;
  std::vector<std::string> theirs{};
  /// For each tensor of the parameter in the weight files, which parts of the fused parameter
  /// (query, key, ...) it holds, as digits in order. Empty: each tensor holds one part, or a single
  /// tensor all parts.
  std::vector<std::string> parts{};
};

/// How an attention head orders the pairs of elements that rotary position embedding rotates
/// together.
enum class RotaryOrder : std::uint8_t {
  /// The elements of a pair are in the first and the second half of a head, as in Stepwright.
  kHalves,
  /// The elements of a pair are in the second and the first half of a head: halves exchanged.
  kSwapped,
  kPairs,  ///< The elements of a pair are next to each other (GPT-J).
  /// The elements of a pair are next to each other, unless config.json has `rope_interleave: false`
  /// (DeepSeek-V3).
  kPairsAsStated,
};

/// How the weight files of one Hugging Face model type (`model_type`) name and store parameters.
struct HuggingFaceWeightFamily {
  std::string model_type;
  std::string model_class;  ///< Name of the model's class in transformers ("LlamaForCausalLM").
  /// Prefix of all tensor names; absent in files of a model without its language-model head.
  std::string prefix;
  /// Prefix of the names of a layer's tensors, with `{0}` for the layer's number.
  std::string layer;
  /// Names of all parameters in the files. If a parameter is listed twice, the first entry counts.
  std::vector<HuggingFaceParameterNames> names{};
  /// Names that replace those in `names` for models whose attention and MLP run in parallel, each
  /// with its own norm.
  std::vector<HuggingFaceParameterNames> parallel_names{};
  RotaryOrder rotary = RotaryOrder::kHalves;
  /// Rotary order of the queries and keys of a sparse-attention indexer.
  RotaryOrder index_rotary = RotaryOrder::kHalves;
  std::string head_alias{};  ///< Second name of the output head's weight in the files; empty: none.
  /// Name endings of tensors that are computed from the configuration (masks, frequencies) and
  /// therefore not read.
  std::vector<std::string> derived{};
};

/// Returns the Hugging Face model types whose weights can be read and written (families.yaml),
/// those with fewer configuration keys first.
const std::vector<HuggingFaceWeightFamily>& huggingface_weight_families();

/// Returns how a Hugging Face `model_type` stores its weights; null if it is not supported.
const HuggingFaceWeightFamily* find_huggingface_weight_family(std::string_view model_type);

}  // namespace stepwright::huggingface
