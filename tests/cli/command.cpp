#include "command.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace stepwright::cli {
namespace {

namespace fs = std::filesystem;

/// Files for the answer and the messages of a run.
constexpr const char* kOut = ".out";
constexpr const char* kErr = ".err";

std::string command_path() {
  const char* path = std::getenv("STEPWRIGHT_COMMAND");
  return path == nullptr ? "build/release/stepwright" : path;
}

}  // namespace

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Workplace::Workplace() {
  fs::create_directory_symlink(fs::absolute("examples"), folder_ / "examples");
}

void Workplace::write(const std::string& name, const std::string& content) const {
  std::ofstream(folder_ / name, std::ios::binary) << content;
}

std::string Workplace::read(const std::string& name) const { return content_of(folder_ / name); }

Outcome Workplace::run(const std::string& arguments) const {
  const std::string line = "cd '" + path().string() + "' && '" +
                           fs::absolute(command_path()).string() + "' " + arguments +
                           " </dev/null >" + kOut + " 2>" + kErr;
  const int status = std::system(line.c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return {.code = code, .out = read(kOut), .err = read(kErr)};
}

}  // namespace stepwright::cli
