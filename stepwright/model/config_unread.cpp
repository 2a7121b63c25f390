#include "stepwright/model/config_unread.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "stepwright/core/document.h"
#include "stepwright/core/embedded.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"

namespace stepwright::model {

/// Returns the file shapeless_keys.yaml, which is compiled into the program.
std::span<const EmbeddedFile> embedded_keys();

namespace {

/// A part of a decoder that some types have, and the key that turns it on.
struct Part {
  std::string_view key;
  double off;  ///< The largest value of the key at which the part is absent.
  bool (*has)(const ModelArchitecture& model);
  std::string_view what;
};

bool has_experts(const ModelArchitecture& model) { return model.experts.has_value(); }
bool has_latent(const ModelArchitecture& model) { return model.latent.has_value(); }
bool has_sparse_attention_indexer(const ModelArchitecture& model) {
  return model.latent && model.latent->index_heads > 0;
}
bool has_state(const ModelArchitecture& model) { return model.state_mixer.has_value(); }
bool has_query_norms(const ModelArchitecture& model) { return model.qk_norm != QkNorm::kNone; }
bool has_alibi(const ModelArchitecture& model) {
  return model.position == PositionEncoding::kAlibi;
}
bool is_parallel(const ModelArchitecture& model) { return model.parallel_residual; }

constexpr Part kParts[] = {
    {"num_local_experts", 1, has_experts, "experts"},
    {"num_experts", 1, has_experts, "experts"},
    {"n_routed_experts", 1, has_experts, "experts"},
    {"moe_num_experts", 1, has_experts, "experts"},
    {"kv_lora_rank", 0, has_latent, "latent attention"},
    {"index_topk", 0, has_sparse_attention_indexer, "indexer"},
    {"linear_num_value_heads", 0, has_state, "layers with a state"},
    {"mamba_d_state", 0, has_state, "layers with a state"},
    {"ssm_state_size", 0, has_state, "layers with a state"},
    {"qk_norm", 0, has_query_norms, "norms of queries and keys"},
    {"use_qk_norm", 0, has_query_norms, "norms of queries and keys"},
    {"alibi", 0, has_alibi, "biases of scores by distance"},
    {"use_parallel_residual", 0, is_parallel, "parallel branches"},
};

/// True if a value is null, false, 0 or empty, so that it adds nothing to a decoder.
bool says_nothing(DocumentNode node) {
  if (node.is_null()) return true;
  if (!node.is_scalar()) return node.size() == 0;
  const std::string text = node.text();
  return text.empty() || text == "false" || (node.is_number() && node.number() == 0);
}

/// The keys of shapeless_keys.yaml, and the substrings (`within`) of further keys that shape no
/// decoder.
class ShapelessKeys {
 public:
  ShapelessKeys() {
    const YamlJsonDocument document =
        YamlJsonDocument::parse(embedded_keys().front().text, "shapeless_keys.yaml");
    for (const auto& [section, list] : document.root().mapping_members()) {
      if (section == "source") continue;
      std::vector<std::string>& into = section == "within" ? parts_ : keys_;
      for (std::string& key : list.as_text_list()) into.push_back(std::move(key));
    }
  }

  [[nodiscard]] bool has(std::string_view key) const {
    const auto holds = [&](const std::string& part) { return key.find(part) != key.npos; };
    return std::ranges::any_of(parts_, holds) || std::ranges::find(keys_, key) != keys_.end();
  }

 private:
  std::vector<std::string> parts_, keys_;
};

bool shapes_no_decoder(std::string_view key) {
  static const ShapelessKeys kKeys;
  return kKeys.has(key);
}

void refuse_part(std::string_view key, DocumentNode node, std::string_view model_type,
                 const ModelArchitecture& model) {
  for (const Part& part : kParts) {
    if (part.key != key || !node.is_scalar() || part.has(model)) continue;
    const bool on = node.is_number() ? node.number() > part.off : node.text() == "true";
    if (!on) continue;
    node.fail_unsupported(fmt::format("'{}' of transformers has no {}: it would pass this over",
                                      model_type, part.what));
  }
}

void refuse_misspelt(std::string_view key, DocumentNode node,
                     std::span<const std::string> missing) {
  // Fewest letters of a key that is compared: shorter words resemble each other by chance.
  constexpr std::size_t kFewest = 8;
  constexpr std::size_t kMostEdits = 2;
  if (key.size() < kFewest) return;
  for (const std::string& absent : missing) {
    if (absent.size() < kFewest || edit_distance(key, absent) > kMostEdits) continue;
    node.fail(fmt::format("no such key; did you mean '{}'?", absent));
  }
}

}  // namespace

std::optional<std::string> custom_code_class(DocumentNode config) {
  const auto code = config.find("auto_map");
  if (!code || !code->is_mapping() || code->size() == 0) return std::nullopt;
  const auto [name, place] = code->mapping_members().front();
  return one_line_printable_text(place.is_scalar() ? place.text() : name);
}

void note_unread_keys(const ConfigJsonReader& fields, std::string_view model_type,
                      DocumentNode config, const ModelArchitecture& model,
                      std::vector<std::string>& notes) {
  constexpr std::size_t kMostNamed = 20;
  const std::vector<std::string> missing = fields.absent_requested_keys();
  std::string unread;
  std::size_t count = 0;
  for (const auto& [key, node] : fields.unread_config_keys()) {
    if (shapes_no_decoder(key) || says_nothing(node)) continue;
    refuse_part(key, node, model_type, model);
    refuse_misspelt(key, node, missing);
    if (++count <= kMostNamed)
      unread += (unread.empty() ? "" : ", ") + one_line_printable_text(key);
  }
  if (count > kMostNamed) unread += fmt::format(" and {} more", count - kMostNamed);
  if (!unread.empty()) {
    notes.push_back(fmt::format("{}: keys that the reader of '{}' does not use: {}.",
                                one_line_printable_text(config.file(), 1000), model_type, unread));
  }
  if (const auto code = custom_code_class(config)) {
    notes.push_back(fmt::format(
        "{}: its own code (auto_map: {}) is never run; read as the '{}' of transformers.",
        one_line_printable_text(config.file(), 1000), *code, model_type));
  }
}

}  // namespace stepwright::model
