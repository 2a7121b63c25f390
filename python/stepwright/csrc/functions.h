#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keywords.h"
#include "stepwright/core/named.h"
#include "stepwright/tune/tune.h"

namespace stepwright::python {

/// Level and text, for Python's `logging`.
using Messages = std::vector<std::pair<std::string, std::string>>;

/// The answer and the messages of a function; a failure may follow them.
struct Reply {
  std::string text;  ///< The answer as `--json` prints it.
  Messages messages;
};

/// Answers what the command of a similar name does. `tell` is called between rounds of a search.
/// Fails with `Error`.
using Function = void (*)(const Keywords& given, const tune::TellProgress& tell, Reply& reply);

/// All functions, by their names in the module.
std::vector<std::pair<std::string, Function>> functions();

}  // namespace stepwright::python
