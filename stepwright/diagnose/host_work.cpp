#include "stepwright/diagnose/host_work.h"

#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/named.h"
#include "stepwright/diagnose/embedded.h"
#include "stepwright/diagnose/line_origin.h"

namespace stepwright::diagnose {
namespace {

constexpr Named<PossibleHostWork> kWorkNames[] = {{PossibleHostWork::kPreparing, "preparing"},
                                                  {PossibleHostWork::kCheckpoint, "checkpoint"},
                                                  {PossibleHostWork::kEvaluation, "evaluation"}};

/// A word of words.yaml in lines about work of the host, and that work.
struct WorkWord {
  PossibleHostWork work;
  std::string word;
};

std::vector<WorkWord> read_work_words() {
  std::vector<WorkWord> words;
  for (const auto& [work, name] : kWorkNames) {
    for (const std::string& word :
         log_recognition_words().root().get("host_work").get(name).as_text_list()) {
      words.push_back({work, word});
    }
  }
  return words;
}

/// True if a line ends in a progress bar of something other than training steps: "35%|#5  | 7/20
/// [30:01<57:14, 39.1MB/s]".
bool is_other_progress(std::string_view line) {
  line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  return line.ends_with("/s]") && !line.ends_with("it/s]") && line_contains_text(line, "%|") &&
         line_contains_text(line, "<");
}

}  // namespace

std::optional<PossibleHostWork> parse_host_work_line(std::string_view line) {
  static const std::vector<WorkWord> kWords = read_work_words();
  for (const WorkWord& word : kWords) {
    if (line_contains_text(line, word.word)) return word.work;
  }
  if (is_other_progress(line)) return PossibleHostWork::kPreparing;
  return std::nullopt;
}

std::string_view host_work_text(PossibleHostWork work) {
  switch (work) {
    case PossibleHostWork::kPreparing: return "prepares data or a model";
    case PossibleHostWork::kCheckpoint: return "writes a checkpoint";
    case PossibleHostWork::kEvaluation: return "evaluates";
  }
  return "";
}

}  // namespace stepwright::diagnose
