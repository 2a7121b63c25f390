#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "stepwright/cli/command.h"
#include "stepwright/cli/logger.h"
#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/signal_recorder.h"
#include "stepwright/runtime/launch/number_option.h"
#include "stepwright/serve/explorer_file.h"
#include "stepwright/serve/page_server.h"
#include "stepwright/serve/served_page.h"

namespace stepwright::cli {
namespace {

constexpr int kUsualPort = 8017;
constexpr int kMostPort = 65535;
constexpr std::size_t kLargestPage = std::size_t{256} << 20U;

/// Asks the desktop to open a browser; false if that is not possible.
bool open_browser(const std::string& address) {
  std::string program = "xdg-open";
  std::string argument = address;
  char* arguments[] = {program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t quiet;
  ::posix_spawn_file_actions_init(&quiet);
  for (const int stream : {1, 2}) {
    ::posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", O_WRONLY, 0);
  }
  pid_t started = 0;
  const int failed = ::posix_spawnp(&started, program.c_str(), &quiet, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&quiet);
  return failed == 0;
}

class Serve : public Subcommand {
 public:
  explicit Serve(CLI::App& program)
      : Subcommand(program, "serve", "Open the explorer: plans changed by hand in a browser",
                   "  stepwright serve\n"
                   "  stepwright serve --open --port 0") {
    app()
        .add_option("--port", port_,
                    "Port on this machine, which other machines cannot reach; 0: any free port")
        ->check(runtime::whole_number_validator(0, kMostPort))
        ->capture_default_str();
    app().add_flag("--open", open_, "Open it in the browser of this desktop");
    app()
        .add_option("--page", page_,
                    "File of the explorer, if it is not in the folder of this program")
        ->type_name("HTML");
  }

  void run_subcommand(const Console& console) override {
    const serve::ServedPage page(read_file_or_standard_input(
        page_.empty() ? serve::explorer_page_path().string() : page_, kLargestPage));
    serve::PageServer server(static_cast<std::uint16_t>(port_));
    const std::string address = server.page_address();
    if (open_ && !open_browser(address)) {
      console.log.warn(
          fmt::format("no browser could open {}: the program xdg-open is missing", address));
    }
    const SignalRecorder interrupts;
    console.out << fmt::format("The explorer is at {} until Ctrl-C.\n", address);
    console.out.flush();
    server.serve_until_stopped(page, interrupts.signal_descriptor());
  }

 private:
  int port_ = kUsualPort;
  bool open_ = false;
  std::string page_;
};

}  // namespace

std::unique_ptr<Subcommand> serve_command(CLI::App& program) {
  return std::make_unique<Serve>(program);
}

}  // namespace stepwright::cli
