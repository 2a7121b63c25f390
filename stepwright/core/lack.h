#pragma once

#include <string>

namespace stepwright {

/// Something that this machine or this build lacks, and what a person can do about it.
struct MissingRequirement {
  std::string what;    ///< The lack: a sentence without a full stop.
  std::string remedy;  ///< Remedy: a sentence without a full stop that begins with a verb.
};

}  // namespace stepwright
