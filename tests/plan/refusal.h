#pragma once

#include <gtest/gtest.h>

#include <string>

#include "stepwright/core/error.h"

namespace stepwright::plan {

/// Returns the message of the error of a given kind that an action throws; the test fails if it
/// throws none.
template <class Action>
std::string refusal_of(ErrorKind kind, const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

}  // namespace stepwright::plan
