#pragma once

#include <span>
#include <string>

namespace stepwright::model {

/// A model type of transformers that this program refuses to read, because `ModelArchitecture`
/// cannot express its layers.
struct RefusedModelType {
  std::string model_type;
  /// Text that names the part of the model type's layers that this program cannot express.
  std::string reason;
  /// Supported model type of similar structure, which users can try with the same sizes.
  std::string instead;
};

/// Returns the refused model types that refusals.yaml lists.
std::span<const RefusedModelType> refused_model_types();

}  // namespace stepwright::model
