#include "stepwright/model/catalog.h"

#include <fmt/format.h>

#include <map>

#include "stepwright/core/embedded.h"
#include "stepwright/core/later.h"
#include "stepwright/model/config_encoder.h"

namespace stepwright::model {

/// Returns the files of the folder `models/`, which are compiled into the program.
std::span<const EmbeddedFile> embedded_models();

namespace {

/// Reads a file of `models/`: the `source` of its sizes, the `model` as jobs have it and, for a
/// model that reads images, the `config` keys that describe the encoder.
ModelArchitecture read_built_in(const EmbeddedFile& file) {
  const YamlJsonDocument document =
      YamlJsonDocument::parse(file.text, fmt::format("built-in model {}", file.name));
  const DocumentNode root = document.root();
  root.allow_only_keys({"source", "model", "config"});
  static_cast<void>(root.get("source"));
  ModelArchitecture model = read_inline_model(root.get("model"));
  model.name = file.name;
  if (const auto config = root.find("config")) model.encoder = read_image_encoder(*config, model);
  return model;
}

using Models = std::map<std::string_view, Later<ModelArchitecture>>;

Models unread_models() {
  Models models;
  for (const EmbeddedFile& file : embedded_models()) {
    models.try_emplace(file.name, [&file] { return read_built_in(file); });
  }
  return models;
}

/// Returns all built-in models; each is read when it is first asked for.
const Models& all_models() {
  static const Models kModels = unread_models();
  return kModels;
}

}  // namespace

std::vector<std::string_view> built_in_model_names() {
  return embedded_file_names(embedded_models());
}

std::optional<ModelArchitecture> built_in_model(std::string_view name) {
  const auto model = all_models().find(name);
  if (model == all_models().end()) return std::nullopt;
  return model->second.get();
}

}  // namespace stepwright::model
