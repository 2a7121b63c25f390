#include "stepwright/model/config_fields.h"

#include <fmt/format.h>

#include <vector>

#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"

namespace stepwright::model {
namespace {

constexpr Named<ActivationFunction> kActivations[] = {
    {ActivationFunction::kSilu, "silu"},
    {ActivationFunction::kSilu, "swish"},
    {ActivationFunction::kGelu, "gelu"},
    {ActivationFunction::kGeluTanh, "gelu_new"},
    {ActivationFunction::kGeluTanh, "gelu_fast"},
    {ActivationFunction::kGeluTanh, "gelu_pytorch_tanh"},
    {ActivationFunction::kGelu, "gelu_python"},
    {ActivationFunction::kRelu, "relu"},
    {ActivationFunction::kSquaredRelu, "relu2"},
    {ActivationFunction::kXielu, "xielu"},
};

double fraction(DocumentNode node) { return node.number(0, 1); }

/// Returns the rotated share in `rope_parameters` of version 5, which is one mapping or one mapping
/// per layer type; nullopt if absent.
std::optional<double> factor_in(DocumentNode rope, double fallback) {
  if (!rope.is_mapping()) rope.fail("must be a mapping or null");
  if (const auto alone = rope.find("partial_rotary_factor"); alone && !alone->is_null()) {
    return fraction(*alone);
  }
  std::optional<double> common;
  for (const auto& [layer_type, parameters] : rope.mapping_members()) {
    if (!parameters.is_mapping()) continue;
    const auto found = parameters.find("partial_rotary_factor");
    const double factor = found && !found->is_null() ? fraction(*found) : fallback;
    if (common && *common != factor) {
      rope.fail_unsupported("layer types that rotate different shares of a head");
    }
    common = factor;
  }
  return common;
}

}  // namespace

std::optional<DocumentNode> ConfigJsonReader::find(
    std::initializer_list<std::string_view> spellings) const {
  std::optional<DocumentNode> found;
  for (const std::string_view key : spellings) {
    asked_->emplace(key);
    if (!found) found = language_model_config_.find(key);
  }
  return found;
}

std::optional<DocumentNode> ConfigJsonReader::value(std::string_view key) const {
  const auto found = find({key});
  return found && !found->is_null() ? found : std::nullopt;
}

void ConfigJsonReader::mark_config_keys_used(std::initializer_list<std::string_view> keys) const {
  asked_->insert(keys.begin(), keys.end());
}

std::vector<std::pair<std::string, DocumentNode>> ConfigJsonReader::unread_config_keys() const {
  auto members = language_model_config_.mapping_members();
  std::erase_if(members, [&](const auto& member) { return asked_->contains(member.first); });
  return members;
}

std::vector<std::string> ConfigJsonReader::absent_requested_keys() const {
  std::vector<std::string> keys(asked_->begin(), asked_->end());
  std::erase_if(
      keys, [&](const std::string& key) { return language_model_config_.find(key).has_value(); });
  return keys;
}

ConfigJsonReader ConfigJsonReader::reader_of_nested_config(std::string_view key) const {
  asked_->emplace(key);
  const DocumentNode found = language_model_config_.get(key);
  if (!found.is_mapping()) found.fail("must be a mapping");
  return {found, std::nullopt};
}

std::int64_t ConfigJsonReader::size(std::initializer_list<std::string_view> spellings,
                                    std::int64_t high) const {
  const auto found = find(spellings);
  return (found ? *found : language_model_config_.get(*spellings.begin())).integer(1, high);
}

std::int64_t ConfigJsonReader::size_or_default(std::initializer_list<std::string_view> spellings,
                                               std::int64_t fallback, std::int64_t low,
                                               std::int64_t high) const {
  for (const std::string_view key : spellings) {
    if (const auto found = value(key)) return found->integer(low, high);
  }
  return fallback;
}

bool ConfigJsonReader::read_tied_embeddings_flag(bool fallback) const {
  constexpr std::string_view kKey = "tie_word_embeddings";
  // A Llama 4 decoder is a causal model with its own configuration: only that one ties the tables.
  const auto type = outer_ ? outer_->find("model_type") : std::nullopt;
  const bool alone = type && type->is_scalar() && type->text() == "llama4";
  const auto around = outer_ && !alone ? outer_->find(kKey) : std::nullopt;
  return around && !around->is_null() ? around->boolean() : flag(kKey, fallback);
}

ActivationFunction ConfigJsonReader::read_activation_function(std::string_view key,
                                                              ActivationFunction fallback) const {
  const auto found = value(key);
  if (!found) return fallback;
  const std::string word = found->text();
  std::vector<std::string_view> known;
  for (const auto& [activation, name] : kActivations) {
    if (name == word) return activation;
    known.push_back(name);
  }
  found->fail_unsupported(fmt::format("the activation '{}' (supported: {})",
                                      one_line_printable_text(word), join_with_commas(known)));
}

std::optional<DocumentNode> ConfigJsonReader::rotary_embedding_settings() const {
  const auto older = value("rope_scaling");
  return older ? older : value("rope_parameters");
}

double ConfigJsonReader::read_rotary_share_of_head(double fallback) const {
  for (const std::string_view key : {"rotary_pct", "partial_rotary_factor"}) {
    if (const auto found = value(key)) fallback = fraction(*found);
  }
  const auto rope = rotary_embedding_settings();
  return rope ? factor_in(*rope, fallback).value_or(fallback) : fallback;
}

double ConfigJsonReader::read_logit_soft_cap(std::string_view key, double fallback) const {
  constexpr double kLargestCap = 1e6;
  const auto found = find({key});
  return found && found->is_null() ? 0 : read_number_or(key, fallback, 0, kLargestCap);
}

void ConfigJsonReader::refuse_model_if_flag_is_true(std::string_view key,
                                                    std::string_view why) const {
  if (flag(key, false)) value(key)->fail_unsupported(why);
}

}  // namespace stepwright::model
