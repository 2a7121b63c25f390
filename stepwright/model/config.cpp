#include <fmt/format.h>

#include <filesystem>

#include "stepwright/core/name.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"
#include "stepwright/model/catalog.h"
#include "stepwright/model/config_encoder.h"
#include "stepwright/model/config_families.h"
#include "stepwright/model/config_refusals.h"
#include "stepwright/model/config_rotary.h"
#include "stepwright/model/config_unread.h"

namespace stepwright::model {
namespace {

/// Returns the file's name without its ending; for a config.json, the name of its folder if that is
/// known.
std::string name_of_file(const std::filesystem::path& path) {
  const std::string folder = path.lexically_normal().parent_path().filename().string();
  const bool unnamed = folder.empty() || folder == "..";
  return path.stem() != "config" || unnamed ? path.stem().string() : folder;
}

/// Returns the last part of the path in `_name_or_path`; if absent, a name from the file's path.
std::string name_of(const YamlJsonDocument& document) {
  if (const auto given = document.root().find("_name_or_path"); given && given->is_scalar()) {
    std::string text = read_name(*given, kLongestPath);
    while (text.ends_with('/')) text.pop_back();
    text = text.substr(text.rfind('/') + 1);
    if (const std::string fault = invalid_name_reason(text); !fault.empty()) given->fail(fault);
    if (!text.empty()) return text;
  }
  std::string name = name_of_file(document.document_name());
  if (const std::string fault = invalid_name_reason(name); !fault.empty()) {
    document.root().fail("the file gives the model its name, which " + fault);
  }
  return name;
}

/// Returns why a type is not supported, if a reason is known, and adds that code which comes with
/// the model is never run.
std::string reason_for(const std::string& word, DocumentNode config) {
  std::string reason = fmt::format("'{}' is not supported", one_line_printable_text(word));
  for (const RefusedModelType& refused : refused_model_types()) {
    if (refused.model_type != word) continue;
    reason += fmt::format(" ({}; {} of the same sizes may stand in for it)", refused.reason,
                          refused.instead);
  }
  if (const auto code = custom_code_class(config)) {
    reason += fmt::format("; its own code (auto_map: {}) is never run", *code);
  }
  return reason;
}

const ModelConfigFamily& family_of(DocumentNode config) {
  const DocumentNode type = config.get("model_type");
  const std::string word = type.text();
  std::vector<std::string_view> known;
  for (const ModelConfigFamily& family : model_config_families()) {
    if (family.model_type == word) return family;
    known.push_back(family.model_type);
  }
  type.fail_unsupported(
      fmt::format("{} (supported: {}); sizes of a model that is like one of these can be written "
                  "into the job (docs/formats.md, \"Inline model\")",
                  reason_for(word, config), join_with_commas(known)));
}

}  // namespace

ModelArchitecture read_huggingface_config(const YamlJsonDocument& document,
                                          std::vector<std::string>* notes) {
  const DocumentNode root = document.root();
  const auto nested = root.find("text_config");
  const bool multimodal = nested && nested->is_mapping();
  const DocumentNode config = multimodal ? *nested : root;
  const ModelConfigFamily& family = family_of(config);
  const ConfigJsonReader fields(config, multimodal ? std::optional(root) : std::nullopt);
  ModelArchitecture model = family.read(fields);
  const bool is_usual = model.rotary_base == ModelArchitecture{}.rotary_base;
  const double base = is_usual ? family.rotary_base : model.rotary_base;
  if (model.position == PositionEncoding::kRope) read_rotary_base_and_scaling(fields, base, model);
  model.name = name_of(document);
  model.encoder = read_image_encoder(root, model);
  // Unread keys are reported before `check_model_sizes`: a misspelt key explains sizes that
  // contradict each other.
  std::vector<std::string> said;
  note_unread_keys(fields, family.model_type, config, model, notes != nullptr ? *notes : said);
  check_model_sizes(model, config.file_position_text(), family.names);
  return model;
}

}  // namespace stepwright::model
