#include "stepwright/framework_files/draft/named_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/recognition/sources.h"
#include "stepwright/model/catalog.h"

namespace stepwright::framework_files {
namespace {

/// Ending of the name of a copy whose weights bitsandbytes has stored in 4 bits.
constexpr std::string_view kFourBits = "-bnb-4bit";

/// Returns the built-in model that a Hugging Face id without owner names, or of which the named
/// model is a fine-tuned copy with equal sizes; nullopt if there is none.
std::optional<std::string_view> model_of_id(std::string_view last) {
  if (const auto own = model::built_in_model_of_hub_id(fmt::format("hub/{}", last))) return own;
  std::string small(last);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
  // A copy of the weights in another type has the same sizes: unsloth/DeepSeek-V3-0324-BF16,
  // axolotl-ai-co/gpt-oss-120b-dequantized, unsloth/Qwen3-1.7B-unsloth-bnb-4bit.
  constexpr std::string_view kCopies[] = {"-bf16", "-fp16", "-dequantized", kFourBits, "-unsloth"};
  for (const std::string_view copy : kCopies) {
    if (small.ends_with(copy)) return model_of_id(last.substr(0, last.size() - copy.size()));
  }
  for (const auto& [head, like] : words_of_table_section("huggingface/models", "like")) {
    if (!small.starts_with(head)) continue;
    const std::string rest = small.substr(head.size());
    const std::string_view but =
        meaning_of_program_setting_word("huggingface/models", "but_not", head);
    if (!but.empty() && rest.starts_with(but)) continue;
    if (const auto known = model::built_in_model_of_hub_id(fmt::format("hub/{}{}", like, rest)))
      return known;
    if (!like.ends_with('-') && rest.empty())
      return model::built_in_model_of_hub_id(fmt::format("hub/{}", like));
  }
  return std::nullopt;
}

/// Returns the parts of a path that can be a model's name: the last part, also without an owner
/// before it ("Qwen--Qwen3-8B", "Qwen_Qwen3-8B"), and the repository's name in a path of the
/// Hugging Face cache ("models--Qwen--Qwen3-8B/snapshots/0123abc"; huggingface/huggingface_hub
/// src/huggingface_hub/file_download.py: repo_folder_name).
std::vector<std::string_view> names_in(std::string_view path) {
  constexpr std::string_view kCached = "models--";
  std::vector<std::string_view> names;
  const auto add_parts = [&](std::string_view part) {
    names.push_back(part);
    for (const std::string_view mark : {"--", "_"}) {
      const std::size_t at = part.rfind(mark);
      const std::size_t first = mark == "_" ? part.find(mark) : at;
      if (first != std::string_view::npos) names.push_back(part.substr(first + mark.size()));
    }
  };
  add_parts(last_path_part(path));
  const std::size_t cached = path.rfind(kCached);
  if (cached != std::string_view::npos) {
    const std::string_view rest = path.substr(cached + kCached.size());
    add_parts(rest.substr(0, rest.find('/')));
  }
  return names;
}

}  // namespace

bool set_built_in_model(std::string_view id, const UserFacts& given, StatedModel& model_words,
                        ImportReport& report) {
  if (given.known_model || model_words.model) return true;
  while (id.ends_with('/')) id.remove_suffix(1);
  std::optional<std::string_view> known;
  for (const std::string_view name : names_in(id)) {
    if (!known && !name.empty()) known = model_of_id(name);
  }
  if (!known) {
    model_words.unknown_model = one_line_printable_text(id);
    return false;
  }
  model_words.model = model::built_in_model(*known);
  model_words.stored_in_4_bits = id.ends_with(kFourBits);
  report.notes.push_back(
      fmt::format("{} is assumed to be the model {}.", one_line_printable_text(id), *known));
  // Gemma 3 models, except the smallest one, have an encoder of images.
  if (known->starts_with("gemma-3-") && *known != "gemma-3-1b") {
    report.notes.push_back("Its encoder of images is not in the plan.");
  }
  return true;
}

std::string exported_model_folder(const plan::Job& job) {
  const std::optional<model::ModelArchitecture> known = model::built_in_model(job.model_name);
  // Compared without frozen parts and adapters, which do not change the weights that are loaded.
  model::ModelArchitecture whole = job.model;
  whole.adapters.reset();
  whole.frozen = {};
  const bool same = known && *known == whole;
  return same ? fmt::format("./models/{}", job.model_name) : "./model";
}

}  // namespace stepwright::framework_files
