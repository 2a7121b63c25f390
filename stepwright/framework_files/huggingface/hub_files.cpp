#include "stepwright/framework_files/huggingface/hub_files.h"

#include <fmt/format.h>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/huggingface/accelerate.h"
#include "stepwright/framework_files/huggingface/deepspeed.h"
#include "stepwright/framework_files/named_model.h"
#include "stepwright/model/catalog.h"

namespace stepwright {
namespace {

bool is_model(const SourceFile& file) {
  if (file.text.find_first_not_of(" \t\r\n") == std::string::npos) return false;
  if (file.text[file.text.find_first_not_of(" \t\r\n")] != '{') return false;
  return holds(file, "\"model_type\"") &&
         (holds(file, "\"hidden_size\"") || holds(file, "\"n_embd\""));
}

}  // namespace

HubFiles sorted_hub_files(std::span<const SourceFile> files) {
  HubFiles sorted;
  sorted.name = files.front().name;
  const auto take = [](const SourceFile*& place, const SourceFile& file, std::string_view what) {
    if (place != nullptr) fail_input(fmt::format("{}: is a second {}", file.name, what));
    place = &file;
  };
  for (const SourceFile& file : files) {
    if (is_model(file)) {
      if (sorted.model) fail_input(file.name + ": is a second config.json of a model");
      sorted.model = Document::parse(file.text, file.name);
    } else if (is_deepspeed(file)) {
      take(sorted.deepspeed, file, "configuration of DeepSpeed");
    } else if (is_accelerate(file)) {
      take(sorted.accelerate, file, "configuration of Accelerate");
    } else {
      take(sorted.program, file, "file of the program");
    }
  }
  return sorted;
}

void take_hub_model(Node id, const Given& given, Draft& draft) {
  if (take_named_model(id.text(), given, draft)) return;
  id.fail(
      "no built-in model has this name: --model CONFIG.JSON says its sizes (or give its "
      "config.json beside this file)");
}

}  // namespace stepwright
