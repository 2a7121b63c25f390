#pragma once

#include <span>
#include <string>

namespace stepwright::model {

/// A type of transformers' decoders whose layers cannot be said in an `Architecture`.
struct RefusedType {
  std::string model_type;
  std::string reason;   ///< The part of it that cannot be said.
  std::string instead;  ///< A type that is read, whose sizes may stand in for its own.
};

/// Returns the types of refusals.yaml.
std::span<const RefusedType> refused_types();

}  // namespace stepwright::model
