// Answers questions of the explorer's page like its engine, but compiled for this machine. Standard
// input has one question per line; the output has {"progress": ...} lines of a search and then one
// {"answer": ...} line.
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "stepwright/explore/explore.h"
#include "stepwright/explore/question.h"

namespace {

using Json = nlohmann::ordered_json;

void tell(const char* key, const Json& value) {
  std::cout << Json{{key, value}}.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
}

Json answer(const std::string& question) {
  try {
    return stepwright::explore::answer_explorer_question(
        Json::parse(question), [](const stepwright::tune::TuneProgress& state) {
          tell("progress",
               {{"simulating", state.simulating}, {"done", state.done}, {"most", state.most}});
        });
  } catch (const std::exception& error) {
    return stepwright::explore::explorer_error_json(error);
  }
}

}  // namespace

int main() {
  for (std::string question; std::getline(std::cin, question);) tell("answer", answer(question));
}
