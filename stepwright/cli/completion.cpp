#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "stepwright/cli/command.h"
#include "stepwright/cli/one_of.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/shell_words.h"

namespace stepwright::cli {
namespace {

/// A text that describes the commands, for one reader: a shell or `man`.
struct Reader {
  const char* name;
  std::string (*text)(const CLI::App& program);
};
constexpr Reader kReaders[] = {{"bash", bash_completion_script},
                               {"zsh", zsh_completion_script},
                               {"fish", fish_completion_script},
                               {"man", manual_page}};

class Completion : public Subcommand {
 public:
  explicit Completion(CLI::App& program)
      : Subcommand(program, "completion",
                   "Write the shell completion of this command, or its manual page",
                   "  source <(stepwright completion bash)\n"
                   "  stepwright completion fish > ~/.config/fish/completions/stepwright.fish\n"
                   "  stepwright completion man | man -l -"),
        program_(program) {
    std::vector<std::string> names;
    for (const Reader& reader : kReaders) names.emplace_back(reader.name);
    app()
        .add_option("FOR", for_, "bash, zsh, fish, or man for the manual page")
        ->required()
        ->transform(one_of_words_validator(names));
  }

  void run_subcommand(const Console& console) override {
    const std::string text = std::ranges::find(kReaders, for_, &Reader::name)->text(program_);
    if (wants_json_output()) return print_json(console.out, {{"text", text}});
    console.out << text;
  }

 private:
  const CLI::App& program_;
  std::string for_;
};

}  // namespace

std::unique_ptr<Subcommand> completion_command(CLI::App& program) {
  return std::make_unique<Completion>(program);
}

}  // namespace stepwright::cli
