#pragma once

#include <span>
#include <string_view>

namespace stepwright::model {

/// A type of transformers' decoders whose layers cannot be said in an `Architecture`.
struct RefusedType {
  std::string_view model_type;
  std::string_view reason;   ///< The part of it that cannot be said.
  std::string_view instead;  ///< A type that is read, whose sizes may stand in for its own.
};
std::span<const RefusedType> refused_types();

}  // namespace stepwright::model
