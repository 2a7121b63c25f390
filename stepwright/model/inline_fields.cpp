#include "stepwright/model/inline_fields.h"

#include <fmt/format.h>

namespace stepwright::model {

std::optional<DocumentNode> InlineModelReader::value(std::string_view key) const {
  auto found = own_.find(key);
  if (!found && base_) found = base_->find(key);
  return found && !found->is_null() ? found : std::nullopt;
}

std::optional<InlineModelReader> InlineModelReader::reader_of_nested_mapping(
    std::string_view key) const {
  const auto found = value(key);
  if (!found) return std::nullopt;
  const bool own = own_.find(key).has_value();
  return InlineModelReader(*found, own && base_ ? base_->find(key) : std::nullopt);
}

std::int64_t InlineModelReader::size(std::string_view key, std::int64_t high,
                                     std::string_view unless) const {
  if (const auto found = value(key)) return found->integer(1, high);
  fail_missing_key(key, unless);
}

void InlineModelReader::fail_missing_key(std::string_view key, std::string_view unless) const {
  own_.fail(fmt::format("the key '{}' is missing{}", key, unless));
}

bool InlineModelReader::read_flag_or_group_flag(std::string_view key, std::string_view all) const {
  for (const auto& source : {std::optional(own_), base_}) {
    for (const std::string_view spelling : {key, all}) {
      const auto found = source ? source->find(spelling) : std::nullopt;
      if (found && !found->is_null()) return found->boolean();
    }
  }
  return false;
}

}  // namespace stepwright::model
