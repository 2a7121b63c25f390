#include "stepwright/runtime/states/edge_slice.h"

#include <algorithm>

namespace stepwright::runtime {

ParameterSlice edge_slice(const ParameterSlice& parameter) {
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

ParameterSlice own_edge_slice(const ParameterSlice& parameter) {
  ParameterSlice edges = edge_slice(parameter);
  const auto columns = edges.row_of.begin() + parameter.local_rows;
  if (parameter.cut == model::Split::kRow) {
    if (parameter.first_column > 0) std::fill(edges.row_of.begin(), columns, -1);
  } else if (parameter.cut != model::Split::kReplicated && parameter.row_of.front() != 0) {
    std::fill(columns, edges.row_of.end(), -1);
  }
  return edges;
}

}  // namespace stepwright::runtime
