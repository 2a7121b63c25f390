#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// Base class of model file readers, with functions that read optional keys.
/// `DerivedReader::value(key)` must return nullopt for an absent or null key. A wrong value fails
/// with `kInput` at its line.
template <class DerivedReader>
class OptionalFields {
 public:
  /// Reads a size of at least `low`; `fallback` if the key is absent or null.
  [[nodiscard]] std::int64_t size_or_default(std::string_view key, std::int64_t fallback,
                                             std::int64_t low = 1) const {
    const auto found = fields().value(key);
    return found ? found->integer(low, kMaxModelDimension) : fallback;
  }
  /// Reads a number from `low` to `high`; `fallback` if the key is absent or null.
  [[nodiscard]] double read_number_or(std::string_view key, double fallback, double low,
                                      double high) const {
    const auto found = fields().value(key);
    return found ? found->number(low, high) : fallback;
  }
  /// Reads a flag; `fallback` if the key is absent or null.
  [[nodiscard]] bool flag(std::string_view key, bool fallback = false) const {
    const auto found = fields().value(key);
    return found ? found->boolean() : fallback;
  }

 private:
  [[nodiscard]] const DerivedReader& fields() const {
    return static_cast<const DerivedReader&>(*this);
  }
};

}  // namespace stepwright::model
