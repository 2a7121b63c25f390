#include "stepwright/cli/command.h"

#include <CLI/CLI.hpp>

namespace stepwright {

Command::Command(CLI::App& program, const std::string& name, const std::string& description,
                 const std::string& examples)
    : app_(program.add_subcommand(name, description)) {
  app_->footer("Examples:\n" + examples);
  app_->add_flag("--json", json_, "Print one JSON document instead of text for people");
}

bool Command::chosen() const { return app_->parsed(); }

}  // namespace stepwright
