#include "tests/runtime/launch/running.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/runtime/training.h"

namespace stepwright::testing {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Running::Running(const Folder& folder, const std::string& plan,
                 const std::vector<std::string>& options,
                 const std::vector<std::string>& environment)
    : errors_(folder.path() / fmt::format("errors-{}", count++)) {
  const auto path = errors_.string() + ".yaml";
  std::ofstream(path) << plan;
  std::vector<std::string> words{std::getenv("STEPWRIGHT_COMMAND"), "train", path};
  words.insert(words.end(), options.begin(), options.end());
  if (std::ranges::none_of(options, [](const auto& o) { return o == "--data" || o == "--hold"; })) {
    words.insert(words.end(), {"--data", training_text().string()});
  }
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  id_ = ::fork();
  if (id_ != 0) return;
  ::setpgid(0, 0);
  for (const std::string& variable : environment) ::putenv(::strdup(variable.c_str()));
  ::setenv("OMP_NUM_THREADS", "1", 1);
  ::dup2(::open(errors_.c_str(), O_WRONLY | O_CREAT, 0644), 2);
  ::execv(pointers[0], pointers.data());
  ::_exit(127);
}

void Running::kill_all() {
  if (id_ <= 0) return;
  ::kill(-id_, SIGKILL);
  wait();
}

int Running::wait(std::chrono::seconds most) {
  const auto until = std::chrono::steady_clock::now() + most;
  int status = 0;
  while (::waitpid(id_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) ::kill(-id_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  id_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void Running::await(const std::string& text) const {
  for (int i = 0; i < 6000 && errors().find(text) == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ASSERT_THAT(errors(), ::testing::HasSubstr(text));
}

pid_t Running::rank(int which) const {
  const std::string own = fmt::format("STEPWRIGHT_PARENT={}", id_);
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string environment = text_of(entry.path() / "environ");
    const bool mine = environment.find(own + '\0') != std::string::npos;
    const bool named =
        environment.find(fmt::format("LOCAL_RANK={}", which) + '\0') != std::string::npos;
    if (mine && named) return std::stoi(entry.path().filename());
  }
  return 0;
}

}  // namespace stepwright::testing
