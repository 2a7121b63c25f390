#include "stepwright/cli/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "stepwright/core/error.h"

namespace stepwright::cli {

Subcommand::Subcommand(CLI::App& program, const std::string& name, const std::string& description,
                       const std::string& examples)
    : app_(program.add_subcommand(name, description)) {
  app_->footer("Examples:\n" + examples);
  app_->add_flag("--json", json_, "Print one JSON document instead of text for people");
}

void Subcommand::refuse_options(std::span<const char* const> options,
                                std::string_view belongs_to) const {
  for (const char* option : options) {
    if (app_->count(option) > 0)
      fail_input(fmt::format("{} is only allowed with {}", option, belongs_to));
  }
}

bool Subcommand::is_subcommand_chosen() const { return app_->parsed(); }

}  // namespace stepwright::cli
