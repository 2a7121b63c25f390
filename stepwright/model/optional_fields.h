#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// Readers of optional keys, shared by the classes that read models. `Fields` must have
/// `value(key)`, which returns nullopt if a key is absent or null. A wrong value fails with
/// `kInput` at its position in the file.
template <class Fields>
class OptionalFields {
 public:
  /// Reads a size; `fallback` if the key is absent or null.
  [[nodiscard]] std::int64_t size_or(std::string_view key, std::int64_t fallback,
                                     std::int64_t low = 1) const {
    const auto found = fields().value(key);
    return found ? found->integer(low, kLargestSize) : fallback;
  }
  /// Reads a number; `fallback` if the key is absent or null.
  [[nodiscard]] double number_or(std::string_view key, double fallback, double low,
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
  [[nodiscard]] const Fields& fields() const { return static_cast<const Fields&>(*this); }
};

}  // namespace stepwright::model
