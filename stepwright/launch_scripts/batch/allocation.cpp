#include "stepwright/launch_scripts/batch/allocation.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace stepwright::launch_scripts {
namespace {

/// Options of Slurm without a value, and options whose value must follow a `=` (SchedMD/slurm
/// src/sbatch/opt.c and src/srun/opt.c).
constexpr std::string_view kSlurmFlags =
    "--bcast --compress --contiguous --debugger-test --disable-status --exact --exclusive "
    "--get-user-env --help --hold --ignore-pbs --immediate --interactive --kill-on-bad-exit "
    "--label "
    "--multi-prog --nice --no-allocate --no-bell --no-kill --no-requeue --no-shell --overcommit "
    "--overlap --oversubscribe --parsable --preserve-env --propagate --pty --quiet --reboot "
    "--requeue "
    "--resv-ports --send-libs --share --spread-job --stepmgr --test-only --unbuffered --usage "
    "--use-min-nodes --verbose --version --whole --x11 --container-mount-home "
    "--no-container-mount-home --container-remap-root --no-container-remap-root "
    "--container-writable --container-readonly --no-container-entrypoint --container-entrypoint "
    "-E -h -H -I -k -K -l -O -Q -s -u -v -V -X -Z";

/// Larger than any machine's number of nodes, devices or tasks; a larger number is not a count.
constexpr std::int64_t kLargestCount = 100'000;

std::optional<std::int64_t> number_at_start(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  if (value < 1 || value > kLargestCount) return std::nullopt;
  return value;
}

/// Returns the GPUs in "gpu:a100:4", "a100:4", "4" or "gpu"; nullopt if the text names no GPU.
std::optional<std::int64_t> gpus_in(std::string_view text, bool of_gres) {
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::string_view one = text.substr(at, end - at);
    at = end + 1;
    if (of_gres && !one.starts_with("gpu") && !one.starts_with("gres/gpu")) continue;
    one = one.substr(0, one.find('('));
    const std::size_t colon = one.find_last_of(":=");
    const std::string_view last = colon == std::string_view::npos ? one : one.substr(colon + 1);
    const bool counted = !last.empty() && std::isdigit(static_cast<unsigned char>(last[0])) != 0;
    return counted ? number_at_start(last) : 1;
  }
  return std::nullopt;
}

std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t start = text.find(before);
  if (start == std::string_view::npos) return "";
  text.remove_prefix(start + before.size());
  return text.substr(0, text.find_first_of(after));
}

/// Reads `-l select=8:ngpus=4:mpiprocs=4`, `-l nodes=2:ppn=8:gpus=4` and ABCI's `-l rt_F=8`.
/// Devices without a number of nodes (`-l ngpus=16`) are for the whole job.
void apply_resources(std::string_view text, BatchJobAllocation& allocation) {
  bool nodes = false;
  for (const std::string_view key : {"select=", "nodes=", "rt_F=", "rt_HF="}) {
    const std::string_view value = between(text, key, ":,+ ");
    if (const auto count = number_at_start(value)) allocation.nodes = count;
    nodes = nodes || !value.empty();
  }
  for (const std::string_view key : {"ngpus=", "gpus=", "gpu="}) {
    if (const auto count = number_at_start(between(text, key, ":,+ "))) {
      (nodes ? allocation.devices_per_node : allocation.devices) = count;
      break;
    }
  }
  for (const std::string_view key : {"mpiprocs=", "ppn="}) {
    if (const auto count = number_at_start(between(text, key, ":,+ "))) {
      allocation.tasks_per_node = count;
      break;
    }
  }
}

void apply_pbs(std::span<const GivenCommandOption> options, BatchJobAllocation& allocation) {
  for (const GivenCommandOption& option : options) {
    const std::string value = option.value.value_or("");
    if (option.name == "-l") apply_resources(value, allocation);
    if (option.name == "-N") allocation.name = value;
    if (option.name == "-J" || option.name == "-t") allocation.array = value;
    if (option.name == "-pe") allocation.tasks = number_at_start(option.second);
  }
}

void apply_lsf(std::span<const GivenCommandOption> options, BatchJobAllocation& allocation) {
  std::optional<std::int64_t> per_node;
  for (const GivenCommandOption& option : options) {
    const std::string value = option.value.value_or("");
    if (option.name == "-nnodes") allocation.nodes = number_at_start(value);
    if (option.name == "-n") allocation.tasks = number_at_start(value);
    if (option.name == "-J") allocation.name = value.substr(0, value.find('['));
    if (option.name == "-R") per_node = number_at_start(between(value, "ptile=", "]:, "));
    if (option.name == "-gpu") {
      allocation.devices_per_node = number_at_start(between(value, "num=", ":/ "));
    }
  }
  if (per_node) allocation.tasks_per_node = per_node;
  if (!allocation.nodes && allocation.tasks && allocation.tasks_per_node) {
    allocation.nodes =
        (*allocation.tasks + *allocation.tasks_per_node - 1) / *allocation.tasks_per_node;
  }
}

