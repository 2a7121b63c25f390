#include "stepwright/diagnose/host_work.h"

#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/named.h"
#include "stepwright/diagnose/embedded.h"
#include "stepwright/diagnose/line_origin.h"

namespace stepwright::diagnose {
namespace {

constexpr Named<HostWork> kWorkNames[] = {{HostWork::kPreparing, "preparing"},
                                          {HostWork::kCheckpoint, "checkpoint"},
                                          {HostWork::kEvaluation, "evaluation"}};

/// A word of words.yaml in lines about work of the host, and that work.
struct WorkWord {
  HostWork work;
  std::string word;
};

std::vector<WorkWord> read_work_words() {
  std::vector<WorkWord> words;
  for (const auto& [work, name] : kWorkNames) {
    for (const std::string& word : parsed_log_words().root().get("host_work").get(name).texts()) {
      words.push_back({work, word});
    }
  }
  return words;
}

/// True if a line ends in a progress bar of something other than training steps: "35%|#5  | 7/20
/// [30:01<57:14, 39.1MB/s]".
bool is_other_progress(std::string_view line) {
  line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  return line.ends_with("/s]") && !line.ends_with("it/s]") && holds(line, "%|") && holds(line, "<");
}

}  // namespace

std::optional<HostWork> parse_host_work_line(std::string_view line) {
  static const std::vector<WorkWord> kWords = read_work_words();
  for (const WorkWord& word : kWords) {
    if (holds(line, word.word)) return word.work;
  }
  if (is_other_progress(line)) return HostWork::kPreparing;
  return std::nullopt;
}

std::string_view host_work_text(HostWork work) {
  switch (work) {
    case HostWork::kPreparing: return "prepares data or a model";
    case HostWork::kCheckpoint: return "writes a checkpoint";
    case HostWork::kEvaluation: return "evaluates";
  }
  return "";
}

}  // namespace stepwright::diagnose
