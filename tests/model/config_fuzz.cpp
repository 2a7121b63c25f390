#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/model/catalog.h"
#include "stepwright/model/flops.h"
#include "stepwright/model/parameters.h"

namespace stepwright::model {
namespace {

/// Uses a model that was accepted: counts it without overflow, and reads it back from its own
/// mapping.
void use(const ModelArchitecture& model) {
  if (count_active_parameters(model) > count_parameters(model)) __builtin_trap();
  if (!(forward_flops_per_token(model, 4096) > 0)) __builtin_trap();
  const YamlJsonDocument document =
      YamlJsonDocument::parse(inline_model_mapping(model).dump(), "again");
  if (read_inline_model(document.root()) != model) __builtin_trap();
}

template <class Read>
void attempt(std::string_view text, Read read) {
  try {
    const YamlJsonDocument document = YamlJsonDocument::parse(text, "fuzz");
    use(read(document));
  } catch (const Error&) {
    return;
  }
}

}  // namespace
}  // namespace stepwright::model

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using stepwright::YamlJsonDocument;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  stepwright::model::attempt(text, [](const YamlJsonDocument& file) {
    return stepwright::model::read_huggingface_config(file);
  });
  stepwright::model::attempt(text, [](const YamlJsonDocument& file) {
    return stepwright::model::read_inline_model(file.root());
  });
  return 0;
}
