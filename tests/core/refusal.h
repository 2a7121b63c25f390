#pragma once

#include <gtest/gtest.h>

#include <string>

#include "stepwright/core/error.h"

namespace stepwright {

/// Returns the message of the `kInput` error that an action throws; the test fails if it throws
/// none.
template <class Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

}  // namespace stepwright
