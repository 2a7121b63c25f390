// The planner as a Python module: its functions return what the commands of `stepwright` print with
// `--json`. The package around it converts these answers into typed objects.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "functions.h"
#include "stepwright/capture/stand_in.h"
#include "stepwright/cli/command_line.h"
#include "stepwright/cli/logger.h"
#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/json_writer.h"
#include "stepwright/plan/choices/codes.h"
#include "stepwright/plan/choices/words.h"
#include "stepwright/plan/files.h"
#include "stepwright/tune/tune.h"

namespace py = pybind11;

namespace stepwright {
namespace {

/// Reports the progress of a search to Python. A pending Ctrl-C or an exception of the callback
/// ends the search.
void tell(const py::object& progress, const tune::TuneProgress& state) {
  const py::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  if (progress.is_none()) return;
  progress(state.simulating, state.done, state.most, state.priced);
}

const char* kind_word(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInput: return "input";
    case ErrorKind::kUnsupported: return "unsupported";
    case ErrorKind::kRuntime: break;
  }
  return "runtime";
}

py::dict failure_of(const Error& error) {
  const InputErrorPlace& place = error.place();
  py::dict failure;
  failure["kind"] = kind_word(error.kind());
  failure["message"] = std::string(error.what());
  failure["file"] = place.file;
  failure["line"] = place.line;
  failure["column"] = place.column;
  failure["field"] = place.field;
  failure["value"] = place.value;
  return failure;
}

/// A file from Python: its name, its text (None: read the file with this name), its folder.
using File = std::tuple<std::string, std::optional<std::string>, std::string>;

answers::UserFile user_file(const File& file) {
  const auto& [name, text, folder] = file;
  return {.name = name, .text = text, .folder = folder};
}

/// Runs `work` without Python's global lock. Returns text, messages and error of its reply.
template <class Work>
py::tuple replied(const Work& work) {
  python::Reply reply;
  std::optional<Error> failure;
  {
    const py::gil_scoped_release free;
    try {
      work(reply);
    } catch (const Error& error) {
      failure = error;
    }
  }
  py::object failed = py::none();
  if (failure) failed = failure_of(*failure);
  return py::make_tuple(reply.text, reply.messages, failed);
}

/// Calls a function of the planner from Python.
py::tuple call(python::Function function, python::Keywords::Words words,
               const std::map<std::string, std::vector<File>>& given, const py::object& progress) {
  python::Keywords::Files files;
  for (const auto& [name, list] : given) {
    for (const File& file : list) files[name].push_back(user_file(file));
  }
  const python::Keywords keywords(std::move(words), std::move(files));
  return replied([&](python::Reply& reply) {
    function(keywords, [&](const tune::TuneProgress& state) { tell(progress, state); }, reply);
  });
}

/// Runs a command of the program, with `--json` if it shall answer in JSON.
py::tuple command(const std::vector<std::string>& arguments, const std::vector<File>& given,
                  const std::string& stand_in) {
  std::vector<answers::UserFile> texts;
  for (const File& file : given) texts.push_back(user_file(file));
  return replied([&](python::Reply& reply) {
    const cli::Logger log([&](const char* level, const std::string& text) {
      reply.messages.emplace_back(level, text);
    });
    std::ostringstream out;
    try {
      cli::run_stepwright_command(arguments,
                                  {.out = out, .log = log, .texts = texts, .stand_in = stand_in});
    } catch (const Error&) {
      reply.text = out.str();
      throw;
    }
    reply.text = out.str();
  });
}

/// Reads a job or plan. Returns its kind, its JSON and a one-line description, or the error.
py::tuple read(const std::string& text, const std::string& name, const std::string& folder) {
  try {
    const YamlJsonDocument document = YamlJsonDocument::parse(text, name);
    const std::string json = json_from_tree(document.root().copy_tree()).dump();
    const std::string version = document.root().get("stepwright").text();
    if (version.starts_with("plan/")) {
      const plan::PlannedJob planned = plan::read_plan(document, folder);
      return py::make_tuple("plan", json, plan::short_plan_code(planned.plan), py::none());
    }
    return py::make_tuple("job", json, plan::job_summary_line(plan::read_job(document, folder)),
                          py::none());
  } catch (const Error& error) {
    return py::make_tuple("", "", "", failure_of(error));
  }
}

/// Returns the bytes of a file, read as by all readers of the planner, or the error.
py::tuple read_file(const std::string& path, std::size_t most_bytes) {
  std::string bytes;
  std::optional<Error> failure;
  {
    const py::gil_scoped_release free;
    try {
      bytes = read_file_or_standard_input(path, most_bytes);
    } catch (const Error& error) {
      failure = error;
    }
  }
  py::object failed = py::none();
  if (failure) failed = failure_of(*failure);
  return py::make_tuple(py::bytes(bytes), failed);
}

std::string to_yaml(const std::string& json) {
  return YamlJsonDocument::parse(json, "json").to_yaml();
}

std::vector<char*> pointers_to(std::vector<std::string>& arguments) {
  std::vector<char*> words;
  for (std::string& word : arguments) words.push_back(word.data());
  words.push_back(nullptr);
  return words;
}

/// Runs the program `stepwright` itself. Ctrl-C ends it at once, as it ends a program.
int command_line(std::vector<std::string> arguments, const std::string& stand_in) {
  std::signal(SIGINT, SIG_DFL);
  return cli::run_command_line(static_cast<int>(arguments.size()), pointers_to(arguments).data(),
                               stand_in);
}

/// Runs this process as a stand-in of a capture, with the signal handlers that Python installed
/// removed; nullopt: it is no stand-in.
std::optional<int> stand_in(std::vector<std::string> arguments) {
  for (const int signal : {SIGINT, SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);
  return capture::run_launcher_stand_in(static_cast<int>(arguments.size()),
                                        pointers_to(arguments).data());
}

}  // namespace
}  // namespace stepwright

PYBIND11_MODULE(_planner, module) {
  for (const auto& [name, function] : stepwright::python::functions()) {
    module.def(
        name.c_str(),
        [function = function](stepwright::python::Keywords::Words words,
                              const std::map<std::string, std::vector<stepwright::File>>& files,
                              const py::object& progress) {
          return stepwright::call(function, std::move(words), files, progress);
        },
        py::arg("words"), py::arg("files"), py::arg("progress") = py::none());
  }
  module.def("command", &stepwright::command, py::arg("arguments"), py::arg("texts"),
             py::arg("stand_in") = "");
  module.def("read", &stepwright::read, py::arg("text"), py::arg("name"), py::arg("folder"));
  module.def("read_file", &stepwright::read_file, py::arg("path"), py::arg("most_bytes"));
  module.def("to_yaml", &stepwright::to_yaml, py::arg("json"));
  module.def("command_line", &stepwright::command_line, py::arg("arguments"),
             py::arg("stand_in") = "");
  module.def("stand_in", &stepwright::stand_in, py::arg("arguments"));
  module.attr("version") = STEPWRIGHT_VERSION;
}
