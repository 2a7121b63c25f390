#include "stepwright/framework_files/megatron/layer_lists.h"

#include <fmt/format.h>

#include "stepwright/model/architecture.h"

namespace stepwright::framework_files {

std::vector<std::uint8_t> flags_of_zero_entries(DocumentNode list, std::int64_t layers) {
  std::vector<std::uint8_t> zeros(static_cast<std::size_t>(layers), 0);
  if (list.size() != zeros.size()) {
    list.fail(
        fmt::format("must have one entry for each of {} layers; it has {}", layers, list.size()));
  }
  for (std::size_t i = 0; i < zeros.size(); ++i) zeros[i] = list.at(i).integer(0, 1) == 0 ? 1 : 0;
  return zeros;
}

std::vector<std::uint8_t> layer_period_flags(DocumentNode setting, std::int64_t layers) {
  if (!setting.is_scalar()) return flags_of_zero_entries(setting, layers);
  std::vector<std::uint8_t> ends(static_cast<std::size_t>(layers), 0);
  const auto period = static_cast<std::size_t>(setting.integer(1, model::kMaxModelLayers));
  for (std::size_t i = period; i <= ends.size(); i += period) ends[i - 1] = 1;
  return ends;
}

DocumentTree layer_flags_python_list(std::span<const std::uint8_t> marks) {
  DocumentTree list = DocumentTree::empty_flow_sequence();
  for (const std::uint8_t mark : marks) list.add(mark != 0 ? 1 : 0);
  return list;
}

}  // namespace stepwright::framework_files
