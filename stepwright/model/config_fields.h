#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/model/architecture.h"
#include "stepwright/model/optional_fields.h"

namespace stepwright::model {

/// Reader of a `config.json` that follows transformers: null mostly means "absent". A wrong value
/// fails with `kInput` at its line. All copies record in one shared set which keys were asked for,
/// so that unused keys can be reported.
class ConfigJsonReader : public OptionalFields<ConfigJsonReader> {
 public:
  /// Reads from `config`, the language model's mapping. `outer`: the whole file if `config` is its
  /// `text_config`; nullopt: `config` is the whole file.
  ConfigJsonReader(DocumentNode config, std::optional<DocumentNode> outer)
      : language_model_config_(config), outer_(outer) {}

  /// Returns the value of the first of several alternative keys that the config.json has (null
  /// included); nullopt: it has none.
  [[nodiscard]] std::optional<DocumentNode> find(
      std::initializer_list<std::string_view> spellings) const;
  /// Returns the value of a key in the config.json; nullopt if the key is absent or its value is
  /// null.
  [[nodiscard]] std::optional<DocumentNode> value(std::string_view key) const;
  /// Marks keys as used without reading them, because another key decides or repeats their meaning.
  void mark_config_keys_used(std::initializer_list<std::string_view> keys) const;
  /// Returns the language model's keys that no reader has asked for, with their values, in file
  /// order.
  [[nodiscard]] std::vector<std::pair<std::string, DocumentNode>> unread_config_keys() const;
  /// Returns the keys that readers asked for but that the language model's mapping lacks, sorted.
  [[nodiscard]] std::vector<std::string> absent_requested_keys() const;

  /// Returns a reader of the mapping under `key`; fails if the key is absent.
  [[nodiscard]] ConfigJsonReader reader_of_nested_config(std::string_view key) const;
  /// Reads a required size from the first of several alternative keys that the config.json has.
  [[nodiscard]] std::int64_t size(std::initializer_list<std::string_view> spellings,
                                  std::int64_t high = kMaxModelDimension) const;

  using OptionalFields::size_or_default;
  /// Reads a size from the first of several alternative keys with a value; `fallback` if none has
  /// one.
  [[nodiscard]] std::int64_t size_or_default(std::initializer_list<std::string_view> spellings,
                                             std::int64_t fallback, std::int64_t low = 1,
                                             std::int64_t high = kMaxModelDimension) const;

  /// Reads `tie_word_embeddings`; a value outside of `text_config` overrides one inside. `fallback`
  /// if absent.
  [[nodiscard]] bool read_tied_embeddings_flag(bool fallback) const;
  /// Reads an activation function by its name in transformers; `fallback` if absent. Fails with
  /// `kUnsupported` for an unknown name.
  [[nodiscard]] ActivationFunction read_activation_function(std::string_view key,
                                                            ActivationFunction fallback) const;
  /// Returns the mapping in a config.json that holds rotary settings: `rope_scaling`, else
  /// `rope_parameters` (transformers 5); nullopt if the file has neither.
  [[nodiscard]] std::optional<DocumentNode> rotary_embedding_settings() const;
  /// Reads the share of a head that rotary positions rotate: partial_rotary_factor (top level, in
  /// `rope_parameters`, or per layer type), or GPT-NeoX's rotary_pct; `fallback` if absent.
  [[nodiscard]] double read_rotary_share_of_head(double fallback) const;
  /// Reads the soft cap of attention scores or logits from `key`; 0 for null (no cap); `fallback`
  /// if absent.
  [[nodiscard]] double read_logit_soft_cap(std::string_view key, double fallback) const;
  /// Fails with `kUnsupported` if the key's flag is true; `why` becomes the reason in the message.
  void refuse_model_if_flag_is_true(std::string_view key, std::string_view why) const;
  /// Throws `kInput` with `message`, located at the start of the language model's mapping.
  [[noreturn]] void fail(const std::string& message) const { language_model_config_.fail(message); }

 private:
  DocumentNode language_model_config_;
  std::optional<DocumentNode> outer_;
  std::shared_ptr<std::set<std::string, std::less<>>> asked_ =
      std::make_shared<std::set<std::string, std::less<>>>();
};

}  // namespace stepwright::model
