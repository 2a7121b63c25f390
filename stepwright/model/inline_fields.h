#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/model/architecture.h"
#include "stepwright/model/optional_fields.h"

namespace stepwright::model {

/// The keys of an inline mapping over those of a base: what the mapping does not name comes from
/// the base, and a key that is null counts as named in neither.
class InlineFields : public OptionalFields<InlineFields> {
 public:
  InlineFields(Node own, std::optional<Node> base) : own_(own), base_(base) {}

  /// The value of a key; nullopt if it is absent or null.
  [[nodiscard]] std::optional<Node> value(std::string_view key) const;
  /// The mapping under a key, over the base's mapping under it; nullopt if neither has one.
  [[nodiscard]] std::optional<InlineFields> nested(std::string_view key) const;

  /// A size that must be there; `unless` completes the message (", unless ... is given").
  [[nodiscard]] std::int64_t size(std::string_view key, std::int64_t high = kLargestSize,
                                  std::string_view unless = "") const;
  /// Fails: a key is missing.
  [[noreturn]] void fail_missing(std::string_view key, std::string_view unless = "") const;
  /// A truth value that `all` also sets; the mapping's own keys go before the base's.
  [[nodiscard]] bool flag_among(std::string_view key, std::string_view all) const;
  /// A word of a table, or `fallback` when absent.
  template <class Enum, std::size_t kCount>
  [[nodiscard]] Enum choice(std::string_view key, const Named<Enum> (&table)[kCount],
                            Enum fallback) const {
    const auto found = value(key);
    return found ? found->choice(table) : fallback;
  }

  /// The mapping as it was written, for messages.
  [[nodiscard]] Node own() const { return own_; }

 private:
  Node own_;
  std::optional<Node> base_;
};

}  // namespace stepwright::model
