#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keywords.h"
#include "stepwright/core/named.h"
#include "stepwright/tune/tune.h"

namespace stepwright::python {

/// Messages for Python's `logging`: level and text of each.
using Messages = std::vector<std::pair<std::string, std::string>>;

/// The answer of a function and its messages; an exception may follow them.
struct Reply {
  std::string text;  ///< Answer as the command's `--json` prints it.
  Messages messages;
};

/// A function of the module, which answers like the command with a similar name. `tell` is called
/// between rounds of a search. Fails with `Error`.
using Function = void (*)(const Keywords& given, const tune::SearchProgressCallback& tell,
                          Reply& reply);

/// Returns all functions of the module with their names in Python.
std::vector<std::pair<std::string, Function>> functions();

}  // namespace stepwright::python
