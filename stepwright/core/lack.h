#pragma once

#include <string>

namespace stepwright {

/// Something that this machine or this build lacks, and what a person can do about it.
struct MissingRequirement {
  std::string what;  ///< Statement of what is missing: a sentence without a full stop.
  /// Advice on how to get what is missing: a sentence without a full stop that begins with a verb.
  std::string remedy;
};

}  // namespace stepwright
