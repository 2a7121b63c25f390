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
inline constexpr std::int64_t kMostOfField = std::int64_t{1} << 40;

/// A setting that matters to a prediction and that no plan has as it is.
struct LeftOut {
  std::string name;  ///< Dotted path from the root.
  Node place;
  std::string why;  ///< Part that a prediction leaves out.
};

/// The settings of one mapping of a framework's file, with the framework's defaults for what is
/// absent or null. Values of a wrong kind fail with `kInput`, naming file, field and value. Copies
/// and sections keep together what was asked for and left out.
class Fields {
 public:
  explicit Fields(Node node) : Fields(node, "", std::make_shared<Remarks>()) {}

  /// The value, unless it is absent or null. All below it counts as asked for.
  [[nodiscard]] std::optional<Node> find(std::string_view key) const {
    const auto value = node_.find(key);
    if (!value || value->is_null()) return std::nullopt;
    remarks_->asked.insert(prefix_ + std::string(key));
    return value;
  }
  /// Counts a setting as asked for whose value was looked at through `node()`, or means nothing: a
  /// plan takes it as it is.
  void mark_read(std::string_view key) const { static_cast<void>(find(key)); }
  /// Notes that no plan has a setting as it is: `why` says what a prediction leaves out. `place`
  /// has its value and line. `list_settings` lists it as one that matters.
  void leave_out(std::string_view key, Node place, std::string why) const {
    remarks_->left_out.push_back({prefix_ + std::string(key), place, std::move(why)});
  }
  /// Whether the value at a dotted path from the root was asked for.
  [[nodiscard]] bool asked(std::string_view path) const { return remarks_->asked.contains(path); }
  /// Settings that were left out, in the order of `leave_out`.
  [[nodiscard]] const std::vector<LeftOut>& left_out() const { return remarks_->left_out; }
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
    if (!value) return usual;
    // Python takes 1 and 0 for truths, as do its parsers of arguments.
    const bool number = value->is_scalar() && (value->text() == "1" || value->text() == "0");
    return number ? value->text() == "1" : value->boolean();
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
  struct Remarks {
    std::set<std::string, std::less<>> asked;
    std::vector<LeftOut> left_out;
  };
  Fields(Node node, std::string prefix, std::shared_ptr<Remarks> remarks)
      : node_(node), prefix_(std::move(prefix)), remarks_(std::move(remarks)) {}

  Node node_;
  std::string prefix_;  ///< "parallelism." of a section.
  std::shared_ptr<Remarks> remarks_;
};

/// The words of a list, or of a text with commas or blanks between them, also in brackets as Hydra
/// has them in a word of a command. Anything else fails with `kInput`.
std::vector<std::string> words_in(Node node);

}  // namespace stepwright::framework_files
