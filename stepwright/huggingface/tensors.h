#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/huggingface/families.h"
#include "stepwright/model/architecture.h"

namespace stepwright::huggingface {

/// `count` consecutive rows of a Stepwright parameter, from row `begin`, and their rows in the
/// Hugging Face tensor that stores them. The rows of experts follow one another.
struct ParameterRowRun {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  /// Row of the Hugging Face tensor that holds the first of these parameter rows.
  std::int64_t place = 0;
  /// Distance, in rows of the Hugging Face tensor, between neighbouring rows of the parameter.
  std::int64_t step = 1;
  bool operator==(const ParameterRowRun&) const = default;
};

/// A tensor of a Hugging Face file, described by the rows of a Stepwright parameter that it holds.
struct HuggingFaceTensor {
  std::string name;
  /// Name of the parameter in Stepwright's checkpoints: "layers.3.attention.qkv".
  std::string own;
  /// Rows of the Stepwright parameter that this Hugging Face tensor holds; no run of rows crosses
  /// two blocks (experts).
  std::vector<ParameterRowRun> rows;
  /// Number of columns, equal in the parameter and the tensor.
  std::int64_t columns = 1;
  /// Number of equal blocks (experts) into which the tensor's rows are divided.
  std::int64_t blocks = 1;
  /// True if each block (expert) of the tensor is stored as [columns, rows].
  bool transposed = false;
  bool stacked = false;  ///< True if the blocks (experts) are the tensor's first dimension.
  /// True if the tensor is stored as [rows, 1, columns], as convolution filters are.
  bool filters = false;
  bool vector = false;  ///< True if the tensor is a vector: its single column is not a dimension.

  [[nodiscard]] std::int64_t row_count() const;
  [[nodiscard]] std::vector<std::int64_t> shape() const;
  /// Returns the flat index of an element in the stored tensor. `row` counts the tensor's rows.
  [[nodiscard]] std::int64_t flat_element_index(std::int64_t row, std::int64_t column) const;
  /// Returns the distance, in elements of the stored tensor, between neighbouring columns of a row.
  [[nodiscard]] std::int64_t column_stride() const;
};

/// Returns the tensors that a Hugging Face model type stores for a model, parameter by parameter.
/// Each row of each Stepwright parameter is in exactly one tensor. Fails with `kUnsupported` for
/// parameters that the model type has no name for.
std::vector<HuggingFaceTensor> huggingface_tensors(const model::ModelArchitecture& model,
                                                   const HuggingFaceWeightFamily& family);

}  // namespace stepwright::huggingface
