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

/// The keys of a `config.json`, read as transformers reads them: null mostly means "as if absent".
/// A wrong value fails with `kInput` at its position in the file. Copies share the set of keys that
/// readers have asked for.
class ConfigFields : public OptionalFields<ConfigFields> {
 public:
  /// `config` holds the language model. `outer` is the whole file if `config` is its `text_config`,
  /// else nullopt.
  ConfigFields(Node config, std::optional<Node> outer) : config_(config), outer_(outer) {}

  /// Returns the value of the first of these spellings that the file has; null counts as a value.
  /// nullopt: none.
  [[nodiscard]] std::optional<Node> find(std::initializer_list<std::string_view> spellings) const;
  /// Returns the value of a key; nullopt if it is absent or null.
  [[nodiscard]] std::optional<Node> value(std::string_view key) const;
  /// Marks keys as asked for without reading them, because another key decides their effect or
  /// repeats them.
  void mark_keys_read(std::initializer_list<std::string_view> keys) const;
  /// Returns the keys of the language model that no reader has asked for, in file order.
  [[nodiscard]] std::vector<std::pair<std::string, Node>> unread() const;
  /// Returns the keys that readers asked for and the language model lacks, sorted.
  [[nodiscard]] std::vector<std::string> absent() const;

  /// Returns the fields of a nested mapping; fails if the key is absent.
  [[nodiscard]] ConfigFields nested(std::string_view key) const;
  /// Reads a required size under the first of these spellings that the file has.
  [[nodiscard]] std::int64_t size(std::initializer_list<std::string_view> spellings,
                                  std::int64_t high = kLargestSize) const;

  using OptionalFields::size_or;
  /// Reads a size under the first of these spellings that has a value; `fallback` if none has.
  [[nodiscard]] std::int64_t size_or(std::initializer_list<std::string_view> spellings,
                                     std::int64_t fallback, std::int64_t low = 1,
                                     std::int64_t high = kLargestSize) const;

  /// Reads `tie_word_embeddings`. The value outside a `text_config` overrides the one inside.
  [[nodiscard]] bool tied(bool fallback) const;
  /// Reads an activation by transformers' name for it; fails with `kUnsupported` for an unknown
  /// name.
  [[nodiscard]] Activation activation(std::string_view key, Activation fallback) const;
  /// Returns the mapping of rotary positions: `rope_scaling`, else `rope_parameters` of version 5;
  /// nullopt if the file has neither.
  [[nodiscard]] std::optional<Node> rotary() const;
  /// Reads the share of a head that is rotated: partial_rotary_factor, at the top, in
  /// `rope_parameters` or in each of its layer types, or GPT-NeoX's rotary_pct; `fallback` if
  /// absent.
  [[nodiscard]] double rotary_fraction(double fallback) const;
  /// Reads the value at which a hyperbolic tangent bounds scores or logits; null means 0, no bound.
  [[nodiscard]] double cap(std::string_view key, double fallback) const;
  /// Fails with `kUnsupported` if the flag `key` is true; `why` is the reason in the message.
  void refuse(std::string_view key, std::string_view why) const;
  /// Throws `kInput`, located at the top of the language model's mapping.
  [[noreturn]] void fail(const std::string& message) const { config_.fail(message); }

 private:
  Node config_;
  std::optional<Node> outer_;
  std::shared_ptr<std::set<std::string, std::less<>>> asked_ =
      std::make_shared<std::set<std::string, std::less<>>>();
};

}  // namespace stepwright::model
