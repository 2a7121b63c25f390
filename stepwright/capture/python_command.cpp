#include "stepwright/capture/python_command.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "stepwright/capture/option_words.h"
#include "stepwright/capture/tools.h"

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
constexpr std::size_t kLongestQuestion = 300;

PythonUse use_of_module(std::string_view module) {
  if (holds_word(kRunModules, module)) return PythonUse::kRun;
  if (holds_word(kWriterModules, module)) return PythonUse::kWriter;
  return holds_word(kNothingModules, module) ? PythonUse::kNothing : PythonUse::kLaunch;
}

/// `import torch; print(torch.cuda.device_count())` in any of its forms.
PythonUse use_of_text(std::string_view text) {
  const std::size_t count = text.find("device_count()");
  const bool asks = count != std::string_view::npos && text.size() < kLongestQuestion &&
                    text.find("print(") != std::string_view::npos &&
                    text.find("device_count()", count + 1) == std::string_view::npos;
  if (!asks) return PythonUse::kRun;
  const std::size_t print = text.rfind("print(", count);
  // Only where nothing else is printed beside it.
  const bool alone = print != std::string_view::npos &&
                     text.substr(print + 6, count - print - 6).find_first_of(",+*-/ '\"f{") ==
                         std::string_view::npos &&
                     text.find(')', count + 14) == count + 14;
  return alone ? PythonUse::kDevices : PythonUse::kRun;
}

}  // namespace

PythonUse python_use(const Words& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "-" || word.starts_with("--")) {
      if (word == "--check-hash-based-pycs") {
        ++i;
        continue;
      }
      return PythonUse::kRun;
    }
    if (word.size() < 2 || word.front() != '-') {
      return base_name(word) == "setup.py" ? PythonUse::kNothing : PythonUse::kLaunch;
    }
    const std::size_t letter = word.find_first_of("cmWXVh?", 1);
    if (letter == std::string::npos) continue;  // -u -B -E ...
    const std::string next = i + 1 < words.size() ? words[i + 1] : "";
    const std::string value = letter + 1 < word.size() ? word.substr(letter + 1) : next;
    if (word[letter] == 'c') return use_of_text(value);
    if (word[letter] == 'm') return use_of_module(value);
    if (word[letter] != 'W' && word[letter] != 'X') return PythonUse::kRun;
    if (letter + 1 == word.size()) ++i;
  }
  return PythonUse::kRun;
}

}  // namespace stepwright::capture