CommandOptionRules rules_of(std::string_view scheduler) {
  if (scheduler == "slurm") {
    // `-W` and `--wait` are flags of sbatch but take a value in srun.
    return {kSlurmFlags, "", false, "-W --wait"};
  }
  if (scheduler == "lsf") return {"-B -H -I -Ip -Is -K -N -r -rn -x -h -V", "", true};
  if (scheduler == "sge") return {"-cwd -V -verify -notify -clear -terse -hold -h", "-pe", true};
  return {"-V -z -I -X -h -f -x", "", false};
}

struct Directive {
  std::string_view prefix, scheduler;
};

constexpr std::array<Directive, 4> kDirectives = {
    {{"#SBATCH", "slurm"}, {"#PBS", "pbs"}, {"#BSUB", "lsf"}, {"#$", "sge"}}};

}  // namespace

CommandOptionRules slurm_option_rules() { return {kSlurmFlags, "", false}; }

void apply_slurm_options(std::span<const GivenCommandOption> options,
                         BatchJobAllocation& allocation) {
  const auto number = [&](std::string_view names, std::optional<std::int64_t>& to) {
    if (const auto value = last_option_value(options, names)) {
      if (const auto count = number_at_start(*value)) to = count;
    }
  };
  number("-N --nodes", allocation.nodes);
  number("-n --ntasks", allocation.tasks);
  number("--ntasks-per-node --tasks-per-node", allocation.tasks_per_node);
  number("-c --cpus-per-task", allocation.cpus_per_task);
  if (const auto gres = last_option_value(options, "--gres")) {
    if (const auto count = gpus_in(*gres, true)) allocation.devices_per_node = count;
  }
  if (const auto gpus = last_option_value(options, "--gpus-per-node")) {
    allocation.devices_per_node = gpus_in(*gpus, false);
  } else if (const auto total = last_option_value(options, "-G --gpus")) {
    const std::int64_t count = gpus_in(*total, false).value_or(1);
    const std::int64_t nodes = allocation.nodes.value_or(1);
    if (count % nodes == 0) allocation.devices_per_node = count / nodes;
  } else if (const auto each = last_option_value(options, "--gpus-per-task")) {
    const bool one_each = !allocation.tasks || allocation.tasks == allocation.nodes;
    const auto tasks = allocation.tasks_per_node ? allocation.tasks_per_node
                       : one_each                ? std::optional<std::int64_t>(1)
                                                 : std::nullopt;
    allocation.devices_per_task = gpus_in(*each, false).value_or(1);
    if (tasks) allocation.devices_per_node = *allocation.devices_per_task * *tasks;
  }
  if (const auto name = last_option_value(options, "-J --job-name")) allocation.name = *name;
  if (const auto array = last_option_value(options, "-a --array")) allocation.array = *array;
}

std::size_t apply_batch_scheduler_options(const BatchWords& words, BatchJobAllocation& allocation,
                                          SplitCommandOptions* split) {
  SplitCommandOptions found = split_command_options(words, 0, rules_of(allocation.scheduler));
  if (allocation.scheduler == "slurm") {
    apply_slurm_options(found.options, allocation);
  } else if (allocation.scheduler == "lsf") {
    apply_lsf(found.options, allocation);
  } else {
    apply_pbs(found.options, allocation);
  }
  const std::size_t rest = found.rest;
  for (const GivenCommandOption& option : found.options) {
    const std::string_view between_words = option.name.starts_with("--") ? "=" : " ";
    std::string text = option.name;
    if (option.value && !option.value->empty()) text += std::string(between_words) + *option.value;
    if (!option.second.empty()) text += " " + option.second;
    allocation.options.push_back(std::move(text));
  }
  if (split != nullptr) *split = std::move(found);
  return rest;
}

std::optional<BatchJobAllocation> allocation_from_directives(std::string_view text) {
  std::optional<BatchJobAllocation> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t start = line.find_first_not_of(" \t");
    if (start == std::string_view::npos) continue;
    if (line[start] != '#') break;
    for (const auto& [prefix, scheduler] : kDirectives) {
      const bool separated = line.size() > prefix.size() &&
                             (line[prefix.size()] == ' ' || line[prefix.size()] == '\t');
      if (!line.starts_with(prefix) || !separated) continue;
      if (found && found->scheduler != scheduler) continue;
      if (!found) found = BatchJobAllocation{.scheduler = std::string(scheduler)};
      apply_batch_scheduler_options(split_shell_words(line.substr(prefix.size())), *found);
    }
  }
  return found;
}

std::string_view scheduler_of_submission_program(std::string_view program,
                                                 const BatchWords& options) {
  if (program == "sbatch" || program == "salloc") return "slurm";
  if (program == "bsub") return "lsf";
  if (program != "qsub") return "";
  const bool grid = std::ranges::any_of(
      options, [](const std::string& word) { return word == "-cwd" || word == "-pe"; });
  return grid ? "sge" : "pbs";
}

BatchWords split_shell_words(std::string_view line) {
  BatchWords words;
  std::string word;
  bool inside = false;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      inside = true;
    } else if (c == '#' && !inside) {
      break;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (inside) words.push_back(std::exchange(word, ""));
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (inside) words.push_back(word);
  return words;
}

}  // namespace stepwright::launch_scripts
