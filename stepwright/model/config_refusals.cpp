#include "stepwright/model/config_refusals.h"

#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/embedded.h"

namespace stepwright::model {

/// Returns the file refusals.yaml, which is compiled into the program.
std::span<const EmbeddedFile> embedded_refusals();

namespace {

std::vector<RefusedModelType> read_refusals() {
  const YamlJsonDocument document =
      YamlJsonDocument::parse(embedded_refusals().front().text, "refusals.yaml");
  const DocumentNode rows = document.root().get("types");
  std::vector<RefusedModelType> types;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const DocumentNode row = rows.at(i);
    types.push_back({row.get("type").text(), row.get("reason").text(), row.get("instead").text()});
  }
  return types;
}

}  // namespace

std::span<const RefusedModelType> refused_model_types() {
  static const std::vector<RefusedModelType> kTypes = read_refusals();
  return kTypes;
}

}  // namespace stepwright::model
