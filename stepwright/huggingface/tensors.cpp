#include "stepwright/huggingface/tensors.h"

#include <fmt/format.h>

#include "stepwright/core/error.h"
#include "stepwright/model/parameters.h"

namespace stepwright {
namespace {

/// Writes the tensors of a model's parameters, one after the other.
class Writer {
 public:
  Writer(const Architecture& model, const Family& family) : model_(model), family_(family) {}

  void add(const std::string& prefix, std::int64_t layer,
           const std::vector<Parameter>& parameters) {
    for (const Parameter& parameter : parameters) {
      add(prefix + std::string(parameter.name), layer, parameter);
    }
  }

  std::vector<ForeignTensor> take() { return std::move(tensors_); }

 private:
  [[nodiscard]] const ParameterNames& names_of(std::string_view own) const {
    for (const auto& list : {family_.own_names, family_.names}) {
      for (const ParameterNames& names : list) {
        if (names.own == own) return names;
      }
    }
    fail_unsupported(fmt::format("model {}: '{}' has no place in files of the family {}",
                                 model_.name, own, family_.model_type));
  }

  void add(const std::string& own, std::int64_t layer, const Parameter& parameter) {
    const ParameterNames& names = names_of(parameter.name);
    ForeignTensor tensor{.own = own,
                         .columns = parameter.columns,
                         .transposed = names.storage == Storage::kTransposed,
                         .filters = names.storage == Storage::kFilters,
                         .vector = parameter.vector};
    const auto part = [&](std::size_t which, std::int64_t expert, std::vector<RowRun> rows) {
      const std::string_view name = names.theirs.at(which);
      const std::string_view start = name.starts_with('.') ? family_.layer : "";
      tensor.name = fmt::format(fmt::runtime(fmt::format("{}{}", start, name)), layer, expert);
      tensor.rows = std::move(rows);
      tensors_.push_back(tensor);
    };
    const std::int64_t half = parameter.rows / 2;
    switch (names.storage) {
      case Storage::kWhole:
      case Storage::kFilters:
      case Storage::kTransposed: return part(0, 0, {{0, parameter.rows}});
      case Storage::kQkv: {
        const std::int64_t queries = model_.heads * model_.head_dim;
        const std::int64_t keys = model_.kv_heads * model_.head_dim;
        part(0, 0, {{0, queries}});
        part(1, 0, {{queries, keys}});
        return part(2, 0, {{queries + keys, keys}});
      }
      case Storage::kQkvByHead: return part(0, 0, head_by_head());
      case Storage::kHeadRows:
        tensor.heads = parameter.rows / model_.head_dim;
        return part(0, 0, {{0, parameter.rows}});
      case Storage::kHeads:
        for (std::int64_t h = 0; h < parameter.rows / model_.head_dim; ++h) {
          part(0, h, {{h * model_.head_dim, model_.head_dim}});
        }
        return;
      case Storage::kHalves: part(0, 0, {{0, half}}); return part(1, 0, {{half, half}});
      case Storage::kExperts:
        for (std::int64_t e = 0; e < parameter.copies; ++e) {
          part(0, e, {{e * parameter.rows, parameter.rows}});
        }
        return;
      case Storage::kExpertHalves:
        for (std::int64_t e = 0; e < parameter.copies; ++e) {
          part(0, e, {{e * parameter.rows, half}});
          part(1, e, {{e * parameter.rows + half, half}});
        }
    }
  }

  /// Such files have as many heads of keys and values as of queries.
  [[nodiscard]] std::vector<RowRun> head_by_head() const {
    std::vector<RowRun> rows;
    for (std::int64_t head = 0; head < model_.heads; ++head) {
      for (std::int64_t which = 0; which < 3; ++which) {
        rows.push_back({(which * model_.heads + head) * model_.head_dim, model_.head_dim});
      }
    }
    return rows;
  }

  const Architecture& model_;
  const Family& family_;
  std::vector<ForeignTensor> tensors_;
};

}  // namespace

std::int64_t ForeignTensor::row_count() const {
  std::int64_t count = 0;
  for (const RowRun& run : rows) count += run.count;
  return count;
}

std::vector<std::int64_t> ForeignTensor::shape() const {
  if (heads > 0) return {heads, row_count() / heads};
  if (filters) return {row_count(), 1, columns};
  if (vector && columns == 1) return {row_count()};
  if (transposed) return {columns, row_count()};
  return {row_count(), columns};
}

std::vector<ForeignTensor> foreign_tensors(const Architecture& given, const Family& family) {
  Architecture model = given;
  model.adapters.reset();  // they have a folder of their own
  Writer writer(model, family);
  writer.add("", 0, embedding_parameters(model));
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    writer.add(fmt::format("layers.{}.", layer), layer,
               layer_parameters(model, model.layer_class(layer)));
  }
  writer.add("", 0, head_parameters(model));
  return writer.take();
}

}  // namespace stepwright
