#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::huggingface {

/// How a parameter of ours stands in files of transformers. Ours are rows x columns, output x
/// input; fused ones hold part after part (`Parameter::fused`): queries, keys, values; gates, ups;
/// and those of experts one after the other.
enum class Storage : std::uint8_t {
  kWhole,              ///< Stored as ours is.
  kTransposed,         ///< Columns x rows (Conv1D of GPT-2).
  kFilters,            ///< Rows x 1 x columns: a filter for each channel.
  kRow,                ///< A vector as a matrix of one row.
  kParts,              ///< A tensor for each part, or for some of them.
  kPartFilters,        ///< A tensor of filters for each part, or for some of them.
  kByHead,             ///< The parts of a tensor head by head.
  kByGroup,            ///< The parts of a tensor by groups of heads that share keys.
  kByFour,             ///< The parts of a tensor by quarters of the heads.
  kHeads,              ///< A tensor for each head.
  kHeadRows,           ///< One tensor with a row for each head.
  kExperts,            ///< A tensor for each expert.
  kExpertParts,        ///< A tensor for each part of each expert.
  kStacked,            ///< Experts x rows x columns.
  kStackedTransposed,  ///< Experts x columns x rows.
  /// Experts x columns x rows, rows of the parts in turn; a vector experts x rows.
  kAlternating,
  kJoinedParts,       ///< A tensor for each part, all experts' one below the other.
  kJoinedTransposed,  ///< Columns x rows of all experts one below the other.
};

/// A parameter (as `layer_parameters` and its like call it) and its names there: `{0}` stands for
/// the layer, `{1}` for the expert or the head; behind a leading point it is of a layer
/// (`Family::layer`).
struct ParameterNames {
  std::string own;
  Storage storage = Storage::kWhole;
  std::vector<std::string> theirs{};
  /// The digits of the parts that each tensor holds, in its order; empty: of several names each has
  /// the part of its place, one name has all.
  std::vector<std::string> parts{};
};

/// How the two elements stand that a rotary position turns against each other.
enum class RotaryOrder : std::uint8_t {
  kHalves,         ///< In the halves of a head, as ours.
  kSwapped,        ///< In the halves of a head, turned the other way.
  kPairs,          ///< Side by side (GPT-J).
  kPairsAsStated,  ///< Side by side, unless the file says `rope_interleave: false` (DeepSeek-V3).
};

/// The files of one `model_type`.
struct Family {
  std::string model_type;
  std::string model_class;  ///< Name of the class in transformers.
  /// The prefix of names; files of the model without its head leave it out.
  std::string prefix;
  std::string layer;  ///< Prefix of a layer's names.
  /// Names of all parameters; of a parameter that stands several times the first counts.
  std::vector<ParameterNames> names{};
  /// Names that stand before `names` where both branches of a layer read the same rows, each behind
  /// its own norm.
  std::vector<ParameterNames> parallel_names{};
  RotaryOrder rotary = RotaryOrder::kHalves;
  RotaryOrder index_rotary = RotaryOrder::kHalves;  ///< Rotary order of indexers.
  std::string head_alias{};  ///< Another name of the head's table; empty: it has none.
  /// Tensors whose names end so follow from the configuration (masks, frequencies).
  std::vector<std::string> derived{};
};

/// The families whose weights can be read and written (families.yaml), those with fewer keys first.
const std::vector<Family>& weight_families();

/// The family of a `model_type`; null when it is not among them.
const Family* find_family(std::string_view model_type);

}  // namespace stepwright::huggingface
