#pragma once

#include <span>
#include <string>

namespace stepwright::model {

/// A decoder type of transformers whose layers an `Architecture` cannot express.
struct RefusedType {
  std::string model_type;
  std::string reason;   ///< The part of the type that an `Architecture` cannot express.
  std::string instead;  ///< A supported type that can stand in for it with the same sizes.
};

/// Returns the decoder types that refusals.yaml lists.
std::span<const RefusedType> refused_types();

}  // namespace stepwright::model
