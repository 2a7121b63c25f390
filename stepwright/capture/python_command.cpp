#include "stepwright/capture/python_command.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "stepwright/capture/batch_names.h"
#include "stepwright/capture/tools.h"
#include "stepwright/core/input_file.h"
#include "stepwright/launch_scripts/python/command_start.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::capture {
namespace {

constexpr std::string_view kRunModules =
    "json.tool site sysconfig platform timeit calendar base64 zipfile tarfile this locale pprint "
    "http.client uuid encodings.rot_13 dis ast tokenize inspect";
constexpr std::string_view kWriterModules =
    "pip venv virtualenv ensurepip compileall py_compile build wheel pytest unittest";
constexpr std::string_view kNothingModules =
    "torch.utils.collect_env nltk.downloader huggingface_hub.commands.huggingface_cli wandb "
    "http.server tensorboard.main tensorboard bitsandbytes xformers.info deepspeed.env_report";
constexpr std::string_view kTrainers =
    "torch transformers deepspeed megatron accelerate lightning pytorch_lightning jax flax trl "
    "nemo nemo_run ray tensorflow colossalai composer mindspeed swift verl axolotl";
constexpr std::size_t kLongestQuestion = 300;
constexpr std::size_t kMostFileBytes = std::size_t{1} << 20U;

PythonCommandTreatment use_of_module(std::string_view module) {
  if (word_list_contains(kRunModules, module)) return PythonCommandTreatment::kRun;
  if (word_list_contains(kWriterModules, module)) return PythonCommandTreatment::kWriter;
  return word_list_contains(kNothingModules, module) ? PythonCommandTreatment::kNothing
                                                     : PythonCommandTreatment::kLaunch;
}

/// Recognises `import torch; print(torch.cuda.device_count())` and its variants.
PythonCommandTreatment use_of_text(std::string_view text) {
  const std::size_t count = text.find("device_count()");
  const bool asks = count != std::string_view::npos && text.size() < kLongestQuestion &&
                    text.find("print(") != std::string_view::npos &&
                    text.find("device_count()", count + 1) == std::string_view::npos;
  if (!asks) return PythonCommandTreatment::kRun;
  const std::size_t print = text.rfind("print(", count);
  // The text must print nothing besides the count.
  const bool alone = print != std::string_view::npos &&
                     text.substr(print + 6, count - print - 6).find_first_of(",+*-/ '\"f{") ==
                         std::string_view::npos &&
                     text.find(')', count + 14) == count + 14;
  return alone ? PythonCommandTreatment::kDevices : PythonCommandTreatment::kRun;
}

/// True if a line of a Python text imports one of these modules, or a name from one.
bool imports_one_of(std::string_view text, std::string_view modules) {
  static constexpr std::string_view kBlanks = " \t", kEnds = " \t.,\r";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    const bool lists = line.starts_with("import ");
    if (!lists && !line.starts_with("from ")) continue;
    line.remove_prefix(lists ? 7 : 5);
    while (!line.empty()) {
      line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
      if (word_list_contains(modules, line.substr(0, line.find_first_of(kEnds)))) return true;
      if (!lists) break;
      line.remove_prefix(std::min(line.find(','), line.size() - 1) + 1);
    }
  }
  return false;
}

/// Decides how to treat a file. One that starts commands (`subprocess`, `os.system`, slime's
/// helper, ...) is run, unless it imports a trainer, since it can then train by itself.
PythonCommandTreatment use_of_file(const std::string& path) {
  if (launch_scripts::last_path_part(path) == "setup.py") return PythonCommandTreatment::kNothing;
  const std::optional<std::string> text = read_first_bytes_of_regular_file(path, kMostFileBytes);
  if (!text) return PythonCommandTreatment::kLaunch;
  const bool starts = imports_one_of(*text, "subprocess sh pexpect") ||
                      launch_scripts::first_python_command_start({path, *text}).has_value();
  return starts && !imports_one_of(*text, kTrainers) ? PythonCommandTreatment::kFollow
                                                     : PythonCommandTreatment::kLaunch;
}

/// Returns the index of the word that names the file in a Python command.
std::size_t place_of_file(const Words& words) {
  std::size_t i = 1;
  for (; i < words.size() && words[i].starts_with('-'); ++i) {
    if (words[i] == "-W" || words[i] == "-X" || words[i] == "--check-hash-based-pycs") ++i;
  }
  return i;
}

}  // namespace

Words python_command_with_stand_in(const Words& words, const std::string& stand_in) {
  static constexpr const char* kRun =
      "import os, runpy, sys; sys.executable = sys.argv[1]; sys.argv = sys.argv[2:]; "
      "sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0])); "
      "runpy.run_path(sys.argv[0], run_name='__main__')";
  const auto file = words.begin() + static_cast<std::ptrdiff_t>(place_of_file(words));
  Words result(words.begin(), file);
  result.insert(result.end(), {"-c", kRun, stand_in});
  result.insert(result.end(), file, words.end());
  return result;
}

PythonCommandTreatment python_command_treatment(const Words& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "-" || word.starts_with("--")) {
      if (word == "--check-hash-based-pycs") {
        ++i;
        continue;
      }
      return PythonCommandTreatment::kRun;
    }
    if (word.size() < 2 || word.front() != '-') {
      return use_of_file(word);
    }
    const std::size_t letter = word.find_first_of("cmWXVh?", 1);
    if (letter == std::string::npos) continue;  // Flags without a value: -u -B -E ...
    const std::string next = i + 1 < words.size() ? words[i + 1] : "";
    const std::string value = letter + 1 < word.size() ? word.substr(letter + 1) : next;
    if (word[letter] == 'c') return use_of_text(value);
    if (word[letter] == 'm') return use_of_module(value);
    if (word[letter] != 'W' && word[letter] != 'X') return PythonCommandTreatment::kRun;
    if (letter + 1 == word.size()) ++i;
  }
  return PythonCommandTreatment::kRun;
}

}  // namespace stepwright::capture
