#include "stepwright/diagnose/host_work.h"

#include "stepwright/diagnose/line_origin.h"

namespace stepwright::diagnose {
namespace {

/// Words of transformers, datasets, DeepSpeed, Megatron-LM, Lightning and torchtitan.
struct WorkWord {
  HostWork work;
  std::string_view word;
};
constexpr WorkWord kWorkWords[] = {{HostWork::kPreparing, "Running tokenizer"},
                                   {HostWork::kPreparing, "okenizing"},
                                   {HostWork::kPreparing, "Map (num_proc"},
                                   {HostWork::kPreparing, "Map: "},
                                   {HostWork::kPreparing, "Filter: "},
                                   {HostWork::kPreparing, "Filter (num_proc"},
                                   {HostWork::kPreparing, "Generating train split"},
                                   {HostWork::kPreparing, "reprocessing"},
                                   {HostWork::kPreparing, "Converting format of dataset"},
                                   {HostWork::kPreparing, "Loading checkpoint shards"},
                                   {HostWork::kPreparing, "Downloading"},
                                   {HostWork::kPreparing, "uilding dataset"},
                                   {HostWork::kPreparing, "index mapping"},
                                   {HostWork::kPreparing, "dataset map"},
                                   {HostWork::kCheckpoint, "aving model checkpoint"},
                                   {HostWork::kCheckpoint, "aving checkpoint"},
                                   {HostWork::kCheckpoint, "aving FSDP"},
                                   {HostWork::kCheckpoint, "aving current state to"},
                                   {HostWork::kCheckpoint, "ummoning checkpoint"},
                                   {HostWork::kCheckpoint, "Model weights saved"},
                                   {HostWork::kCheckpoint, "model.safetensors"},
                                   {HostWork::kCheckpoint, "aving the model"},
                                   {HostWork::kCheckpoint, "save_checkpoint"},
                                   {HostWork::kCheckpoint, "optim_state_dict"},
                                   {HostWork::kCheckpoint, "FSDP.state_dict_type"},
                                   {HostWork::kEvaluation, "Running Evaluation"},
                                   {HostWork::kEvaluation, "unning prediction"},
                                   {HostWork::kEvaluation, "unning Prediction"},
                                   {HostWork::kEvaluation, "redicting"},
                                   {HostWork::kEvaluation, "valuating"},
                                   {HostWork::kEvaluation, "Validation"},
                                   {HostWork::kEvaluation, "validating"}};

/// True if a line ends in a bar of progress of anything but steps: "35%|#5  | 7/20 [30:01<57:14,
/// 39.1MB/s]".
bool is_other_progress(std::string_view line) {
  line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  return line.ends_with("/s]") && !line.ends_with("it/s]") && holds(line, "%|") && holds(line, "<");
}

}  // namespace

std::optional<HostWork> host_work_of(std::string_view line) {
  for (const WorkWord& word : kWorkWords) {
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
