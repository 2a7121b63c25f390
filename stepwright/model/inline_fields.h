#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/model/architecture.h"
#include "stepwright/model/optional_fields.h"

namespace stepwright::model {

/// Reader of an inline model (a mapping in a job file) that may extend a base model: a key that the
/// mapping lacks is read from the base. A null value hides the base's value and counts as absent.
class InlineModelReader : public OptionalFields<InlineModelReader> {
 public:
  InlineModelReader(DocumentNode own, std::optional<DocumentNode> base) : own_(own), base_(base) {}

  /// Returns the value of a key, from the mapping or else from its base model; nullopt if it is
  /// absent or null.
  [[nodiscard]] std::optional<DocumentNode> value(std::string_view key) const;
  /// Returns a reader of the mapping under `key`, with the base model's mapping under `key` as
  /// defaults; nullopt if neither has the key.
  [[nodiscard]] std::optional<InlineModelReader> reader_of_nested_mapping(
      std::string_view key) const;

  /// Reads a required size. `unless`: text appended to the error message if it is missing (",
  /// unless ... is given").
  [[nodiscard]] std::int64_t size(std::string_view key, std::int64_t high = kMaxModelDimension,
                                  std::string_view unless = "") const;
  /// Throws the error that `key` is missing; `unless`: text appended to it.
  [[noreturn]] void fail_missing_key(std::string_view key, std::string_view unless = "") const;
  /// Reads the flag `key`, else the flag `all` that sets several flags at once; either one in the
  /// mapping overrides the base model. False if absent.
  [[nodiscard]] bool read_flag_or_group_flag(std::string_view key, std::string_view all) const;
  /// Reads an enumerator by its word in `table`; `fallback` if the key is absent.
  template <class EnumNamedByWord, std::size_t kCount>
  [[nodiscard]] EnumNamedByWord choice(std::string_view key,
                                       const Named<EnumNamedByWord> (&table)[kCount],
                                       EnumNamedByWord fallback) const {
    const auto found = value(key);
    return found ? found->choice(table) : fallback;
  }

  /// Returns the mapping itself, without the base model, to locate error messages.
  [[nodiscard]] DocumentNode inline_mapping() const { return own_; }

 private:
  DocumentNode own_;
  std::optional<DocumentNode> base_;
};

}  // namespace stepwright::model
