// The planner as a module of WebAssembly: memory, `malloc`, `free` and `ask`.
#include <cstdlib>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "stepwright/explore/explore.h"
#include "stepwright/explore/question.h"

/// How far a search is, for whoever holds the module.
extern "C" __attribute__((import_module("stepwright"), import_name("tell"))) void tell(
    int simulating, double done, double most);

namespace {

using Json = nlohmann::ordered_json;

Json answer(const char* question) {
  try {
    return stepwright::explore::answer_explorer_question(
        Json::parse(question), [](const stepwright::tune::TuneProgress& state) {
          tell(state.simulating ? 1 : 0, static_cast<double>(state.done),
               static_cast<double>(state.most));
        });
  } catch (const std::exception& error) {
    return stepwright::explore::explorer_error_json(error);
  }
}

}  // namespace

/// The answer to a question as JSON (`answer_explorer_question`), or the failure (`explorer_error_json`).
/// Question and answer end with a zero; the caller frees the answer.
extern "C" __attribute__((export_name("ask"))) char* ask(const char* question) {
  const std::string text = answer(question).dump(-1, ' ', false, Json::error_handler_t::replace);
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}
