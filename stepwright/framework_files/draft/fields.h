#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/document.h"

namespace stepwright::framework_files {

/// Largest number that a size in a file of a framework may have.
inline constexpr std::int64_t kMaxSizeField = std::int64_t{1} << 40;

/// A setting that affects a prediction but that no plan can express exactly.
struct UnmodelledSetting {
  std::string name;  ///< Dotted path of the setting from the root.
  Node place;
  std::string why;  ///< The effect of the setting that a prediction ignores.
};

/// The settings of one mapping in a framework's file; absent or null keys have the caller's
/// default. A value of a wrong kind fails with `kInput`, naming file, field and value. Copies and
/// sections share the record of keys that were asked for and of settings that were left out.
class Fields {
 public:
  explicit Fields(Node node) : Fields(node, "", std::make_shared<Remarks>()) {}

  /// Returns the value of a key; nullopt if it is absent or null. Everything below it counts as
  /// asked for.
  [[nodiscard]] std::optional<Node> find(std::string_view key) const {
    const auto value = node_.find(key);
    if (!value || value->is_null()) return std::nullopt;
    remarks_->asked.insert(prefix_ + std::string(key));
    return value;
  }
  /// Marks a setting as asked for: its value was read through `node()`, or does not change the
  /// plan.
  void mark_read(std::string_view key) const { static_cast<void>(find(key)); }
  /// Records that no plan expresses a setting exactly; `why` is the effect that a prediction
  /// ignores. `place` has its value and line. `list_settings` reports the setting as one that
  /// matters.
  void leave_out(std::string_view key, Node place, std::string why) const {
    remarks_->left_out.push_back({prefix_ + std::string(key), place, std::move(why)});
  }
  /// True if the value at a dotted path from the root was asked for.
  [[nodiscard]] bool asked(std::string_view path) const { return remarks_->asked.contains(path); }
  /// Returns the settings that were left out, in the order of `leave_out`.
  [[nodiscard]] const std::vector<UnmodelledSetting>& left_out() const {
    return remarks_->left_out;
  }
  [[nodiscard]] bool has(std::string_view key) const { return find(key).has_value(); }
  [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t usual,
                                     std::int64_t low = 1) const {
    const auto value = find(key);
    return value ? value->integer(low, kMaxSizeField) : usual;
  }
  [[nodiscard]] std::optional<std::int64_t> size(std::string_view key) const {
    const auto value = find(key);
    return value ? std::optional(value->integer(1, kMaxSizeField)) : std::nullopt;
  }
  [[nodiscard]] double number(std::string_view key, double usual) const {
    const auto value = find(key);
    return value ? value->number() : usual;
  }
  [[nodiscard]] bool flag(std::string_view key, bool usual) const {
    const auto value = find(key);
    if (!value) return usual;
    // Python and its argument parsers accept 1 and 0 as truth values.
    const bool number = value->is_scalar() && (value->text() == "1" || value->text() == "0");
    return number ? value->text() == "1" : value->boolean();
  }
  [[nodiscard]] std::string word(std::string_view key, std::string_view usual) const {
    const auto value = find(key);
    return value ? value->text() : std::string(usual);
  }
  /// Reads the enumerator of a word; an unknown word fails with the list of known ones.
  template <class Enum, std::size_t kCount>
  [[nodiscard]] Enum choice(std::string_view key, const Named<Enum> (&table)[kCount],
                            Enum usual) const {
    const auto value = find(key);
    return value ? value->choice(table) : usual;
  }
  /// Returns the mapping under a key; an empty one if the key is absent or null.
  [[nodiscard]] Fields section(std::string_view key) const;
  [[nodiscard]] Node node() const { return node_; }

 private:
  struct Remarks {
    std::set<std::string, std::less<>> asked;
    std::vector<UnmodelledSetting> left_out;
  };
  Fields(Node node, std::string prefix, std::shared_ptr<Remarks> remarks)
      : node_(node), prefix_(std::move(prefix)), remarks_(std::move(remarks)) {}

  Node node_;
  std::string prefix_;  ///< Dotted path before the keys of a section: "parallelism.".
  std::shared_ptr<Remarks> remarks_;
};

/// Returns the words of a list, or of a text with commas or blanks between words, with or without
/// the brackets that Hydra uses on command lines. Any other value fails with `kInput`.
std::vector<std::string> split_word_list(Node node);

}  // namespace stepwright::framework_files
