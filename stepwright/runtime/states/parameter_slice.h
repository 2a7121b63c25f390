#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/model/parameters.h"
#include "stepwright/step/setting.h"

namespace stepwright::runtime {

/// Name of the embedding table; a tied output head uses it, too.
inline constexpr std::string_view kEmbeddingTableName = "embedding.word";

/// The part of a model parameter that one rank holds under tensor and expert parallelism, before
/// data-parallel sharding. A fused parameter stores whole matrices one after the other (all
/// queries, keys, values; all gates, ups), so a rank's rows come from several places.
struct ParameterSlice {
  /// Name of the parameter in the model: "layers.3.attention.qkv", "embedding.word".
  std::string name;
  std::int64_t rows = 0;  ///< Rows of the whole, unsharded parameter.
  std::int64_t columns = 1;
  std::int64_t copies = 1;
  std::int64_t local_rows = 0;
  std::int64_t local_columns = 1;
  std::int64_t local_copies = 1;
  /// For each row on this rank, its row index in the whole parameter; -1: padding.
  std::vector<std::int64_t> row_of;
  /// Numbers of rows of the matrices that are joined in the whole parameter
  /// (`stacked_matrix_row_counts`); empty: the parameter is no matrix.
  std::vector<std::int64_t> matrices = {};
  /// How tensor-parallel ranks (for experts: expert-tensor ranks) divide the parameter; kReplicated
  /// if there is only one rank.
  model::TensorParallelSplit cut = model::TensorParallelSplit::kReplicated;
  std::int64_t first_column = 0;
  std::int64_t first_copy = 0;
  bool expert = false;
  bool partial = false;  ///< True if tensor-parallel ranks must sum the parameter's gradient.
  bool adapter = false;  ///< True if the parameter is LoRA's A or B.
  model::ParameterInitialization start{};
  /// True if the values are a copy of those on the first tensor rank or on the first pipeline rank,
  /// so that gradient norms and checkpoints leave this copy out.
  bool duplicate = false;

  /// Returns the number of elements of the parameter on this rank.
  [[nodiscard]] std::int64_t elements_on_this_rank() const {
    return local_rows * local_columns * local_copies;
  }
  /// Returns the number of elements of the whole parameter.
  [[nodiscard]] std::int64_t elements() const { return rows * columns * copies; }
  /// Returns the number of rows on this rank of one of the matrices that a fused parameter joins;
  /// `i`: index of the matrix.
  [[nodiscard]] std::int64_t local_matrix_rows(std::size_t i) const {
    return matrices.size() == 1 ? local_rows : matrices[i] * local_rows / rows;
  }
  /// Returns the index in the whole parameter of element `local` of this rank's part; -1: padding.
  [[nodiscard]] std::int64_t whole_parameter_index(std::int64_t local) const;
};

/// Returns this rank's parts of the parameters of a block, in the order of `local`. `unit`:
/// identifier of the block (`TemplateSequenceItem::units`).
std::vector<ParameterSlice> parameter_slices(const step::StepBuildSettings& setting,
                                             const plan::RankCoordinates& place, std::int32_t unit,
                                             const std::vector<step::RankLocalParameter>& local);

/// Returns the slice of a parameter's row and column second moments (Adafactor) on this rank,
/// described as a vector parameter "NAME.sums": the sums of all rows, then of each matrix's
/// columns, for each expert.
ParameterSlice adafactor_moment_slice(const ParameterSlice& parameter);

/// Returns the row and column second moments (Adafactor) that this rank writes to checkpoints.
/// Moments along a dimension that tensor ranks do not divide are equal on all of them, and only the
/// first tensor rank writes them.
ParameterSlice adafactor_moment_slice_to_write(const ParameterSlice& parameter);

}  // namespace stepwright::runtime
