#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/model/architecture.h"
#include "stepwright/model/optional_fields.h"

namespace stepwright::model {

/// The keys of an inline mapping with the keys of a base model as defaults: a key that the mapping
/// lacks is read from the base. A null value counts as absent.
class InlineFields : public OptionalFields<InlineFields> {
 public:
  InlineFields(Node own, std::optional<Node> base) : own_(own), base_(base) {}

  /// Returns the value of a key; nullopt if it is absent or null.
  [[nodiscard]] std::optional<Node> value(std::string_view key) const;
  /// Returns the fields of a nested mapping, with the base's nested mapping as defaults; nullopt if
  /// neither has the key.
  [[nodiscard]] std::optional<InlineFields> nested(std::string_view key) const;

  /// Reads a required size; `unless` is appended to the error message (", unless ... is given").
  [[nodiscard]] std::int64_t size(std::string_view key, std::int64_t high = kLargestSize,
                                  std::string_view unless = "") const;
  /// Fails with the message that `key` is missing.
  [[noreturn]] void fail_missing(std::string_view key, std::string_view unless = "") const;
  /// Reads a flag that the flag `all` also sets; the mapping's own two keys override the base's.
  [[nodiscard]] bool flag_among(std::string_view key, std::string_view all) const;
  /// Reads one of the words in a table; `fallback` if the key is absent.
  template <class Enum, std::size_t kCount>
  [[nodiscard]] Enum choice(std::string_view key, const Named<Enum> (&table)[kCount],
                            Enum fallback) const {
    const auto found = value(key);
    return found ? found->choice(table) : fallback;
  }

  /// Returns the mapping itself, without the base, for messages.
  [[nodiscard]] Node own() const { return own_; }

 private:
  Node own_;
  std::optional<Node> base_;
};

}  // namespace stepwright::model
