#pragma once

#include <span>
#include <string_view>

#include "stepwright/model/architecture.h"
#include "stepwright/model/check.h"
#include "stepwright/model/config_fields.h"

namespace stepwright {

/// How the config.json of one `model_type` is read. Absent keys have the defaults of transformers'
/// configuration class, except that the sizes must be there.
struct ConfigFamily {
  std::string_view model_type;
  Architecture (*read)(const ConfigFields& fields);
  std::span<const FieldName> names;  ///< For the messages of `check`.
  double rotary_base = 1e4;          ///< Where the file has none.
};

/// The supported families, sorted by `model_type`.
std::span<const ConfigFamily> config_families();

}  // namespace stepwright
