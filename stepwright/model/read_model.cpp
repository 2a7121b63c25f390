#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "stepwright/core/input_file.h"
#include "stepwright/core/lower_case.h"
#include "stepwright/core/name.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"
#include "stepwright/model/catalog.h"
#include "stepwright/model/unknown_model.h"

namespace stepwright::model {
namespace {

namespace fs = std::filesystem;

bool looks_like_path(const std::string& text) {
  const auto ends = [&](std::string_view ending) { return text.ends_with(ending); };
  return text.find('/') != std::string::npos || ends(".json") || ends(".yaml") || ends(".yml");
}

/// Returns the model name in an id, in lower case as built-in models are named.
std::string name_in_id(std::string_view id) {
  std::string name = to_lower_case(id.substr(id.rfind('/') + 1));
  if (name.starts_with("meta-")) name.erase(0, 5);
  return name;
}

/// Model names that contain a release number, and the built-in name without one.
constexpr std::pair<std::string_view, std::string_view> kReleases[] = {
    {"mistral-7b-v0.1", "mistral-7b"},
    {"mistral-7b-instruct-v0.1", "mistral-7b"},
    {"mistral-7b-instruct-v0.2", "mistral-7b"},
    {"mistral-7b-instruct-v0.3", "mistral-7b-v0.3"},
    {"mixtral-8x7b-v0.1", "mixtral-8x7b"},
    {"mixtral-8x7b-instruct-v0.1", "mixtral-8x7b"},
    {"mixtral-8x22b-instruct-v0.1", "mixtral-8x22b"},
    {"olmoe-1b-7b-0125", "olmoe-1b-7b"},
    {"olmoe-1b-7b-0924", "olmoe-1b-7b"},
    {"nvidia-nemotron-nano-9b-v2", "nemotron-nano-9b-v2"},
    {"nvidia-nemotron-nano-12b-v2", "nemotron-nano-12b-v2"},
    {"qwen3-4b-instruct-2507", "qwen3-4b"},
    {"qwen3-4b-thinking-2507", "qwen3-4b"},
    {"qwen3-30b-a3b-instruct-2507", "qwen3-30b-a3b"},
    {"qwen3-30b-a3b-thinking-2507", "qwen3-30b-a3b"},
    {"qwen3-235b-a22b-instruct-2507", "qwen3-235b-a22b"},
    {"qwen3-235b-a22b-thinking-2507", "qwen3-235b-a22b"},
};

/// True for text of the form "owner/name" that is not a file's path.
bool may_be_id(std::string_view text) {
  const bool file = text.ends_with(".json") || text.ends_with(".yaml") || text.ends_with(".yml");
  return !file && std::ranges::count(text, '/') == 1 && text.front() != '.' &&
         text.front() != '/' && text.back() != '/';
}

/// Returns a hint for a Hugging Face id (`meta-llama/Llama-3.1-70B-Instruct`): the longest built-in
/// name with which it begins, else the nearest one.
std::string hint_of_id(std::string_view text) {
  const std::string name = name_in_id(text);
  const std::vector<std::string_view> known = built_in_model_names();
  std::string_view meant = nearest_known_word(name, known).value_or("");
  std::size_t longest = 0;
  for (const std::string_view model : known) {
    if (!name.starts_with(model) || model.size() <= longest) continue;
    meant = model;
    longest = model.size();
  }
  if (!meant.empty()) return fmt::format("; did you mean the built-in model '{}'?", meant);
  return may_be_id(text) ? "; of Hugging Face ids, only those of built-in models are known: give "
                           "the path of the model's config.json"
                         : "";
}

/// Reads a model from a file: a `config.json` has the key `model_type` or `text_config`, an inline
/// model has neither.
ModelArchitecture read_file(const fs::path& path, std::vector<std::string>* notes) {
  const YamlJsonDocument document = YamlJsonDocument::load(path);
  const DocumentNode root = document.root();
  if (root.find("model_type") || root.find("text_config"))
    return read_huggingface_config(document, notes);
  return read_inline_model(root);
}

ModelArchitecture read_named(DocumentNode node, const fs::path& directory,
                             std::vector<std::string>* notes) {
  const std::string text = read_name(node, kLongestPath);
  if (auto model = built_in_model(text)) return *std::move(model);
  const fs::path path = directory / text;
  if (!text.empty() && is_folder(path)) return read_file(path / "config.json", notes);
  if (!text.empty() && path_exists(path)) return read_file(path, notes);
  if (const auto known = built_in_model_of_hub_id(text)) {
    if (notes != nullptr) {
      notes->push_back(
          fmt::format("{} is assumed to be the model {}.", one_line_printable_text(text), *known));
    }
    return *built_in_model(*known);
  }
  if (looks_like_path(text)) {
    node.fail(fmt::format("{}: no such file{}", one_line_printable_text(path.string(), 1000),
                          hint_of_id(text)));
  }
  node.fail(unknown_model_message(text));
}

}  // namespace

std::string unknown_model_message(std::string_view name) {
  const std::vector<std::string_view> known = built_in_model_names();
  return fmt::format("no built-in model and no file is called '{}'{}",
                     one_line_printable_text(name),
                     unknown_word_hint_text(name, known, "stepwright list models"));
}

std::optional<std::string_view> built_in_model_of_hub_id(std::string_view id) {
  std::string name = name_in_id(id);
  for (const std::string_view tuned :
       {"-fp8", "-hf", "-instruct", "-chat", "-base", "-it", "-pt"}) {
    if (name.ends_with(tuned)) name.erase(name.size() - tuned.size());
  }
  for (const auto& [release, model] : kReleases) {
    if (name == release) name = model;
  }
  const std::vector<std::string_view> known = built_in_model_names();
  const auto found = std::ranges::find(known, name);
  if (id.find('/') == std::string_view::npos || found == known.end()) return std::nullopt;
  return *found;
}

ModelArchitecture read_job_model(DocumentNode node, const std::filesystem::path& directory,
                                 std::vector<std::string>* notes) {
  if (node.is_mapping()) return read_inline_model(node);
  if (!node.is_scalar()) {
    node.fail("must be the name of a built-in model, the path of a file, or a mapping");
  }
  return read_named(node, directory, notes);
}

}  // namespace stepwright::model
