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

/// Largest accepted value of an integer setting in a framework's file.
inline constexpr std::int64_t kMaxIntegerSetting = std::int64_t{1} << 40;

/// A setting that affects a prediction but that no plan can express exactly.
struct UnmodelledSetting {
  /// Dotted path of the setting from the root of its file: "parallelism.tensor".
  std::string name;
  DocumentNode place;
  std::string why;  ///< The effect of the setting that a prediction ignores.
};

/// Reads the settings of one mapping in a framework's file, with the caller's default for absent or
/// null keys, and records which keys were read. A value of a wrong kind fails with `kInput`, naming
/// file, field and value. Copies and readers of nested sections share the record.
class FrameworkSettingsReader {
 public:
  explicit FrameworkSettingsReader(DocumentNode node)
      : FrameworkSettingsReader(node, "", std::make_shared<Remarks>()) {}

  /// Returns the value of a key and records the key, with everything below it, as read; nullopt if
  /// it is absent or null.
  [[nodiscard]] std::optional<DocumentNode> find(std::string_view key) const {
    const auto value = node_.find(key);
    if (!value || value->is_null()) return std::nullopt;
    remarks_->asked.insert(prefix_ + std::string(key));
    return value;
  }
  /// Records a setting as read without returning its value, because the caller got the value from
  /// `node()` or because the value does not change the plan.
  void mark_setting_read(std::string_view key) const { static_cast<void>(find(key)); }
  /// Records a setting that no plan expresses exactly, so that reports list it as important. `why`
  /// is the effect that a prediction ignores; `place` is the setting's value with its line.
  void record_unmodelled_setting(std::string_view key, DocumentNode place, std::string why) const {
    remarks_->left_out.push_back({prefix_ + std::string(key), place, std::move(why)});
  }
  /// True if the setting at this dotted path from the root was read.
  [[nodiscard]] bool was_setting_read(std::string_view path) const {
    return remarks_->asked.contains(path);
  }
  /// Returns the settings that no plan expresses exactly, in the order in which
  /// `record_unmodelled_setting` recorded them.
  [[nodiscard]] const std::vector<UnmodelledSetting>& unmodelled_settings() const {
    return remarks_->left_out;
  }
  [[nodiscard]] bool has(std::string_view key) const { return find(key).has_value(); }
  [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t usual,
                                     std::int64_t low = 1) const {
    const auto value = find(key);
    return value ? value->integer(low, kMaxIntegerSetting) : usual;
  }
  [[nodiscard]] std::optional<std::int64_t> size(std::string_view key) const {
    const auto value = find(key);
    return value ? std::optional(value->integer(1, kMaxIntegerSetting)) : std::nullopt;
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
  /// Returns the enumerator that `table` has for the word under a key; `usual` if the key is
  /// absent. Fails with `kInput`, listing the known words, for any other word.
  template <class EnumNamedByWord, std::size_t kCount>
  [[nodiscard]] EnumNamedByWord choice(std::string_view key,
                                       const Named<EnumNamedByWord> (&table)[kCount],
                                       EnumNamedByWord usual) const {
    const auto value = find(key);
    return value ? value->choice(table) : usual;
  }
  /// Returns the mapping under a key; an empty one if the key is absent or null.
  [[nodiscard]] FrameworkSettingsReader nested_settings(std::string_view key) const;
  [[nodiscard]] DocumentNode node() const { return node_; }

 private:
  struct Remarks {
    std::set<std::string, std::less<>> asked;
    std::vector<UnmodelledSetting> left_out;
  };
  FrameworkSettingsReader(DocumentNode node, std::string prefix, std::shared_ptr<Remarks> remarks)
      : node_(node), prefix_(std::move(prefix)), remarks_(std::move(remarks)) {}

  DocumentNode node_;
  /// Dotted path of this section with a final dot: "parallelism."; empty for the root.
  std::string prefix_;
  std::shared_ptr<Remarks> remarks_;
};

/// Returns the words of a list: a YAML list, or a text with commas or blanks between words, with or
/// without brackets as in Hydra's `key=[a,b]`. Fails with `kInput` for any other value.
std::vector<std::string> split_word_list(DocumentNode node);

}  // namespace stepwright::framework_files
