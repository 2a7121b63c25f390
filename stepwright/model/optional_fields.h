#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// The rule by which readers of a model treat keys that may be missing. `Fields` has `value(key)`,
/// which is nothing where a key is absent or null; a value that is wrong fails with `kInput` where
/// it stands.
template <class Fields>
class OptionalFields {
 public:
  /// A size, or `fallback` when there is none.
  [[nodiscard]] std::int64_t size_or(std::string_view key, std::int64_t fallback,
                                     std::int64_t low = 1) const {
    const auto found = fields().value(key);
    return found ? found->integer(low, kLargestSize) : fallback;
  }
  /// A number, or `fallback` when there is none.
  [[nodiscard]] double number_or(std::string_view key, double fallback, double low,
                                 double high) const {
    const auto found = fields().value(key);
    return found ? found->number(low, high) : fallback;
  }
  /// A truth value, or `fallback` when there is none.
  [[nodiscard]] bool flag(std::string_view key, bool fallback = false) const {
    const auto found = fields().value(key);
    return found ? found->boolean() : fallback;
  }

 private:
  [[nodiscard]] const Fields& fields() const { return static_cast<const Fields&>(*this); }
};

}  // namespace stepwright::model
