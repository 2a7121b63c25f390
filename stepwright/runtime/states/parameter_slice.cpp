#include "stepwright/runtime/states/parameter_slice.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/model/parameters.h"
#include "stepwright/step/matrices.h"

namespace stepwright::runtime {
namespace {

/// Returns the rows that one of several ranks has of each matrix of a parameter.
std::vector<std::int64_t> cut_rows(const model::ModelParameter& whole, std::int64_t ranks,
                                   std::int64_t rank) {
  std::array<std::int64_t, 6> parts = whole.fused;
  if (parts[0] == 0) parts[0] = whole.rows;
  std::vector<std::int64_t> rows;
  std::int64_t begin = 0;
  for (const std::int64_t part : parts) {
    const std::int64_t own = part / ranks;
    for (std::int64_t i = 0; i < own; ++i) rows.push_back(begin + rank * own + i);
    begin += part;
  }
  return rows;
}

std::vector<std::int64_t> vocabulary_rows(std::int64_t whole, std::int64_t own, std::int64_t rank) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < own; ++i) {
    const std::int64_t row = rank * own + i;
    rows.push_back(row < whole ? row : -1);
  }
  return rows;
}

bool is_vocabulary_table(std::string_view name) {
  return name == kEmbeddingTableName || name == "head.weight";
}

model::ModelParameter find_parameter(const model::ModelArchitecture& model, std::int32_t unit,
                                     std::string_view name) {
  std::vector<model::ModelParameter> list;
  if (is_vocabulary_table(name)) {
    const bool of_embedding = name == kEmbeddingTableName || model.tied;
    list = of_embedding ? model::embedding_parameters(model) : model::head_parameters(model);
    if (of_embedding) name = kEmbeddingTableName;
  } else if (unit == step::kEmbeddingBlockNumber) {
    list = model::embedding_parameters(model);
  } else if (unit == step::kHeadBlockNumber || name == "head.bias") {
    list = model::head_parameters(model);
  } else {
    list = unit < model.layers ? model::layer_parameters(model, model.layer_class(unit))
                               : model::multi_token_module_parameters(model);
  }
  for (const model::ModelParameter& parameter : list) {
    if (parameter.name == name) return parameter;
  }
  throw Error(ErrorKind::kRuntime, fmt::format("no parameter {} in unit {}", name, unit));
}

std::string whole_name(std::int32_t unit, const model::ModelParameter& whole) {
  if (unit >= 0 && whole.split != model::TensorParallelSplit::kVocabulary)
    return fmt::format("layers.{}.{}", unit, whole.name);
  return std::string(whole.name);
}

}  // namespace

std::int64_t ParameterSlice::whole_parameter_index(std::int64_t local) const {
  const std::int64_t matrix = local_rows * local_columns;
  const std::int64_t copy = local / matrix;
  const std::int64_t row = row_of[static_cast<std::size_t>(local % matrix / local_columns)];
  if (row < 0) return -1;
  const std::int64_t column = first_column + local % local_columns;
  return ((first_copy + copy) * rows + row) * columns + column;
}

std::vector<ParameterSlice> parameter_slices(const step::StepBuildSettings& s,
                                             const plan::RankCoordinates& place, std::int32_t unit,
                                             const std::vector<step::RankLocalParameter>& local) {
  std::vector<ParameterSlice> slices;
  for (const step::RankLocalParameter& own : local) {
    const model::ModelParameter whole = find_parameter(*s.model, unit, own.name);
    const std::int64_t ranks = own.expert ? s.expert_tensor : s.tensor;
    const std::int64_t rank = own.expert ? place.expert_tensor : place.tensor;
    ParameterSlice slice{.name = whole_name(unit, whole),
                         .rows = whole.rows,
                         .columns = whole.columns,
                         .copies = whole.copies,
                         .local_rows = own.rows,
                         .local_columns = own.columns,
                         .local_copies = own.copies,
                         .expert = own.expert,
                         .partial = own.tensor_partial,
                         .adapter = whole.adapter,
                         .start = whole.start};
    slice.matrices = step::stacked_matrix_row_counts(whole);
    if (ranks > 1) slice.cut = whole.split;
    if (own.expert) slice.first_copy = place.expert * own.copies;
    if (whole.split == model::TensorParallelSplit::kVocabulary) {
      slice.row_of = vocabulary_rows(whole.rows, own.rows, step::vocabulary_shard_index(s, place));
    } else {
      const bool cut = whole.split == model::TensorParallelSplit::kColumn;
      slice.row_of = cut_rows(whole, cut ? ranks : 1, cut ? rank : 0);
    }
    if (whole.split == model::TensorParallelSplit::kRow) slice.first_column = rank * own.columns;
    const bool copied_table =
        unit != step::kEmbeddingBlockNumber && slice.name == kEmbeddingTableName;
    const bool copied_bias =
        own.expert && whole.split == model::TensorParallelSplit::kReplicated && rank > 0;
    slice.duplicate = (own.tensor_replicated && place.tensor > 0) || copied_bias || copied_table;
    slices.push_back(std::move(slice));
  }
  return slices;
}

ParameterSlice adafactor_moment_slice(const ParameterSlice& parameter) {
  const auto matrices = std::ssize(parameter.matrices);
  ParameterSlice edges = parameter;
  edges.name += ".sums";
  edges.rows = parameter.rows + matrices * parameter.columns;
  edges.local_rows = parameter.local_rows + matrices * parameter.local_columns;
  edges.columns = edges.local_columns = 1;
  edges.first_column = 0;
  edges.matrices = {};
  for (std::int64_t i = 0; i < matrices; ++i) {
    const std::int64_t first = parameter.rows + i * parameter.columns + parameter.first_column;
    for (std::int64_t j = 0; j < parameter.local_columns; ++j) edges.row_of.push_back(first + j);
  }
  return edges;
}

ParameterSlice adafactor_moment_slice_to_write(const ParameterSlice& parameter) {
  ParameterSlice edges = adafactor_moment_slice(parameter);
  const auto columns = edges.row_of.begin() + parameter.local_rows;
  if (parameter.cut == model::TensorParallelSplit::kRow) {
    if (parameter.first_column > 0) std::fill(edges.row_of.begin(), columns, -1);
  } else if (parameter.cut != model::TensorParallelSplit::kReplicated &&
             parameter.row_of.front() != 0) {
    std::fill(columns, edges.row_of.end(), -1);
  }
  return edges;
}

}  // namespace stepwright::runtime
