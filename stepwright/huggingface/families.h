#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::huggingface {

/// How a Stepwright parameter is stored in files of transformers. Stepwright stores rows x columns
/// (output x input); a fused parameter has its parts one below the other (`Parameter::fused`:
/// queries, keys, values; gates, ups), and experts follow one another.
enum class Storage : std::uint8_t {
  kWhole,        ///< Stored as rows x columns, as in Stepwright.
  kTransposed,   ///< Stored as columns x rows (Conv1D of GPT-2).
  kFilters,      ///< Stored as rows x 1 x columns: one convolution filter for each channel.
  kRow,          ///< A vector that is stored as a matrix of one row.
  kParts,        ///< Each part, or some of the parts, is a tensor of its own.
  kPartFilters,  ///< Each part, or some of the parts, is a separate tensor of convolution filters.
  kByHead,       ///< One tensor; for each head the rows of all parts.
  /// One tensor; for each group of heads that share keys the rows of all parts.
  kByGroup,
  kByFour,             ///< One tensor; for each quarter of the heads the rows of all parts.
  kHeads,              ///< A separate tensor for each head.
  kHeadRows,           ///< One tensor with a row for each head.
  kExperts,            ///< A separate tensor for each expert.
  kExpertParts,        ///< A separate tensor for each part of each expert.
  kStacked,            ///< One tensor, experts x rows x columns.
  kStackedTransposed,  ///< One tensor, experts x columns x rows.
  /// One tensor, experts x columns x rows, where rows of the parts alternate; a bias is experts x
  /// rows.
  kAlternating,
  /// One tensor for each part, with the rows of all experts one below the other.
  kJoinedParts,
  /// One tensor, the transposed (columns x rows) matrices of all experts one below the other.
  kJoinedTransposed,
};

/// A Stepwright parameter (named as in `layer_parameters` and similar lists) and its names in the
/// files: `{0}` is the layer, `{1}` the expert or the head. A name that begins with a point follows
/// the layer's prefix (`Family::layer`).
struct ParameterNames {
  std::string own;
  Storage storage = Storage::kWhole;
  std::vector<std::string> theirs{};
  /// For each tensor, the digits of the parts that it holds, in order. Empty: with several names,
  /// each tensor holds the part of its position; with one name, the tensor holds all parts.
  std::vector<std::string> parts{};
};

/// Where a head stores the two elements that a rotary position rotates together.
enum class RotaryOrder : std::uint8_t {
  kHalves,   ///< A pair's elements are in the two halves of a head, as in Stepwright.
  kSwapped,  ///< A pair's elements are in the two halves of a head, with the halves exchanged.
  kPairs,    ///< A pair's elements are next to each other (GPT-J).
  /// A pair's elements are next to each other, unless config.json has `rope_interleave: false`
  /// (DeepSeek-V3).
  kPairsAsStated,
};

/// How the weight files of one `model_type` name and store parameters.
struct Family {
  std::string model_type;
  std::string model_class;  ///< Name of the model's class in transformers.
  /// Prefix of all tensor names; files of a model without its head leave it out.
  std::string prefix;
  std::string layer;  ///< Prefix of the tensor names of a layer.
  /// Names of all parameters. If a parameter is listed more than once, the first entry is used.
  std::vector<ParameterNames> names{};
  /// Names that override `names` in models whose two branches read the same rows, each with a norm
  /// of its own.
  std::vector<ParameterNames> parallel_names{};
  RotaryOrder rotary = RotaryOrder::kHalves;
  /// Rotary order of an indexer's queries and keys.
  RotaryOrder index_rotary = RotaryOrder::kHalves;
  std::string head_alias{};  ///< A second name for the head's table; empty: none.
  /// Endings of tensors that follow from the configuration (masks, frequencies) and are not read.
  std::vector<std::string> derived{};
};

/// Returns the families whose weights can be read and written (families.yaml), those with fewer
/// config keys first.
const std::vector<Family>& weight_families();

/// Returns the family of a `model_type`; null if its weights are not supported.
const Family* find_family(std::string_view model_type);

}  // namespace stepwright::huggingface
