#pragma once

#include <string>

#include "stepwright/core/error.h"

namespace stepwright::testing {

/// Returns the message of the error with which an action fails; empty: it does not fail.
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
