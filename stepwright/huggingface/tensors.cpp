#include "stepwright/huggingface/tensors.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/huggingface/row_order.h"
#include "stepwright/model/parameters.h"

namespace stepwright::huggingface {
namespace {

/// How a storage lays out the copies (heads or experts) of a parameter.
struct Layout {
  bool heads = false;  ///< True: a copy belongs to a head; false: to an expert.
  bool apart = false;  ///< Each copy is a tensor of its own.
  bool transposed = false;
  bool stacked = false;
  bool filters = false;
};

Layout layout_of(ParameterStorageLayout storage) {
  switch (storage) {
    case ParameterStorageLayout::kWhole:
    case ParameterStorageLayout::kParts:
    case ParameterStorageLayout::kByHead:
    case ParameterStorageLayout::kByGroup:
    case ParameterStorageLayout::kByFour:
    case ParameterStorageLayout::kJoinedParts: return {};
    case ParameterStorageLayout::kTransposed:
    case ParameterStorageLayout::kJoinedTransposed: return {.transposed = true};
    case ParameterStorageLayout::kFilters:
    case ParameterStorageLayout::kPartFilters: return {.filters = true};
    case ParameterStorageLayout::kRow:
    case ParameterStorageLayout::kStacked: return {.stacked = true};
    case ParameterStorageLayout::kHeads: return {.heads = true, .apart = true};
    case ParameterStorageLayout::kHeadRows: return {.heads = true, .stacked = true};
    case ParameterStorageLayout::kExperts:
    case ParameterStorageLayout::kExpertParts: return {.apart = true};
    case ParameterStorageLayout::kStackedTransposed:
    case ParameterStorageLayout::kAlternating: return {.transposed = true, .stacked = true};
  }
  return {};
}

/// Collects the tensors of a model's parameters.
class Writer {
 public:
  Writer(const model::ModelArchitecture& model, const HuggingFaceWeightFamily& family)
      : model_(model), family_(family) {}

  void add(const std::string& prefix, std::int64_t layer,
           const std::vector<model::ModelParameter>& parameters) {
    for (const model::ModelParameter& parameter : parameters) {
      add(prefix + std::string(parameter.name), layer, parameter);
    }
  }

  std::vector<HuggingFaceTensor> take() { return std::move(tensors_); }

 private:
  [[noreturn]] void fail(std::string_view own) const {
    fail_unsupported(fmt::format("model {}: '{}' has no place in files of the family {}",
                                 model_.name, own, family_.model_type));
  }

  [[nodiscard]] const HuggingFaceParameterNames& names_of(std::string_view own) const {
    const bool apart = model_.parallel_residual && !model_.shared_input_norm;
    for (const auto* list : {&family_.parallel_names, &family_.names}) {
      if (list == &family_.parallel_names && !apart) continue;
      const auto names = std::ranges::find(*list, own, &HuggingFaceParameterNames::own);
      if (names != list->end()) return *names;
    }
    fail(own);
  }

  void add(const std::string& own, std::int64_t layer, const model::ModelParameter& parameter) {
    const HuggingFaceParameterNames& names = names_of(parameter.name);
    const Layout layout = layout_of(names.storage);
    model::ModelParameter copy = parameter;
    if (layout.heads) {
      copy.rows = model_.head_dim;
      copy.copies = parameter.rows / model_.head_dim;
    }
    const auto ordered = tensor_rows_of_parameter(model_, family_, copy, names);
    std::int64_t placed = 0;
    for (const auto& rows : ordered) placed += rows_in(rows);
    if (placed != copy.rows) fail(parameter.name);
    const HuggingFaceTensor form{.own = own,
                                 .columns = parameter.columns,
                                 .transposed = layout.transposed,
                                 .stacked = layout.stacked,
                                 .filters = layout.filters,
                                 .vector = parameter.vector};
    for (std::int64_t i = 0; i < (layout.apart ? copy.copies : 1); ++i) {
      for (std::size_t which = 0; which < ordered.size(); ++which) {
        HuggingFaceTensor tensor = form;
        tensor.name = name_of(names.theirs.at(which), layer, i);
        tensor.blocks = layout.apart ? 1 : copy.copies;
        for (std::int64_t block = 0; block < tensor.blocks; ++block) {
          append(tensor.rows, ordered[which], (i + block) * copy.rows, block);
        }
        tensors_.push_back(std::move(tensor));
      }
    }
  }

  [[nodiscard]] std::string name_of(std::string_view name, std::int64_t layer,
                                    std::int64_t copy) const {
    const std::string_view start = name.starts_with('.') ? std::string_view(family_.layer) : "";
    return fmt::format(fmt::runtime(fmt::format("{}{}", start, name)), layer, copy);
  }

  static std::int64_t rows_in(const std::vector<ParameterRowRun>& rows) {
    std::int64_t count = 0;
    for (const ParameterRowRun& run : rows) count += run.count;
    return count;
  }

  /// Appends the rows of one copy, shifted to block number `block`.
  static void append(std::vector<ParameterRowRun>& all, const std::vector<ParameterRowRun>& rows,
                     std::int64_t begin, std::int64_t block) {
    const std::int64_t place = block * rows_in(rows);
    for (ParameterRowRun run : rows) {
      run.begin += begin;
      run.place += place;
      all.push_back(run);
    }
  }

  const model::ModelArchitecture& model_;
  const HuggingFaceWeightFamily& family_;
  std::vector<HuggingFaceTensor> tensors_;
};

}  // namespace

std::int64_t HuggingFaceTensor::row_count() const {
  std::int64_t count = 0;
  for (const ParameterRowRun& run : rows) count += run.count;
  return count;
}

std::vector<std::int64_t> HuggingFaceTensor::shape() const {
  const std::int64_t height = row_count() / blocks;
  if (filters) return {row_count(), 1, columns};
  std::vector<std::int64_t> shape;
  if (stacked) shape.push_back(blocks);
  const std::int64_t below = stacked ? 1 : blocks;
  if (vector && columns == 1) {
    shape.push_back(below * height);
  } else {
    shape.push_back(below * (transposed ? columns : height));
    shape.push_back(transposed ? height : columns);
  }
  return shape;
}

std::int64_t HuggingFaceTensor::flat_element_index(std::int64_t row, std::int64_t column) const {
  if (!transposed) return row * columns + column;
  const std::int64_t height = row_count() / blocks;
  return (row / height * columns + column) * height + row % height;
}

std::int64_t HuggingFaceTensor::column_stride() const {
  return transposed ? row_count() / blocks : 1;
}

std::vector<HuggingFaceTensor> huggingface_tensors(const model::ModelArchitecture& given,
                                                   const HuggingFaceWeightFamily& family) {
  model::ModelArchitecture model = given;
  model.adapters.reset();  // Adapters are written in a folder of their own.
  Writer writer(model, family);
  writer.add("", 0, model::embedding_parameters(model));
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    writer.add(fmt::format("layers.{}.", layer), layer,
               model::layer_parameters(model, model.layer_class(layer)));
  }
  writer.add("", 0, model::head_parameters(model));
  return writer.take();
}

}  // namespace stepwright::huggingface
