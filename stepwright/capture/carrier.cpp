#include "stepwright/capture/carrier.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "stepwright/capture/batch_names.h"
#include "stepwright/capture/tools.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::capture {
namespace {

/// Where the command of a carrier begins.
enum class Begins {
  kBehindOptions,  ///< Behind the options and `operands` more words.
  kBehindDashes,   ///< Behind the word `--`.
  kAtProgram,      ///< At the first word that is a program with a stand-in or a shell.
};

/// How a carrier reads its words.
struct CarrierRules {
  std::string_view names;        ///< Names of its programs.
  std::string_view subcommands;  ///< That carry a command; empty: the program has none.
  OptionRules options;
  Begins begins = Begins::kBehindOptions;
  int operands = 0;  ///< Words between the options and the command: the image, the host.
  bool remote = false, as_text = false, from_input = false;
};

/// open-mpi/ompi docs/man-openmpi/man1/mpirun.1.rst; pmodels/mpich src/pm/hydra/mpiexec/utils.c.
constexpr std::string_view kMpiFlags =
    "-allow-run-as-root --allow-run-as-root -oversubscribe --oversubscribe -nooversubscribe "
    "--nooversubscribe -tag-output --tag-output -report-bindings --report-bindings -bynode "
    "--bynode "
    "-byslot --byslot -bycore --bycore -bysocket --bysocket -bind-to-core --bind-to-core "
    "-bind-to-socket --bind-to-socket -bind-to-none --bind-to-none -nolocal --nolocal -pernode "
    "--pernode -display-map --display-map -display-allocation --display-allocation -verbose "
    "--verbose -v -q --quiet -use-hwthread-cpus --use-hwthread-cpus -timestamp-output "
    "--timestamp-output -merge-stderr-to-stdout -do-not-launch -do-not-resolve -tv --tv -debug "
    "--debug -novm --novm -enable-recovery -disable-recovery -report-child-jobs-separately "
    "-genvall -genvnone -envall -envnone -l -prepend-rank -prepend_rank -print-all-exitcodes "
    "-print-rank-map -info -aps -check_mpi -usize-infinite -disable-auto-cleanup -V --version -h "
    "--help -t -tune-off -leave-session-attached --leave-session-attached";

constexpr std::string_view kDockerFlags =
    "--detach --disable-content-trust --init --interactive --no-healthcheck --oom-kill-disable "
    "--privileged --publish-all --quiet --read-only --rm --sig-proxy --tty --no-deps --no-TTY "
    "--service-ports --use-aliases --build --no-hostname --no-hosts --rmi --replace --systemd-off "
    "-d -i -t -P -q -T";

constexpr std::string_view kSingularityFlags =
    "--nv --rocm --cleanenv --contain --containall --writable --writable-tmpfs --no-home "
    "--fakeroot "
    "--ipc --pid --userns --uts --net --vm --no-privs --keep-privs --no-init --no-umask --no-eval "
    "--nvccli --compat --allow-setuid --disable-cache --no-https --nohttps --passphrase "
    "--no-mount-cwd "
    "-e -c -C -w -f -i -p -u -n";

constexpr std::string_view kUvFlags =
    "--all-extras --all-groups --all-packages --no-dev --dev --only-dev --no-editable --exact "
    "--isolated --active --no-sync --locked --frozen --script --gui-script --no-project --no-cache "
    "--offline --no-config --no-index --upgrade --reinstall --refresh --no-build --no-binary "
    "--no-build-isolation --no-sources --quiet --verbose --native-tls --no-progress "
    "--no-default-groups --no-python-downloads --managed-python --no-managed-python --preview "
    "--no-env-file --no-capture-output --live-stream --debug-wrapper-scripts --as-is --clean-env "
    "--no-install --no-lockfile-update --skip-deps --attach -s -q -v -U -i --no-interaction";

constexpr CarrierRules kCarriers[] = {
    {"mpirun mpiexec mpiexec.hydra orterun prterun",
     "",
     {kMpiFlags,
      "-mca --mca -gmca --gmca -pmca --prtemca --prtemca -pmixmca --pmixmca -omca --omca "
      "-genv -env --genv --env",
      true}},
    {"jsrun", "", {"--immediate --help --version --usage", "", false}},
    {"aprun", "", {"-b -B -h -q -T -u -v", "", false}},
    {"docker nvidia-docker podman nerdctl", "run", {kDockerFlags}, Begins::kBehindOptions, 1, true},
    {"docker nvidia-docker podman nerdctl",
     "exec",
     {kDockerFlags},
     Begins::kBehindOptions,
     1,
     true},
    {"docker-compose", "run exec", {kDockerFlags}, Begins::kBehindOptions, 1, true},
    {"singularity apptainer", "exec run", {kSingularityFlags}, Begins::kBehindOptions, 1, true},
    {"enroot", "start", {"--rw --root -w -r"}, Begins::kBehindOptions, 1, true},
    {"ssh",
     "",
     {"-4 -6 -A -a -C -f -G -g -K -k -M -N -n -q -s -T -t -V -v -X -x -Y -y"},
     Begins::kBehindOptions,
     1,
     true,
     true,
     true},
    {"pdsh", "", {"-S -b -N -L -V -h -q -d -s -r -a"}, Begins::kBehindOptions, 0, true, true},
    {"pssh parallel-ssh",
     "",
     {"-i -A -v -P -I --inline --verbose --askpass --print --send-input"},
     Begins::kBehindOptions,
     0,
     true,
     true},
    {"clush",
     "",
     {"-a -b -B -q -v -d -L -S -N -A -r -p -P -n --all --quiet --verbose --nostdin"},
     Begins::kBehindOptions,
     0,
     true,
     true},
    {"kubectl", "exec run debug", {}, Begins::kBehindDashes, 0, true},
    {"ray", "job exec", {}, Begins::kBehindDashes},
    {"sudo", "", {"-A -b -E -e -H -K -k -l -n -P -S -s -V -v -i"}},
    {"numactl",
     "",
     {"--localalloc --show --hardware --all --balancing --strict --touch --offset --huge -l -s -H "
      "-a "
      "-b"}},
    {"taskset", "", {"-a -p -c --all-tasks --cpu-list --pid"}, Begins::kBehindOptions, 1},
    {"nsys ncu rocprof rocprofv3 compute-sanitizer py-spy", "", {}, Begins::kAtProgram},
    {"uv poetry pipenv pixi pdm rye hatch conda mamba micromamba", "run", {kUvFlags}},
};

const CarrierRules* rules_for(std::string_view name, std::string_view subcommand) {
  const auto* const found = std::ranges::find_if(kCarriers, [&](const CarrierRules& rules) {
    return holds_word(rules.names, name) &&
           (rules.subcommands.empty() || holds_word(rules.subcommands, subcommand));
  });
  return found == std::end(kCarriers) ? nullptr : found;
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

/// Variables that the options of srun, mpirun, docker and singularity set: `--export=ALL,A=1`, `-x
/// A=1`, `-genv A 1`, `-e A=1`, `--env A=1,B=2`.
std::map<std::string, std::string> environment_of(std::string_view name,
                                                  const std::vector<Option>& options) {
  std::map<std::string, std::string> environment;
  const bool containers = holds_word("docker nvidia-docker podman nerdctl jsrun", name);
  const bool images = holds_word("singularity apptainer", name);
  for (const Option& option : options) {
    const std::string value = option.value.value_or("");
    if (option.name == "--export" || (images && option.name == "--env")) {
      add_assignments(value, environment);
    } else if (option.name == "-x" || (containers && holds_word("-e --env -E", option.name))) {
      add_assignment(value, environment);
    } else if (holds_word("-genv -env --genv --env", option.name) && !option.second.empty()) {
      environment[value] = option.second;
    }
  }
  return environment;
}

/// The first word behind the program that has a stand-in, is a shell, or is a program by its path.
std::size_t first_program(const Words& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view name = launch_scripts::last_part(words[i]);
    if (is_shell(name) || find_tool(name)) return i;
    if (words[i].starts_with("./") && words[i - 1] != "-o") return i;
  }
  return words.size();
}

std::optional<Carried> carried_by_srun(const Words& words) {
  OptionRules rules = slurm_rules();
  SplitCommand split = split_options(words, 1, rules);
  if (option_value(split.options, "--multi-prog")) return std::nullopt;
  Carried carried{.program = split.rest, .options = std::move(split.options)};
  carried.environment = environment_of("srun", carried.options);
  return carried;
}

/// `docker compose exec SERVICE COMMAND` as `docker-compose exec SERVICE COMMAND`.
std::size_t compose_words(const Words& words) {
  const bool compose = words.size() > 2 && words[1] == "compose" && words[0].ends_with("docker");
  return compose ? 1 : 0;
}

}  // namespace

std::optional<Carried> carried_command(const Words& words) {
  std::string name(launch_scripts::last_part(words.front()));
  if (name == "srun") return carried_by_srun(words);
  const std::size_t skipped = compose_words(words);
  if (skipped > 0) name = "docker-compose";
  const std::string subcommand = words.size() > skipped + 1 ? words[skipped + 1] : "";
  const CarrierRules* rules = rules_for(name, subcommand);
  if (rules == nullptr) return std::nullopt;
  Carried carried{.program = words.size(),
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
  SplitCommand split = split_options(words, start, rules->options);
  carried.program = std::min(split.rest + static_cast<std::size_t>(rules->operands), words.size());
  carried.options = std::move(split.options);
  carried.environment = environment_of(name, carried.options);
  // `ssh HOST -p 22 COMMAND`: options may stand behind the host, too.
  if (name == "ssh" && carried.program < words.size() && words[carried.program].starts_with('-')) {
    carried.program = split_options(words, carried.program, rules->options).rest;
  }
  return carried;
}

}  // namespace stepwright::capture
