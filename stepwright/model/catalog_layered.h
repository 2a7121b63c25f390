#pragma once

#include <span>
#include <string_view>

#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// A built-in model whose layers differ, or whose family has blocks of its own.
struct LayeredModel {
  std::string_view name;
  Architecture (*make)();
};
std::span<const LayeredModel> layered_models();

}  // namespace stepwright::model
