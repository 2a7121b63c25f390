#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"

namespace stepwright {

/// Largest number that a size in a file of a framework may have.
inline constexpr std::int64_t kMostOfField = std::int64_t{1} << 40;

/// The settings of one mapping of a framework's file, with the framework's defaults for what is
/// absent or null. Values of a wrong kind fail with `kInput`, naming file, field and value.
class Fields {
 public:
  explicit Fields(Node node) : node_(node) {}

  /// The value, unless it is absent or null.
  [[nodiscard]] std::optional<Node> find(std::string_view key) const {
    const auto value = node_.find(key);
    return value && !value->is_null() ? value : std::nullopt;
  }
  [[nodiscard]] bool has(std::string_view key) const { return find(key).has_value(); }
  [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t usual,
                                     std::int64_t low = 1) const {
    const auto value = find(key);
    return value ? value->integer(low, kMostOfField) : usual;
  }
  [[nodiscard]] std::optional<std::int64_t> size(std::string_view key) const {
    const auto value = find(key);
    return value ? std::optional(value->integer(1, kMostOfField)) : std::nullopt;
  }
  [[nodiscard]] double number(std::string_view key, double usual) const {
    const auto value = find(key);
    return value ? value->number() : usual;
  }
  [[nodiscard]] bool flag(std::string_view key, bool usual) const {
    const auto value = find(key);
    return value ? value->boolean() : usual;
  }
  [[nodiscard]] std::string word(std::string_view key, std::string_view usual) const {
    const auto value = find(key);
    return value ? value->text() : std::string(usual);
  }
  /// The enumerator of a word; fails listing what is known.
  template <class Enum, std::size_t kCount>
  [[nodiscard]] Enum choice(std::string_view key, const Named<Enum> (&table)[kCount],
                            Enum usual) const {
    const auto value = find(key);
    return value ? value->choice(table) : usual;
  }
  /// The mapping below a key; an empty one where it is absent or null.
  [[nodiscard]] Fields section(std::string_view key) const;
  [[nodiscard]] Node node() const { return node_; }

 private:
  Node node_;
};

/// A note on keys that a reader does not understand: one that is nearly a known one fails with
/// `kInput`, the others are listed in a note. `passed` are known to matter to no plan.
std::optional<std::string> unread_keys(Node node, std::span<const std::string_view> known,
                                       std::span<const std::string_view> passed);

}  // namespace stepwright
