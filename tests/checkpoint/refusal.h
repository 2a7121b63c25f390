#pragma once

#include <string>

#include "stepwright/core/error.h"

namespace stepwright::testing {

/// What an action refuses with; empty when it does not.
template <class Act>
std::string refusal_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace stepwright::testing
