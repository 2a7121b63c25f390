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
/// Wrong values fail with `kInput` where they stand. Copies keep together what was asked for.
class ConfigFields : public OptionalFields<ConfigFields> {
 public:
  /// `config` holds the language model; `outer` is the file around it when that is a `text_config`.
  ConfigFields(Node config, std::optional<Node> outer) : config_(config), outer_(outer) {}

  /// The value of the first of these spellings that is there; null counts as a value.
  [[nodiscard]] std::optional<Node> find(std::initializer_list<std::string_view> spellings) const;
  /// The value of a key, nothing when it is absent or null.
  [[nodiscard]] std::optional<Node> value(std::string_view key) const;
  /// Counts keys as asked for: another one decides whether they are read, or says the same.
  void heed(std::initializer_list<std::string_view> keys) const;
  /// The keys of the language model that no reader has asked for, in the order of the file.
  [[nodiscard]] std::vector<std::pair<std::string, Node>> unread() const;
  /// The keys that readers have asked for and the language model has not, sorted.
  [[nodiscard]] std::vector<std::string> absent() const;

  /// The keys of a mapping inside, which must be there.
  [[nodiscard]] ConfigFields nested(std::string_view key) const;
  /// A size that must be there.
  [[nodiscard]] std::int64_t size(std::initializer_list<std::string_view> spellings,
                                  std::int64_t high = kLargestSize) const;

  using OptionalFields::size_or;
  /// A size under the first of these spellings that has a value, or `fallback` when none has.
  [[nodiscard]] std::int64_t size_or(std::initializer_list<std::string_view> spellings,
                                     std::int64_t fallback, std::int64_t low = 1,
                                     std::int64_t high = kLargestSize) const;

  /// `tie_word_embeddings`; around a `text_config` it decides over that inside.
  [[nodiscard]] bool tied(bool fallback) const;
  /// An activation by the names of transformers; others are `kUnsupported`.
  [[nodiscard]] Activation activation(std::string_view key, Activation fallback) const;
  /// Rotary positions of the file: `rope_scaling`, else version 5's `rope_parameters`.
  [[nodiscard]] std::optional<Node> rotary() const;
  /// The rotated share of a head: partial_rotary_factor, alone, in `rope_parameters` or in each of
  /// its layer types, or GPT-NeoX's rotary_pct.
  [[nodiscard]] double rotary_fraction(double fallback) const;
  /// The bound of a hyperbolic tangent; null: none.
  [[nodiscard]] double cap(std::string_view key, double fallback) const;
  /// Fails with `kUnsupported` when the flag is set.
  void refuse(std::string_view key, std::string_view why) const;
  /// Fails with `kInput` at the top of the language model.
  [[noreturn]] void fail(const std::string& message) const { config_.fail(message); }

 private:
  Node config_;
  std::optional<Node> outer_;
  std::shared_ptr<std::set<std::string, std::less<>>> asked_ =
      std::make_shared<std::set<std::string, std::less<>>>();
};

}  // namespace stepwright::model
