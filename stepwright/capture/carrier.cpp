#include "stepwright/capture/carrier.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/capture/batch_names.h"
#include "stepwright/capture/tools.h"
#include "stepwright/core/document.h"
#include "stepwright/core/embedded.h"
#include "stepwright/core/named.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::capture {

/// Returns the file carriers.yaml, which is compiled into the program.
std::span<const EmbeddedFile> embedded_carriers();

namespace {

/// Position at which a carrier's command begins.
enum class Begins {
  kBehindOptions,  ///< The command begins after the options and `operands` more words.
  kBehindDashes,   ///< The command begins after the word `--`.
  /// The command begins at the first word that is a shell or a program with a stand-in.
  kAtProgram,
};

constexpr Named<Begins> kBeginsNames[] = {{Begins::kBehindOptions, "options"},
                                          {Begins::kBehindDashes, "dashes"},
                                          {Begins::kAtProgram, "program"}};

/// How a carrier reads its words: one row of carriers.yaml.
struct CarrierRules {
  std::string names;  ///< Names of the carrier's programs.
  /// Subcommands that run a command; empty: the program has no subcommands.
  std::string subcommands;
  std::string flags, pairs;
  bool long_with_one_dash = false;
  Begins begins = Begins::kBehindOptions;
  std::int64_t operands = 0;  ///< Words between the options and the command: the image, the host.
  bool remote = false, as_text = false, from_input = false;

  [[nodiscard]] CommandOptionRules options() const { return {flags, pairs, long_with_one_dash}; }
};

CarrierRules read_carrier(DocumentNode row, DocumentNode lists) {
  row.allow_only_keys({"names", "subcommands", "flags", "pairs", "long_with_one_dash", "begins",
                       "operands", "remote", "as_text", "from_input"});
  const auto text = [&](std::string_view key) {
    const auto said = row.find(key);
    return said ? said->text() : "";
  };
  const auto is_on = [&](std::string_view key) {
    const auto said = row.find(key);
    return said && said->boolean();
  };
  const std::string flags = text("flags");
  const auto list = lists.find(flags);
  const auto begins = row.find("begins");
  const auto operands = row.find("operands");
  return {.names = text("names"),
          .subcommands = text("subcommands"),
          .flags = list ? list->text() : flags,
          .pairs = text("pairs"),
          .long_with_one_dash = is_on("long_with_one_dash"),
          .begins = begins ? begins->choice(kBeginsNames) : Begins::kBehindOptions,
          .operands = operands ? operands->integer(1) : 0,
          .remote = is_on("remote"),
          .as_text = is_on("as_text"),
          .from_input = is_on("from_input")};
}

std::vector<CarrierRules> read_carriers() {
  const YamlJsonDocument document =
      YamlJsonDocument::parse(embedded_carriers().front().text, "carriers.yaml");
  const DocumentNode rows = document.root().get("carriers");
  std::vector<CarrierRules> carriers;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    carriers.push_back(read_carrier(rows.at(i), document.root().get("flags")));
  }
  return carriers;
}

const CarrierRules* rules_for(std::string_view name, std::string_view subcommand) {
  static const std::vector<CarrierRules> kCarriers = read_carriers();
  const auto found = std::ranges::find_if(kCarriers, [&](const CarrierRules& rules) {
    return word_list_contains(rules.names, name) &&
           (rules.subcommands.empty() || word_list_contains(rules.subcommands, subcommand));
  });
  return found == kCarriers.end() ? nullptr : &*found;
}

void add_assignment(const std::string& text, std::map<std::string, std::string>& environment) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos && equals > 0) {
    environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
}

void add_assignments(std::string_view list, std::map<std::string, std::string>& environment) {
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    add_assignment(std::string(list.substr(at, end - at)), environment);
    at = end + 1;
  }
}

/// Returns the variables that options of srun, mpirun, docker and singularity set:
/// `--export=ALL,A=1`, `-x A=1`, `-genv A 1`, `-e A=1`, `--env A=1,B=2`.
std::map<std::string, std::string> environment_of(std::string_view name,
                                                  const std::vector<GivenCommandOption>& options) {
  std::map<std::string, std::string> environment;
  const bool containers = word_list_contains("docker nvidia-docker podman nerdctl jsrun", name);
  const bool images = word_list_contains("singularity apptainer", name);
  for (const GivenCommandOption& option : options) {
    const std::string value = option.value.value_or("");
    if (option.name == "--export" || (images && option.name == "--env")) {
      add_assignments(value, environment);
    } else if (option.name == "-x" ||
               (containers && word_list_contains("-e --env -E", option.name))) {
      add_assignment(value, environment);
    } else if (word_list_contains("-genv -env --genv --env", option.name) &&
               !option.second.empty()) {
      environment[value] = option.second;
    }
  }
  return environment;
}

/// Returns the index of the first word after the carrier that is a shell, a program with a
/// stand-in, or a path that begins with "./".
std::size_t first_program(const Words& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view name = launch_scripts::last_path_part(words[i]);
    if (is_shell_program_name(name) || find_stand_in_kind(name)) return i;
    if (words[i].starts_with("./") && words[i - 1] != "-o") return i;
  }
  return words.size();
}

std::optional<WrappedCommand> carried_by_srun(const Words& words) {
  CommandOptionRules rules = slurm_option_rules();
  SplitCommandOptions split = split_command_options(words, 1, rules);
  if (last_option_value(split.options, "--multi-prog")) return std::nullopt;
  WrappedCommand carried{.program = split.rest, .options = std::move(split.options)};
  carried.environment = environment_of("srun", carried.options);
  return carried;
}

/// Returns 1 if the words begin with `docker compose`, so that they are read as `docker-compose
/// exec SERVICE COMMAND`; else 0.
std::size_t compose_words(const Words& words) {
  const bool compose = words.size() > 2 && words[1] == "compose" && words[0].ends_with("docker");
  return compose ? 1 : 0;
}

}  // namespace

std::optional<WrappedCommand> find_wrapped_command(const Words& words) {
  std::string name(launch_scripts::last_path_part(words.front()));
  if (name == "srun") return carried_by_srun(words);
  const std::size_t skipped = compose_words(words);
  if (skipped > 0) name = "docker-compose";
  const std::string subcommand = words.size() > skipped + 1 ? words[skipped + 1] : "";
  const CarrierRules* rules = rules_for(name, subcommand);
  if (rules == nullptr) return std::nullopt;
  WrappedCommand carried{.program = words.size(),
                         .remote = rules->remote,
                         .as_text = rules->as_text,
                         .from_input = rules->from_input};
  if (rules->begins == Begins::kBehindDashes) {
    const auto dashes = std::ranges::find(words, "--");
    carried.program = dashes == words.end() ? first_program(words)
                                            : static_cast<std::size_t>(dashes - words.begin()) + 1;
    return carried;
  }
  if (rules->begins == Begins::kAtProgram) {
    carried.program = first_program(words);
    return carried;
  }
  const std::size_t start = skipped + (rules->subcommands.empty() ? 1 : 2);
  SplitCommandOptions split = split_command_options(words, start, rules->options());
  carried.program = std::min(split.rest + static_cast<std::size_t>(rules->operands), words.size());
  carried.options = std::move(split.options);
  carried.environment = environment_of(name, carried.options);
  // Options of ssh can also follow the host: `ssh HOST -p 22 COMMAND`.
  if (name == "ssh" && carried.program < words.size() && words[carried.program].starts_with('-')) {
    carried.program = split_command_options(words, carried.program, rules->options()).rest;
  }
  return carried;
}

}  // namespace stepwright::capture
